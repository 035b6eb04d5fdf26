//! What the host makes of tensors that are saved while it asks to be told: it packs them its way and
//! unpacks them when backward wants them. One pair of functions counts on a thread, the innermost.

use std::any::Any;
use std::cell::RefCell;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use smallvec::SmallVec;

use super::mode::{GradModeGuard, SpecialGuard};
use super::node::NodeRef;
use super::rule::Rule;
use super::saved::{Packed, SavedTensor, Source};

use crate::error::{Error, Result};
use crate::tensor::Tensor;

/// A function of the host that packs what is saved. It runs on the thread that saves.
pub trait Packer: Send + Sync {
    /// What stands for the tensor from now on.
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn Packed>>;

    /// What the host knows it by, if it is the host's.
    fn host(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }
}

thread_local! {
    static PACKERS: RefCell<Vec<(Arc<dyn Packer>, SpecialGuard)>> = const { RefCell::new(Vec::new()) };
    /// Why nothing may be packed on this thread.
    static REFUSAL: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A function of the host that is told of every write in place before it happens.
pub trait Watcher: Send + Sync {
    /// The tensor is about to be written to.
    fn before_write(&self, tensor: &Tensor) -> Result<()>;
}

thread_local! {
    static WATCHER: RefCell<Option<(Arc<dyn Watcher>, SpecialGuard)>> = const { RefCell::new(None) };
}

/// Has `watcher` told of writes on this thread from now on, or nobody.
pub fn watch(watcher: Option<Arc<dyn Watcher>>) {
    let before = WATCHER.replace(watcher.map(|watcher| (watcher, SpecialGuard::new())));
    drop(before);
}

/// Tells of a write.
#[cold]
pub(crate) fn tell(tensor: &Tensor) -> Result<()> {
    let watcher = WATCHER.with_borrow(|watcher| watcher.as_ref().map(|(watcher, _)| watcher.clone()));
    watcher.map_or(Ok(()), |watcher| watcher.before_write(tensor))
}

/// Whether anything was ever packed: rules may then lead to functions of the host.
static EVER: AtomicBool = AtomicBool::new(false);

/// Packs what is saved on this thread with `packer`, until `pop`.
pub fn push(packer: Arc<dyn Packer>) -> Result<()> {
    if let Some(message) = refusal() {
        return Err(Error::PackingRefused { message }.into());
    }
    PACKERS.with_borrow_mut(|packers| packers.push((packer, SpecialGuard::new())));
    Ok(())
}

/// Ends what the last `push` began.
pub fn pop() {
    let ended = PACKERS.with_borrow_mut(Vec::pop);
    drop(ended);
}

/// Why nothing may be packed on this thread, if so.
pub fn refusal() -> Option<String> {
    REFUSAL.with_borrow(Clone::clone)
}

/// Refuses that anything is packed on this thread from now on, or allows it again. With `strict` what packs
/// already must not be there.
pub fn refuse(message: Option<String>, strict: bool) -> Result<()> {
    if strict
        && let Some(message) = &message
        && packer().is_some()
    {
        return Err(Error::PackingRefused { message: message.clone() }.into());
    }
    REFUSAL.set(message);
    Ok(())
}

/// What a further thread is to go by, which goes on where this one waits.
pub(crate) struct Inherited {
    packers: Vec<Arc<dyn Packer>>,
    refusal: Option<String>,
}

impl Inherited {
    /// What this thread goes by.
    pub(crate) fn here() -> Inherited {
        let packers =
            PACKERS.with_borrow(|packers| packers.iter().map(|(packer, _)| packer.clone()).collect());
        Inherited { packers, refusal: refusal() }
    }

    /// Has this thread, which is new, go by it.
    pub(crate) fn settle(&self) {
        let packers = self.packers.iter().map(|packer| (packer.clone(), SpecialGuard::new())).collect();
        PACKERS.set(packers);
        REFUSAL.set(self.refusal.clone());
    }
}

/// Nothing is packed on this thread until this goes.
#[must_use = "it lasts as long as the guard"]
pub(crate) struct NoPackersGuard {
    before: Vec<(Arc<dyn Packer>, SpecialGuard)>,
}

/// What is saved from now on is for the engine alone.
pub(crate) fn suspend() -> NoPackersGuard {
    NoPackersGuard { before: PACKERS.take() }
}

impl Drop for NoPackersGuard {
    fn drop(&mut self) {
        PACKERS.set(std::mem::take(&mut self.before));
    }
}

/// What counts on this thread.
pub fn packer() -> Option<Arc<dyn Packer>> {
    PACKERS.with_borrow(|packers| packers.last().map(|(packer, _)| packer.clone()))
}

/// Whether anything was ever packed.
pub fn ever() -> bool {
    EVER.load(Ordering::Relaxed)
}

/// Something stands for saved tensors from now on.
pub(crate) fn expect_kept() {
    EVER.store(true, Ordering::Relaxed);
}

type PackSubclass = fn(&Tensor, bool) -> Result<Box<dyn Packed>>;

static PACK_SUBCLASS: OnceLock<PackSubclass> = OnceLock::new();

/// Says how a tensor of a dispatch subclass is kept, and an output of the node that keeps it.
pub(crate) fn register_subclass_packer(keep: PackSubclass) {
    let _ = PACK_SUBCLASS.set(keep);
}

/// What stands for a tensor, or an output of the node that keeps it, if it is of a dispatch subclass.
pub(super) fn pack_subclass(tensor: &Tensor, is_output: bool) -> Option<Result<Box<dyn Packed>>> {
    if tensor.is_subclassed() { PACK_SUBCLASS.get().map(|keep| keep(tensor, is_output)) } else { None }
}

/// Packs `tensor`, which must not be written to meanwhile.
pub fn pack(packer: &dyn Packer, tensor: &Tensor) -> Result<Box<dyn Packed>> {
    expect_kept();
    let _off = GradModeGuard::off();
    let version = tensor.version();
    let packed = packer.pack(tensor)?;
    if tensor.version() != version {
        return Err(Error::PackingWrote {}.into());
    }
    Ok(packed)
}

/// What was packed of the inputs of an operation before it ran.
#[derive(Default)]
pub(crate) struct PackedInputs(Vec<PackedInput>);

/// Under which name a rule keeps an input, which one that is, and what stands for it.
type PackedInput = (&'static str, Source, Box<dyn Packed>);

impl PackedInputs {
    /// What stands for a tensor that a rule keeps, if that is packed already.
    fn take(&mut self, name: &str, source: Source) -> Option<Box<dyn Packed>> {
        let found = self.0.iter().position(|(other, of, _)| *other == name && *of == source)?;
        Some(self.0.swap_remove(found).2)
    }
}

/// Packs what a rule would keep of the inputs of an operation that has not run yet.
pub(crate) fn pack_inputs(rule: &dyn Rule, inputs: &[Option<&Tensor>]) -> Result<PackedInputs> {
    let mut ahead = PackedInputs::default();
    let Some(packer) = packer() else { return Ok(ahead) };
    let all = rule.saved();
    for place in in_order(&all) {
        let (name, saved) = all[place];
        if let Source::Input(index) = saved.source()
            && !saved.is_hidden()
            && let Some(Some(input)) = inputs.get(usize::from(index))
        {
            ahead.0.push((name, saved.source(), pack(&*packer, input)?));
        }
    }
    Ok(ahead)
}

/// Packs what the rule of a new node has saved, if somebody on this thread asked for it and it was not
/// packed `ahead`, and what it shows without having saved it. `find` names the tensors by their place in the
/// operation; others are shown as what they were saved as.
#[cold]
pub(crate) fn pack_saved(
    node: &NodeRef,
    ahead: &mut PackedInputs,
    calculated: &[(&'static str, Tensor)],
    find: &dyn Fn(Source) -> Option<Tensor>,
) -> Result<()> {
    let Some(packer) = packer() else { return Ok(()) };
    let mut packed = Vec::new();
    {
        let rule = node.rule();
        let all = rule.saved();
        for place in in_order(&all) {
            let (name, saved) = all[place];
            if saved.is_hidden() {
                continue;
            }
            let kept = match ahead.take(name, saved.source()) {
                Some(kept) => kept,
                None => {
                    let tensor = find(saved.source()).map_or_else(|| saved.load(node, true), Ok)?;
                    pack(&*packer, &tensor)?
                }
            };
            packed.push((place, kept));
        }
    }
    node.change_saved(|mut saved| {
        for (place, packed) in packed {
            *saved[place] = saved[place].packed(packed);
        }
    });
    let pack =
        |(name, tensor): &(&'static str, Tensor)| pack_shown(node, name, tensor, Source::Output(0), &*packer);
    calculated.iter().try_for_each(pack)
}

/// In which order torch packs and unpacks what a rule has saved: what it was given by name, then what it
/// gave.
fn in_order(saved: &[(&'static str, &SavedTensor)]) -> SmallVec<[usize; 4]> {
    let mut places: SmallVec<[usize; 4]> = (0..saved.len()).collect();
    places.sort_by_key(|&place| match saved[place] {
        (_, saved) if matches!(saved.source(), Source::Output(_)) => (true, ""),
        (name, _) => (false, name),
    });
    places
}

/// What was unpacked of the node whose rule is running, by the address of what stood for it.
type Unpacked = Vec<(usize, Tensor)>;

thread_local!(static UNPACKED: RefCell<Unpacked> = const { RefCell::new(Vec::new()) });

/// Everything that a rule has saved is unpacked, once however often the rule asks, until this goes.
#[must_use = "it lasts as long as the guard"]
pub(crate) struct UnpackedOnce {
    before: Unpacked,
}

impl UnpackedOnce {
    /// Unpacks what `node` has saved. The host's own rules unpack by themselves.
    #[cold]
    pub(crate) fn of(node: &NodeRef) -> Result<UnpackedOnce> {
        let before = UNPACKED.take();
        let once = UnpackedOnce { before };
        let mut unpacked = Vec::new();
        let rule = node.rule();
        let saved = if rule.host().is_none() { rule.saved() } else { SmallVec::new() };
        for place in in_order(&saved) {
            if let Some(kept) = saved[place].1.kept() {
                unpacked.push((address(kept), kept.unpack()?));
            }
        }
        // The rule does not ask for it, but torch's does.
        node.packed()
            .iter()
            .filter_map(|(_, saved)| saved.kept())
            .try_for_each(|it| it.unpack().map(drop))?;
        UNPACKED.set(unpacked);
        Ok(once)
    }
}

impl Drop for UnpackedOnce {
    fn drop(&mut self) {
        let ended = UNPACKED.replace(std::mem::take(&mut self.before));
        drop(ended);
    }
}

fn address(kept: &dyn Packed) -> usize {
    std::ptr::from_ref(kept).cast::<()>().addr()
}

/// The tensor that was packed.
pub(super) fn unpack(kept: &dyn Packed) -> Result<Tensor> {
    let known = UNPACKED.with_borrow(|unpacked| {
        unpacked.iter().find(|(place, _)| *place == address(kept)).map(|(_, tensor)| tensor.clone())
    });
    known.map_or_else(|| kept.unpack(), Ok)
}

/// Packs one of the tensors that a rule has saved, after the fact. It is shown without history.
pub fn pack_one(node: &NodeRef, index: usize, packer: &dyn Packer) -> Result<()> {
    let tensor = match node.rule().saved().get(index) {
        None => return Err(Error::PackingFreed {}.into()),
        Some((_, saved)) if saved.is_freed() => return Err(Error::PackingFreed {}.into()),
        Some((_, saved)) if saved.is_packed() => return Err(Error::PackedAlready {}.into()),
        Some((_, saved)) => saved.present(node)?,
    };
    let packed = pack(packer, &tensor)?;
    node.change_saved(|mut saved| {
        if let Some(saved) = saved.get_mut(index) {
            **saved = saved.packed(packed);
        }
    });
    Ok(())
}

/// Packs a tensor that a rule shows under `name` without keeping it.
pub fn pack_shown(
    node: &NodeRef,
    name: &'static str,
    tensor: &Tensor,
    source: Source,
    packer: &dyn Packer,
) -> Result<()> {
    if node.packed().iter().any(|(packed, _)| *packed == name) {
        return Err(Error::PackedAlready {}.into());
    }
    let saved = SavedTensor::new(tensor.memory(), source).packed(pack(packer, tensor)?);
    node.extras_or_new().packed.lock().push((name, Arc::new(saved)));
    Ok(())
}

/// Whether running the rule of a node may call a function of the host that unpacks.
pub(crate) fn leads_to_host(node: &NodeRef) -> bool {
    !node.packed().is_empty() || node.rule().saved().iter().any(|(_, saved)| saved.is_packed())
}

//! Saved-tensor hooks (`torch.autograd.graph.saved_tensors_hooks`): the host packs each tensor that is saved, and
//! unpacks it when backward needs it. On each thread only the innermost pair of hooks is called.

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

/// The host's pack hook. It runs on the thread that saves the tensor.
pub trait Packer: Send + Sync {
    /// Packs a tensor; the result is kept in its place.
    fn pack(&self, tensor: &Tensor) -> Result<Box<dyn Packed>>;

    /// The host's own object behind it, if there is one.
    fn host(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }
}

thread_local! {
    static PACKERS: RefCell<Vec<(Arc<dyn Packer>, SpecialGuard)>> = const { RefCell::new(Vec::new()) };
    /// The message of `disable_saved_tensors_hooks`, while hooks are disabled on this thread.
    static REFUSAL: RefCell<Option<String>> = const { RefCell::new(None) };
}

/// A function of the host that is called before every in-place write.
pub trait Watcher: Send + Sync {
    /// The tensor is about to be written to.
    fn before_write(&self, tensor: &Tensor) -> Result<()>;
}

thread_local! {
    static WATCHER: RefCell<Option<(Arc<dyn Watcher>, SpecialGuard)>> = const { RefCell::new(None) };
}

/// Sets the function that is called before writes on this thread, or removes it.
pub fn watch(watcher: Option<Arc<dyn Watcher>>) {
    let before = WATCHER.replace(watcher.map(|watcher| (watcher, SpecialGuard::new())));
    drop(before);
}

/// Calls that function.
#[cold]
pub(crate) fn tell(tensor: &Tensor) -> Result<()> {
    let watcher = WATCHER.with_borrow(|watcher| watcher.as_ref().map(|(watcher, _)| watcher.clone()));
    watcher.map_or(Ok(()), |watcher| watcher.before_write(tensor))
}

/// Whether anything was ever packed: running a rule may then call the host.
static EVER: AtomicBool = AtomicBool::new(false);

/// Makes `packer` the innermost hooks of this thread, until `pop`.
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

/// Why hooks are disabled on this thread, if they are.
pub fn refusal() -> Option<String> {
    REFUSAL.with_borrow(Clone::clone)
}

/// Disables hooks on this thread, or enables them again. With `strict` it is an error if there are any.
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

/// The hooks of a thread, for another thread that continues its work.
pub(crate) struct Inherited {
    packers: Vec<Arc<dyn Packer>>,
    refusal: Option<String>,
}

impl Inherited {
    /// Those of this thread.
    pub(crate) fn here() -> Inherited {
        let packers =
            PACKERS.with_borrow(|packers| packers.iter().map(|(packer, _)| packer.clone()).collect());
        Inherited { packers, refusal: refusal() }
    }

    /// Installs them on this thread, which is new.
    pub(crate) fn settle(&self) {
        let packers = self.packers.iter().map(|packer| (packer.clone(), SpecialGuard::new())).collect();
        PACKERS.set(packers);
        REFUSAL.set(self.refusal.clone());
    }
}

/// No hooks are called on this thread while this guard lives.
#[must_use = "it lasts as long as the guard"]
pub(crate) struct NoPackersGuard {
    before: Vec<(Arc<dyn Packer>, SpecialGuard)>,
}

/// Takes the hooks of this thread away.
pub(crate) fn suspend() -> NoPackersGuard {
    NoPackersGuard { before: PACKERS.take() }
}

impl Drop for NoPackersGuard {
    fn drop(&mut self) {
        PACKERS.set(std::mem::take(&mut self.before));
    }
}

/// The innermost hooks of this thread.
pub fn packer() -> Option<Arc<dyn Packer>> {
    PACKERS.with_borrow(|packers| packers.last().map(|(packer, _)| packer.clone()))
}

/// Whether anything was ever packed.
pub fn ever() -> bool {
    EVER.load(Ordering::Relaxed)
}

/// Notes that something was packed.
pub(crate) fn expect_kept() {
    EVER.store(true, Ordering::Relaxed);
}

type PackSubclass = fn(&Tensor, bool) -> Result<Box<dyn Packed>>;

static PACK_SUBCLASS: OnceLock<PackSubclass> = OnceLock::new();

/// Sets how the host keeps saved tensors of dispatch subclasses; the flag says that it is an output of the node.
pub(crate) fn register_subclass_packer(keep: PackSubclass) {
    let _ = PACK_SUBCLASS.set(keep);
}

/// Packs a tensor of a dispatch subclass; `None` for other tensors.
pub(super) fn pack_subclass(tensor: &Tensor, is_output: bool) -> Option<Result<Box<dyn Packed>>> {
    if tensor.is_subclassed() { PACK_SUBCLASS.get().map(|keep| keep(tensor, is_output)) } else { None }
}

/// Calls the pack hook. It is an error if that writes to the tensor.
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

/// The name under which a rule saves an input, which input that is, and what it was packed as.
type PackedInput = (&'static str, Source, Box<dyn Packed>);

impl PackedInputs {
    /// Takes what an input was packed as, if it was packed before.
    fn take(&mut self, name: &str, source: Source) -> Option<Box<dyn Packed>> {
        let found = self.0.iter().position(|(other, of, _)| *other == name && *of == source)?;
        Some(self.0.swap_remove(found).2)
    }
}

/// Packs the inputs that a rule will save, before the operation runs.
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

/// While this guard lives, each saved tensor of a rule is unpacked once, however often the rule loads it.
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
        // The rule here does not load it, but torch's does, and calls the hook.
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

/// Packs a tensor that a rule has already saved. The hook is given it without history.
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

//! A tensor kept for backward: its memory, and the version that the memory had.

mod plain;

use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use plain::{Facts, Mark, Plain};

use super::node::{Edge, NodeRef, any_detached};
use super::rule::Rule;
use super::tangents::Tangents;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::observe::writes;
use crate::graph::saved_tensor_hooks;
use crate::graph::transform_level;
use crate::shape::SharedLayout;
use crate::tensor::{Array, Batch, Tensor};

/// torch's name of the node of a write to a view, which belongs to the base.
pub(crate) const COPY_SLICES: &str = "torch::autograd::CopySlices";

/// Where the tensor stands in its operation. From this its history is found again; keeping the
/// history itself would make outputs hold the node that holds them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// The input of that number.
    Input(u8),
    /// The output of that number.
    Output(u8),
    /// Neither: numbers without history.
    Constant,
}

/// Whether anything was ever kept whose writes nobody counts, which is a mistake of the program, or could have been.
static UNCOUNTED_KEPT: AtomicBool = AtomicBool::new(false);

/// Says that there is memory which is written to without a count, or was.
pub(crate) fn expect_uncounted() {
    UNCOUNTED_KEPT.store(true, Ordering::Relaxed);
}

/// Whether backward may rely on what a rule keeps. Asked before the rule is recorded.
pub fn check_kept(rule: &dyn Rule) -> Result<()> {
    // A function that is being transformed sees tensors of its own, whatever these are around.
    let uncounted = UNCOUNTED_KEPT.load(Ordering::Relaxed) && transform_level::depth() == 0;
    if uncounted && rule.saved().iter().any(|(_, saved)| !saved.is_counted()) {
        return Err(Error::InferenceSaved {}.into());
    }
    Ok(())
}

/// 24 bytes of a node.
pub struct SavedTensor(Form);

const _: () = assert!(size_of::<SavedTensor>() == 24);

enum Form {
    Plain(Plain),
    Special(Box<Special>),
    /// Backward has freed it.
    Freed(Facts),
}

/// What few saved tensors are.
enum Special {
    /// A tensor with tangents of forward mode, or a batched one.
    Transformed { plain: Plain, tangents: Option<Arc<Tangents>>, batch: Option<Batch> },
    /// What a saved-tensor hook made of the tensor, and gives it back. Its tangents stay here: hooks see values alone.
    Packed { kept: Box<dyn Packed>, tangents: Option<Arc<Tangents>>, facts: Facts },
}

/// Memory of another form than rules expect, which the tensor has been given since, and the version that it
/// is to have.
struct Unfitting {
    memory: Array,
    version: u32,
}

impl Packed for Unfitting {
    fn unpack(&self) -> Result<Tensor> {
        Ok(Tensor::from_array(self.memory.clone()))
    }

    fn written(&self) -> Option<(&Array, u32)> {
        (self.memory.storage.version() != self.version).then_some((&self.memory, self.version))
    }
}

/// What is kept in the place of a saved tensor: the result of a saved-tensor hook, or a tensor of a subclass.
pub trait Packed: Send + Sync {
    /// The tensor. Its history, if it has any, is replaced by that of the saved one.
    fn unpack(&self) -> Result<Tensor>;

    /// The memory that was saved and the version that it had, if it was written to since.
    fn written(&self) -> Option<(&Array, u32)> {
        None
    }

    /// The host's part of it, for the search for reference cycles.
    fn host(&self) -> Option<&(dyn Any + Send + Sync)> {
        None
    }
}

impl SavedTensor {
    /// Keeps what `array` shows now.
    pub fn new(array: Array, source: Source) -> Self {
        let version = array.storage.version();
        if !array.storage.is_counted() {
            expect_uncounted();
        }
        let Array { storage, layout, dtype } = array;
        let facts = Facts { layout, version, dtype, source, mark: Mark::Original };
        SavedTensor(Form::Plain(Plain { storage, facts }))
    }

    /// Keeps a copy of what the input of that number was: the operation overwrites it.
    pub fn former(copy: Array, index: u8) -> Self {
        SavedTensor::new(copy, Source::Input(index)).marked(Mark::Former)
    }

    /// Says that torch does not keep it, so that nobody shows it.
    pub fn hidden(self) -> Self {
        self.marked(Mark::Hidden)
    }

    fn marked(mut self, mark: Mark) -> Self {
        if let Form::Plain(plain) = &mut self.0 {
            plain.facts.mark = mark;
        }
        self
    }

    fn facts(&self) -> &Facts {
        match &self.0 {
            Form::Plain(plain) => &plain.facts,
            Form::Freed(facts) => facts,
            Form::Special(special) => match &**special {
                Special::Transformed { plain, .. } => &plain.facts,
                Special::Packed { facts, .. } => facts,
            },
        }
    }

    /// Whether it is a copy of what an input was before it was overwritten.
    pub fn is_former(&self) -> bool {
        self.facts().mark == Mark::Former
    }

    /// Whether torch does not keep it.
    pub fn is_hidden(&self) -> bool {
        self.facts().mark == Mark::Hidden
    }

    /// Notes that what is kept is a copy of the first input before it was overwritten, if it lies there.
    pub(crate) fn mark_former(&mut self, copy: &Array) {
        if let Form::Plain(plain) = &mut self.0
            && plain.storage.is(&copy.storage)
        {
            plain.facts.mark = Mark::Former;
        }
    }

    /// Keeps tangents too: those of the tensor that was saved.
    pub fn with_tangents(self, tangents: Arc<Tangents>) -> Self {
        match self.0 {
            Form::Freed(_) => self,
            Form::Plain(plain) => SavedTensor::whole(plain, Some(tangents), None),
            Form::Special(special) => match *special {
                Special::Transformed { plain, batch, .. } => SavedTensor::whole(plain, Some(tangents), batch),
                Special::Packed { kept, facts, .. } => {
                    let tangents = Some(tangents);
                    SavedTensor(Form::Special(Box::new(Special::Packed { kept, tangents, facts })))
                }
            },
        }
    }

    /// Keeps what the tensor that was saved is around too.
    pub(crate) fn keep_batch(&mut self, batch: Batch) {
        match &mut self.0 {
            Form::Plain(plain) => {
                *self = SavedTensor::whole(plain.clone(), None, Some(batch));
            }
            Form::Special(special) => {
                if let Special::Transformed { batch: kept, .. } = &mut **special {
                    *kept = Some(batch);
                }
            }
            Form::Freed(_) => {}
        }
    }

    /// Keeps a tensor whose history does not matter.
    pub fn constant(tensor: &Tensor) -> Self {
        let mut saved = SavedTensor::new(tensor.memory(), Source::Constant);
        if let Some(Ok(whole)) = saved_tensor_hooks::pack_subclass(tensor, false) {
            saved_tensor_hooks::expect_kept();
            return saved.packed(whole);
        }
        if let Some(batch) = tensor.batch() {
            saved.keep_batch(batch);
        }
        saved
    }

    /// Frees what is kept. The caller drops it when nothing is locked: the last handle to a tensor may go.
    pub(super) fn free(&mut self) -> SavedTensor {
        let freed = self.freed();
        std::mem::replace(self, freed)
    }

    /// What it becomes when it is freed.
    pub(super) fn freed(&self) -> SavedTensor {
        SavedTensor(Form::Freed(self.facts().clone()))
    }

    /// The array, whatever happened to it since, without history and without asking the host.
    fn plain(&self) -> Option<&Plain> {
        match &self.0 {
            Form::Plain(plain) => Some(plain),
            Form::Special(special) => match &**special {
                Special::Transformed { plain, .. } => Some(plain),
                Special::Packed { .. } => None,
            },
            Form::Freed(_) => None,
        }
    }

    fn whole(plain: Plain, tangents: Option<Arc<Tangents>>, batch: Option<Batch>) -> Self {
        SavedTensor(Form::Special(Box::new(Special::Transformed { plain, tangents, batch })))
    }

    /// Keeps `kept` instead of the memory.
    pub fn packed(&self, kept: Box<dyn Packed>) -> Self {
        let tangents = self.tangents().cloned();
        SavedTensor(Form::Special(Box::new(Special::Packed { kept, tangents, facts: self.facts().clone() })))
    }

    /// Whether a write to what is kept would be noticed.
    fn is_counted(&self) -> bool {
        self.plain().is_none_or(|plain| plain.storage.is_counted_throughout())
    }

    /// The layout that was kept.
    pub fn layout(&self) -> &SharedLayout {
        &self.facts().layout
    }

    /// The element type that was kept.
    pub fn dtype(&self) -> DType {
        self.facts().dtype
    }

    /// The memory that is held, unless the host holds something instead.
    pub fn held(&self) -> Option<Array> {
        self.plain().map(Plain::array)
    }

    /// Keeps `new` instead if it is `old` that is kept. Whether that was written to since is the same question
    /// of both. What has another form than rules expect is looked at when they ask for it.
    pub(super) fn replace(&mut self, old: &Array, new: &Array) {
        let plain = match &mut self.0 {
            Form::Plain(plain) => plain,
            Form::Special(special) => match &mut **special {
                Special::Transformed { plain, .. } => plain,
                Special::Packed { .. } => return,
            },
            Form::Freed(_) => return,
        };
        let Plain { storage, facts } = plain;
        let is_old = storage.is(&old.storage) && facts.layout == old.layout && facts.dtype == old.dtype;
        if !is_old {
            return;
        }
        match facts.fitting(new.clone()) {
            Ok(new) => Array { storage: *storage, layout: facts.layout, dtype: facts.dtype } = new,
            Err(_) => {
                let unfitting = Unfitting { memory: new.clone(), version: facts.version };
                *self = self.packed(Box::new(unfitting));
            }
        }
    }

    /// Whether both keep the same numbers where they lie, as of one moment.
    pub fn is(&self, other: &SavedTensor) -> bool {
        let (Form::Plain(a), Form::Plain(b)) = (&self.0, &other.0) else { return false };
        let (x, y) = (&a.facts, &b.facts);
        a.storage.is(&b.storage) && x.version == y.version && x.dtype == y.dtype && x.layout == y.layout
    }

    /// Whether backward has freed it.
    pub fn is_freed(&self) -> bool {
        matches!(self.0, Form::Freed(_))
    }

    /// What is kept, without history if it is an output, whatever happened to it since: for the host to show.
    pub fn data(&self, node: &NodeRef) -> Option<Tensor> {
        let plain = self.plain()?;
        let tracking = !matches!(plain.facts.source, Source::Output(_));
        Some(Tensor::continuing(plain.array(), plain.edge(node, tracking)))
    }

    /// What is kept of an input that has forgotten its history since.
    pub fn forgotten(&self, node: &NodeRef) -> Option<Tensor> {
        let plain = self.plain().filter(|plain| any_detached() && plain.is_detached(node))?;
        Some(Tensor::from_array(plain.array()))
    }

    /// Where the tensor stands in its operation.
    pub fn source(&self) -> Source {
        self.facts().source
    }

    /// Whether the host has packed it.
    pub fn is_packed(&self) -> bool {
        self.kept().is_some()
    }

    /// What the host has made of it.
    pub fn kept(&self) -> Option<&dyn Packed> {
        match &self.0 {
            Form::Special(special) => match &**special {
                Special::Packed { kept, .. } => Some(&**kept),
                Special::Transformed { .. } => None,
            },
            Form::Plain(_) | Form::Freed(_) => None,
        }
    }

    /// The tangents that are kept too.
    fn tangents(&self) -> Option<&Arc<Tangents>> {
        match &self.0 {
            Form::Special(special) => match &**special {
                Special::Transformed { tangents, .. } | Special::Packed { tangents, .. } => tangents.as_ref(),
            },
            Form::Plain(_) | Form::Freed(_) => None,
        }
    }

    /// What it is around, if it stands for many samples.
    pub(super) fn batch(&self) -> Option<&Batch> {
        match &self.0 {
            Form::Special(special) => match &**special {
                Special::Transformed { batch, .. } => batch.as_ref(),
                Special::Packed { .. } => None,
            },
            Form::Plain(_) | Form::Freed(_) => None,
        }
    }

    /// The memory, whatever happened to it since.
    pub fn array(&self) -> Result<Array> {
        match &self.0 {
            Form::Freed(_) => unreachable!("only what was just saved is asked"),
            Form::Plain(plain) => Ok(plain.array()),
            Form::Special(special) => match &**special {
                Special::Transformed { plain, .. } => Ok(plain.array()),
                Special::Packed { kept, .. } => Ok(kept.unpack()?.array()),
            },
        }
    }

    /// The tensor, unless it was overwritten since. With history if `tracking`.
    pub fn load(&self, node: &NodeRef, tracking: bool) -> Result<Tensor> {
        match &self.0 {
            Form::Plain(plain) => plain.load(node, tracking),
            Form::Special(special) => special.load(node, tracking),
            Form::Freed(_) => Err(node.freed()),
        }
    }

    /// The tensor without its history, with the numbers that are there now: whoever packs it takes it as it is.
    pub fn present(&self, node: &NodeRef) -> Result<Tensor> {
        match &self.0 {
            Form::Plain(plain) => {
                plain.check_history(node)?;
                Ok(Tensor::continuing(plain.array(), None))
            }
            _ => self.load(node, false),
        }
    }
}

impl Special {
    #[cold]
    fn load(&self, node: &NodeRef, tracking: bool) -> Result<Tensor> {
        let (tensor, tangents) = match self {
            Special::Transformed { plain, tangents, batch } => {
                // It is given tangents below: it must not be the leaf itself.
                let tensor = Tensor::apart(plain.checked(node)?, plain.edge(node, tracking));
                let tensor = match batch {
                    Some(batch) => Tensor::around(batch, tensor),
                    None => tensor,
                };
                (tensor, tangents.as_ref().and_then(|tangents| tangents.counting()))
            }
            Special::Packed { kept, tangents, facts } => {
                if let Some((memory, version)) = kept.written() {
                    let edge = facts.source.edge(node).filter(|edge| edge.node.leaf().is_none());
                    let place = edge.map_or_else(Default::default, |edge| (edge.node.name(), edge.output));
                    return Err(writes::modified(node, memory, version, place));
                }
                let unpacked = saved_tensor_hooks::unpack(&**kept)?;
                let edge = if tracking { facts.source.edge(node) } else { None };
                let array = facts.fitting(unpacked.array())?;
                if unpacked.is_subclassed() {
                    if edge.is_some() && unpacked.gradient_edge()?.is_none() {
                        unpacked.set_edge(edge);
                    }
                    return Ok(unpacked);
                }
                let own = tangents.clone().or_else(|| unpacked.tangents());
                let tangents = own.and_then(|tangents| tangents.counting());
                (Tensor::apart(array, edge), tangents)
            }
        };
        if let Some(tangents) = tangents {
            tensor.carry(tangents);
        }
        Ok(tensor)
    }
}

impl Source {
    /// The history of the tensor.
    pub(super) fn edge(self, node: &NodeRef) -> Option<Edge> {
        match self {
            Source::Input(index) => node.edges().get(usize::from(index)).cloned().flatten(),
            Source::Output(output) => Some(Edge { node: node.clone(), output: u32::from(output) }),
            Source::Constant => None,
        }
    }
}

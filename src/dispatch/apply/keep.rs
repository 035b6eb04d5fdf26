//! Saving for backward: what `Op::save` may take from (`Keep`), and the types that it may return (`Keepsake`).

use smallvec::{SmallVec, smallvec};

use crate::dtype::DType;
use crate::graph::{SavedTensor, Source};
use crate::shape::SharedLayout;
use crate::tensor::{Array, Tensor};

/// The inputs and outputs that `save` may keep.
pub struct Keep<'a> {
    inputs: &'a [&'a Tensor],
    outputs: Made<'a>,
    needed: u64,
}

/// What an operation has made.
#[derive(Clone, Copy)]
enum Made<'a> {
    /// These tensors.
    Tensors(&'a [Tensor]),
    /// These numbers, which nobody has seen as tensors.
    Numbers(&'a [Array]),
}

impl<'a> Keep<'a> {
    pub(crate) fn new(inputs: &'a [&'a Tensor], outputs: &'a [Tensor], needed: u64) -> Keep<'a> {
        Keep { inputs, outputs: Made::Tensors(outputs), needed }
    }

    pub(crate) fn numbers(inputs: &'a [&'a Tensor], numbers: &'a [Array], needed: u64) -> Keep<'a> {
        Keep { inputs, outputs: Made::Numbers(numbers), needed }
    }

    /// How many inputs there are.
    pub fn count(&self) -> usize {
        self.inputs.len()
    }

    /// Whether input `index` requires grad.
    pub fn needs(&self, index: usize) -> bool {
        index >= 64 || self.needed >> index & 1 == 1
    }

    /// Keeps an input.
    pub fn input(&self, index: usize) -> SavedTensor {
        SavedTensor::new(self.inputs[index].memory(), Source::Input(index as u8))
    }

    /// Keeps an input if `condition`.
    pub fn input_if(&self, condition: bool, index: usize) -> Option<SavedTensor> {
        condition.then(|| self.input(index))
    }

    /// Keeps an output.
    pub fn output(&self, index: usize) -> SavedTensor {
        let memory = match self.outputs {
            Made::Tensors(outputs) => self.given(outputs, index).memory(),
            Made::Numbers(numbers) => numbers[index].clone(),
        };
        SavedTensor::new(memory, Source::Output(index as u8))
    }

    /// Keeps an output that has no history.
    pub fn constant(&self, index: usize) -> SavedTensor {
        match self.outputs {
            Made::Tensors(outputs) => SavedTensor::constant(self.given(outputs, index)),
            Made::Numbers(numbers) => SavedTensor::new(numbers[index].clone(), Source::Constant),
        }
    }

    /// An output. Before the operation has run an input stands in for it: only what is kept of the inputs
    /// is looked at then.
    fn given(&self, outputs: &'a [Tensor], index: usize) -> &'a Tensor {
        outputs.get(index).unwrap_or(self.inputs[0])
    }

    /// The element type of an input.
    pub fn dtype(&self, index: usize) -> DType {
        self.inputs[index].dtype()
    }

    /// The layout of an input, for rules that need no more than that.
    pub fn layout(&self, index: usize) -> SharedLayout {
        self.inputs[index].layout()
    }
}

/// What can be kept for backward: none, one or several tensors, or just a layout.
pub trait Keepsake: Send + Sync + 'static {
    /// The tensors, in the order of their names; `None` for one that was not needed.
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        SmallVec::new()
    }

    /// The tensors that there are.
    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        SmallVec::new()
    }
}

impl Keepsake for () {}
impl Keepsake for SharedLayout {}
impl Keepsake for Vec<SharedLayout> {}

impl Keepsake for SavedTensor {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        smallvec![Some(self)]
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        smallvec![self]
    }
}

impl Keepsake for Option<SavedTensor> {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        smallvec![self.as_ref()]
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().collect()
    }
}

impl<const N: usize> Keepsake for [Option<SavedTensor>; N] {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.iter().map(Option::as_ref).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().flatten().collect()
    }
}

impl<const N: usize> Keepsake for [SavedTensor; N] {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.iter().map(Some).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().collect()
    }
}

impl Keepsake for Vec<SavedTensor> {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.iter().map(Some).collect()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.iter_mut().collect()
    }
}

impl<A: Keepsake, B: Send + Sync + 'static> Keepsake for (A, B) {
    fn tensors(&self) -> SmallVec<[Option<&SavedTensor>; 2]> {
        self.0.tensors()
    }

    fn tensors_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        self.0.tensors_mut()
    }
}

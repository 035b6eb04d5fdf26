//! Few elements, one for each of a result or one for all: what asks and chooses takes them without loops of its own.

use super::{Lies, Source, Target, misfit};
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::shape::Layout;

/// The types of most elements, numbers and indices: those of `dispatch!(usual ..)`.
pub(crate) const TYPES: [DType; 3] = [DType::Float32, DType::Float64, DType::Int64];

/// More are worth a loop that takes many at once.
const MOST: usize = 256;

/// Few elements of an operand.
pub(crate) enum Few<'a, T> {
    /// One for each of the result.
    Each(&'a [T]),
    /// One for all.
    All(T),
}

impl<'a, T: Element> Few<'a, T> {
    /// Those that go with so many.
    pub(crate) fn of(source: &Source<'a>, count: usize) -> Result<Few<'a, T>> {
        let found = match *source {
            Source::Number(number) => Some(Few::All(number.to())),
            Source::Array(array, ..) if array.layout.numel() == 1 => array.first_element().map(Few::All),
            Source::Array(array, ..) => array.part(0, count).map(Few::Each),
        };
        found.ok_or_else(misfit)
    }

    /// The one that goes with this element of the result.
    #[inline(always)]
    pub(crate) fn at(&self, index: usize) -> T {
        match self {
            Few::Each(elements) => elements[index],
            Few::All(element) => *element,
        }
    }
}

/// Whether a result has few elements, which lie in order.
pub(crate) fn has_few(result: &Layout) -> bool {
    result.numel() <= MOST && result.is_contiguous()
}

/// Whether an operand of this type goes so with a result of few elements.
pub(crate) fn is_few_of(operand: &Lies<'_>, dtype: DType, result: &Layout) -> bool {
    match operand {
        Lies::Tensor(layout, own) => {
            let is_each = layout.shape() == result.shape();
            *own == dtype && layout.is_contiguous() && (is_each || layout.numel() == 1)
        }
        Lies::Number(_) => false,
    }
}

/// Has each element written by what is made of its place.
pub(crate) fn write_each<T: Element>(sources: &[Source<'_>], target: Target<'_>, make: impl Fn(usize) -> T) {
    target.write_of(sources, |out| {
        for (index, out) in out.iter_mut().enumerate() {
            out.write(make(index));
        }
    });
}

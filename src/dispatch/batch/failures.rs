//! Errors of operations on batched tensors. They are found with the shape of a sample, and raised with the shape of
//! the value in which all samples come first, as torch's are.

use crate::error::Error;
use crate::graph::mode;
use crate::tensor::Tensor;

/// A failure of an operation on these tensors, told of all samples together.
#[cold]
pub(crate) fn told_of_all(error: impl Into<Box<Error>>, tensors: &[&Tensor]) -> Box<Error> {
    let error = error.into();
    if !mode::special() {
        return error;
    }
    let leads = tensors.iter().map(|tensor| lead(tensor));
    let lead = leads.max_by_key(Vec::len).unwrap_or_default();
    if lead.is_empty() { error } else { Box::new(BatchDims { lead }.told(*error)) }
}

/// How many samples there are at each mapping that the tensor differs in, the outermost first.
fn lead(x: &Tensor) -> Vec<usize> {
    let mut lead = Vec::new();
    let mut batch = x.batch();
    while let Some(inner) = batch {
        lead.extend(inner.dim.map(|_| inner.mapping.size()));
        batch = inner.value.batch();
    }
    lead.reverse();
    lead
}

/// The dimensions that mapping puts in front of those of a sample.
struct BatchDims {
    lead: Vec<usize>,
}

impl BatchDims {
    fn count(&self) -> usize {
        self.lead.len()
    }

    fn sizes(&self, sample: Vec<usize>) -> Vec<usize> {
        self.lead.iter().copied().chain(sample).collect()
    }

    /// `sizes` of a sample that broadcasts to `ndim` dimensions.
    fn padded(&self, sample: Vec<usize>, ndim: usize) -> Vec<usize> {
        let missing = ndim.saturating_sub(sample.len());
        self.sizes(std::iter::repeat_n(1, missing).chain(sample).collect())
    }

    fn shape(&self, sample: Vec<i64>) -> Vec<i64> {
        self.lead.iter().map(|&size| size as i64).chain(sample).collect()
    }

    fn told(&self, error: Error) -> Error {
        let further = self.count();
        match error {
            Error::ViewSize { shape, numel } => Error::ViewSize {
                shape: self.shape(shape),
                numel: numel * self.lead.iter().product::<usize>(),
            },
            Error::ViewAmbiguous { shape } => Error::ViewAmbiguous { shape: self.shape(shape) },
            Error::ViewNegative { size, index, shape } => {
                Error::ViewNegative { size, index: index + further, shape: self.shape(shape) }
            }
            Error::ExpandSize { wanted, size, dim, target, shape } => {
                let shape = self.padded(shape, target.len());
                Error::ExpandSize { wanted, size, dim: dim + further, target: self.shape(target), shape }
            }
            Error::ExpandRank { wanted, ndim, .. } => Error::MappedExpandRank { wanted, ndim },
            Error::SelectRange { index, shape, dim } => {
                Error::SelectRange { index, shape: self.sizes(shape), dim: dim + further }
            }
            Error::UnfoldSize { dim, size, step } => {
                Error::UnfoldSize { dim: dim + further as i64, size, step }
            }
            Error::PermuteCount { ndim, given } => {
                Error::PermuteCount { ndim: ndim + further, given: given + further }
            }
            Error::SplitSum { size, dim, sizes } => Error::SplitSum { size, dim: dim + further, sizes },
            Error::CatDimensions { first, got } => {
                Error::CatDimensions { first: first + further, got: got + further }
            }
            Error::CatSizes { dim, expected, got, position } => {
                Error::CatSizes { dim: dim + further, expected, got, position }
            }
            Error::StackSizes { first, got, position } => {
                Error::StackSizes { first: self.sizes(first), got: self.sizes(got), position }
            }
            Error::GatherShape { at, index, shape, dim } => Error::GatherShape {
                at: at + further,
                index: self.sizes(index),
                shape: self.sizes(shape),
                dim: dim + further,
            },
            Error::ScatterShape { index, shape, dim } => {
                Error::ScatterShape { index: self.sizes(index), shape: self.sizes(shape), dim: dim + further }
            }
            Error::ScatterSource { index, shape, dim, source } => Error::ScatterSource {
                index: self.sizes(index),
                shape: self.sizes(shape),
                dim: dim + further,
                source: self.sizes(source),
            },
            Error::NotBroadcastable { left, right, dim } => {
                Error::NotBroadcastable { left, right, dim: dim + further }
            }
            Error::OutputShape { output, broadcast } => {
                let output = self.padded(output, broadcast.len());
                Error::OutputShape { output, broadcast: self.sizes(broadcast) }
            }
            Error::NormalizedShape { normalized, list, shape } => {
                Error::NormalizedShape { normalized, list, shape: self.sizes(shape) }
            }
            other => other,
        }
    }
}

//! Which memory a result may be written to, given what the operation reads: not to what it reads in
//! another order, nor to elements that are shown several times.

use crate::error::raise;
use crate::tensor::object::as_tensor;
use pyo3::prelude::*;
use rushlight::schema::{Memory, OutPolicy};
use rushlight::shape::broadcast;
use rushlight::{Error, Tensor};

/// Refuses memory that cannot be written to by an operation that reads these tensors.
pub(super) fn check(policy: &OutPolicy, read: &[Tensor], out: &Bound<'_, PyAny>) -> PyResult<()> {
    let Some(written) = as_tensor(out) else { return Ok(()) };
    let aligned = policy.memory == Memory::Aligned;
    let memory = written.array();
    if (aligned || policy.once) && is_expanded(memory.layout.shape(), memory.layout.strides()) {
        return Err(raise(Error::OverlapModified {}.into()));
    }
    if aligned {
        check_same_shape(read, written)?;
    }
    match policy.memory {
        Memory::Any => Ok(()),
        Memory::Apart => read.iter().try_for_each(|read| memory.check_apart(&read.array())),
        Memory::Aligned => read.iter().try_for_each(|read| memory.check_read(&read.array())),
        Memory::OfFirst => read
            .first()
            .filter(|first| first.layout().shape() == memory.layout.shape())
            .map_or(Ok(()), |first| memory.check_read(&first.array())),
    }
    .map_err(raise)
}

/// Whether elements are shown several times, as far as torch looks: windows that overlap pass.
fn is_expanded(shape: &[usize], strides: &[usize]) -> bool {
    !shape.contains(&0) && shape.iter().zip(strides).any(|(&size, &stride)| size > 1 && stride == 0)
}

/// Refuses to give a tensor that is read another shape.
fn check_same_shape(read: &[Tensor], written: &Tensor) -> PyResult<()> {
    if !read.iter().any(|read| read.is(written)) {
        return Ok(());
    }
    let (mut shape, output) = (written.layout().shape().to_vec(), written.layout().shape().to_vec());
    for read in read {
        // What does not go together is told by the operation.
        match broadcast(&shape, read.layout().shape()) {
            Ok(larger) => shape = larger.to_vec(),
            Err(_) => return Ok(()),
        }
    }
    if shape == output { Ok(()) } else { Err(raise(Error::OutputShape { output, broadcast: shape }.into())) }
}

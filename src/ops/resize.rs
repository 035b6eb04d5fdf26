//! Other sizes for a tensor itself: more or fewer elements of its memory, which grows if it has to.

use smallvec::smallvec;

use super::copy;
use crate::error::{Error, Result};
use crate::shape::{self, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// Gives the tensor itself another shape, in order, over the elements of its memory. Those that come
/// into being are zero.
pub fn resize_(x: &Tensor, sizes: &[i64]) -> Result<()> {
    if x.requires_grad() {
        return Err(Error::ResizeRecorded {}.into());
    }
    if sizes.iter().any(|&size| size < 0) {
        return Err(Error::ResizeNegative {}.into());
    }
    let shape = shape::checked_shape(sizes)?;
    let memory = x.memory();
    if *memory.layout.shape() == *shape {
        return x.bump_version();
    }
    let (offset, ordered) = (memory.layout.offset(), Layout::contiguous(&shape));
    let layout = Layout::strided(ordered.shape().into(), ordered.strides().into(), offset);
    let (count, had) = (offset + layout.numel(), memory.storage.bytes() / memory.dtype.size());
    if count <= had {
        x.set_layout(layout);
        return x.bump_version();
    }
    let line = |count: usize| Layout::strided(smallvec![count], smallvec![1], 0);
    let larger = Array::zeroed(&SharedLayout::new(line(count)), memory.dtype)?;
    copy::write(&larger.with_layout(line(had)), &memory.with_layout(line(had)))?;
    x.set_data(&Tensor::from_array(larger.with_layout(layout)))?;
    x.bump_version()
}

/// Gives the tensor itself the shape of another.
pub fn resize_as_(x: &Tensor, like: &Tensor) -> Result<()> {
    resize_(x, &shape::signed(like.layout().shape()))
}

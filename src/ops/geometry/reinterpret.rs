//! The bytes of a tensor read as another type. Gradients do not pass: the numbers are unrelated.

use crate::dispatch::batch;
use crate::dispatch::modes::intercept;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::ops::geometry::reshape;
use crate::schema::{Entry, IntoReply, method};
use crate::shape::{Dims, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// The memory of `x` as elements of another type; the last dimension grows or shrinks when their
/// size differs.
pub fn view_dtype(x: &Tensor, dtype: DType) -> Result<Tensor> {
    // Samples that come first change nothing about the last dimension.
    if let Some(y) = batch::front(x, |x, _| view_dtype(x, dtype)) {
        return y;
    }
    if intercept::is_active() {
        return intercept::beside(SHOWN, Attributes::new(), x, move |x| read_as(x, dtype));
    }
    read_as(x, dtype)
}

/// What modes and classes know it by: it leaves no node.
const SHOWN: &str = "ViewDtype";

fn read_as(x: &Tensor, dtype: DType) -> Result<Tensor> {
    if x.is_pending() && x.dtype() != dtype {
        let is_conjugate = x.dtype().is_complex();
        let what = if is_conjugate { "conjugate view tensors" } else { "tensors with negative bit set" };
        return Err(Error::UnresolvedView { what }.into());
    }
    let array = x.memory();
    let layout = match (array.dtype.size(), dtype.size()) {
        (old, new) if old == new => array.layout.clone(),
        (old, new) => {
            let (from, to) = (array.dtype, dtype);
            if array.layout.ndim() == 0 {
                return Err(Error::ViewDTypeScalar { from, to }.into());
            }
            SharedLayout::new(if old > new {
                finer(&array, to, old / new)?
            } else {
                coarser(&array, to, new / old)?
            })
        }
    };
    let dtype = if x.dtype() == dtype { array.dtype } else { dtype };
    Array::on(array.storage, layout, dtype).map(Tensor::from_array)
}

/// The layout of elements of which `ratio` make one of the old.
fn finer(array: &Array, to: DType, ratio: usize) -> Result<Layout> {
    let (from, layout) = (array.dtype, &array.layout);
    let (mut shape, mut strides): (Dims, Dims) = (layout.shape().into(), layout.strides().into());
    let last = shape.len() - 1;
    if strides[last] != 1 {
        return Err(Error::ViewDTypeStride { from, to, stride: strides[last] }.into());
    }
    shape[last] *= ratio;
    for stride in &mut strides[..last] {
        *stride *= ratio;
    }
    Layout::strided(shape, strides, layout.offset() * ratio)
}

/// The layout of elements that `ratio` of the old make.
fn coarser(array: &Array, to: DType, ratio: usize) -> Result<Layout> {
    let (from, layout) = (array.dtype, &array.layout);
    let (mut shape, mut strides): (Dims, Dims) = (layout.shape().into(), layout.strides().into());
    let (last, offset) = (shape.len() - 1, layout.offset());
    if !shape[last].is_multiple_of(ratio) {
        return Err(Error::ViewDTypeSize { from, to, ratio, size: shape[last] }.into());
    }
    if !offset.is_multiple_of(ratio) {
        return Err(Error::ViewDTypeOffset { from, to, ratio, offset }.into());
    }
    if strides[last] != 1 {
        return Err(Error::ViewDTypeStride { from, to, stride: strides[last] }.into());
    }
    for (dim, stride) in strides[..last].iter_mut().enumerate() {
        if !stride.is_multiple_of(ratio) {
            return Err(Error::ViewDTypeStep { from, to, dim, ratio, stride: *stride }.into());
        }
        *stride /= ratio;
    }
    shape[last] /= ratio;
    Layout::strided(shape, strides, offset / ratio)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[method(
    "view",
    &["(Tensor input, dtype dtype)", "(Tensor input, int[] size)"],
    "A view in another shape, or with the memory read as another dtype.",
    |a| match a.overload() {
        0 => view_dtype(a.tensor(0)?, a.element_type(1)?).reply(),
        _ => reshape::view(a.tensor(0)?, &a.ints(1)?).reply(),
    },
)
.operators(&[(SHOWN, "view.dtype(Tensor(a) self, ScalarType dtype) -> Tensor(a)")])];

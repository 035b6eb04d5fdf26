//! How results lie in memory, by the rule of `shape::result_strides`. Kernels know row-major results only, so
//! operands are shown to them with the dimensions sorted, and the result is shown with the dimensions put back.

use crate::dispatch::batch;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::mode;
use crate::ops::creation::{cast, copy};
use crate::shape::{self, Dims, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// The order of dimensions in memory, outermost first, where it is not row-major, and the strides that the
/// result then has.
pub(crate) struct MemoryOrder {
    dims: Dims,
    layout: SharedLayout,
}

impl MemoryOrder {
    /// The order of the result of operands that broadcast to this shape; `None` if it is row-major.
    pub(crate) fn of(shape: &[usize], operands: &[&Layout]) -> Result<Option<MemoryOrder>> {
        shape::counted(shape)?;
        let Some(strides) = shape::result_strides(shape, operands) else { return Ok(None) };
        let dims = shape::order_of_strides(shape, &strides);
        let layout = SharedLayout::new(Layout::strided(shape.into(), strides, 0)?);
        Ok(Some(MemoryOrder { dims, layout }))
    }

    /// An array of the shape of the result with its dimensions in this order.
    pub(crate) fn sorted(&self, array: &Array) -> Array {
        array.with_layout(array.layout.permuted(self.dims.iter().copied()))
    }

    /// A fresh array of sorted dimensions with its dimensions where they were.
    pub(crate) fn restored(&self, array: Array) -> Array {
        Array { layout: self.layout.clone(), ..array }
    }
}

/// A fresh result laid out as the result of these operands lies.
pub(crate) fn settled(y: Array, operands: &[&Layout]) -> Result<Array> {
    let layout = match shape::result_strides(y.layout.shape(), operands) {
        Some(strides) => SharedLayout::new(Layout::strided(y.layout.shape().into(), strides, 0)?),
        None if y.layout.is_plain() => return Ok(y),
        None => SharedLayout::new(y.layout.fresh()),
    };
    settled_as(y, &layout)
}

/// A fresh result of the shape of an operand, laid out as a copy of that would be.
pub(crate) fn like(y: Array, x: &Layout) -> Result<Array> {
    if x.is_plain() && y.layout.is_plain() { Ok(y) } else { settled_as(y, &SharedLayout::new(x.packed())) }
}

/// A fresh result in row-major order.
pub(crate) fn in_order(y: Array) -> Result<Array> {
    if y.layout.is_plain() {
        return Ok(y);
    }
    let layout = SharedLayout::new(y.layout.fresh());
    settled_as(y, &layout)
}

/// In how many dimensions channels lie: those of volumes, or of images.
pub(crate) fn spatial(x: &Layout) -> usize {
    if x.ndim() == 5 { 3 } else { 2 }
}

/// Whether an operand is meant as images, or volumes (`spatial` is 3), of which the channels come last in
/// memory. What has one dimension in the place of two (`spatial` is 1) is images of one row.
pub(crate) fn has_channels_last(x: &Layout, spatial: usize) -> bool {
    if x.ndim() == spatial.max(2) + 2 {
        return shape::suggests_channels_last(x.shape(), x.strides());
    }
    if spatial != 1 || x.ndim() != 3 {
        return false;
    }
    let (mut sizes, mut strides): (Dims, Dims) = (x.shape().into(), x.strides().into());
    sizes.insert(2, 1);
    strides.insert(2, sizes[3] * strides[2]);
    shape::suggests_channels_last(&sizes, &strides)
}

/// The layout of images, or of what has one dimension in the place of two, with the channels last.
fn with_channels_last(shape: &[usize]) -> Result<SharedLayout> {
    let order = |sizes: &[usize]| shape::channels_last_strides(sizes);
    let strides = match *shape {
        [count, channels, length] => {
            let all = order(&[count, channels, 1, length]);
            [all[0], all[1], all[3]].into_iter().collect()
        }
        _ => order(shape),
    };
    Ok(SharedLayout::new(Layout::strided(shape.into(), strides, 0)?))
}

/// A fresh result of images, or of what has one dimension in the place of two, with the channels last.
pub(crate) fn channels_last(y: Array) -> Result<Array> {
    let layout = with_channels_last(y.layout.shape())?;
    settled_as(y, &layout)
}

/// Images of which the channels come last in memory, or what has one dimension in the place of two, with the channels as
/// their last dimension.
pub(crate) fn by_channels(x: &Array, spatial: usize) -> Option<Array> {
    let layout = &x.layout;
    let is_so = !layout.is_plain() && has_channels_last(layout, spatial);
    is_so.then(|| x.with_layout(layout.permuted(std::iter::once(0).chain(2..layout.ndim()).chain([1]))))
}

/// A fresh result of such images in row-major order, with the channels as their second dimension.
pub(crate) fn from_channels(y: Array) -> Result<Array> {
    let sizes = y.layout.shape();
    let last = sizes.len() - 1;
    let shape: Dims = std::iter::once(0).chain([last]).chain(1..last).map(|dim| sizes[dim]).collect();
    let layout = with_channels_last(&shape)?;
    Ok(Array { layout, ..y })
}

/// Room for images with the channels last in memory.
pub(crate) fn room_by_channels(shape: &[usize], dtype: DType) -> Result<Array> {
    Ok(Array { layout: with_channels_last(shape)?, ..Array::uninit_shape(shape, dtype)? })
}

/// A fresh result of images, laid out as the operand suggests.
pub(crate) fn as_images(y: Array, x: &Layout, spatial: usize) -> Result<Array> {
    if !x.is_plain() && has_channels_last(x, spatial) { channels_last(y) } else { Ok(y) }
}

/// A gradient of such images, laid out as these suggest, whoever sees it computed. That of many samples stays as
/// the operation left it.
pub(crate) fn gradient_as_images(gradient: Tensor, x: &Layout, spatial: usize) -> Result<Tensor> {
    let layout = gradient.layout();
    if x.is_plain() && layout.is_plain() || batch::is_batched(&gradient) {
        return Ok(gradient);
    }
    let wanted = match has_channels_last(x, spatial) {
        true => with_channels_last(layout.shape())?,
        false => SharedLayout::new(layout.fresh()),
    };
    match mode::is_plain() {
        true => settled_as(gradient.array(), &wanted).map(Tensor::from_array),
        false if layout.strides() == wanted.strides() => Ok(gradient),
        false => cast::clone_as(&gradient, &wanted),
    }
}

/// A fresh result of matrices, the last two dimensions, of which one column lies behind the other.
pub(crate) fn by_columns(y: Array) -> Result<Array> {
    let mut strides = shape::contiguous_strides(y.layout.shape());
    if let [.., rows, _] = *y.layout.shape() {
        let last = strides.len() - 1;
        (strides[last - 1], strides[last]) = (1, rows.max(1));
    }
    let layout = SharedLayout::new(Layout::strided(y.layout.shape().into(), strides, 0)?);
    settled_as(y, &layout)
}

/// The layout of a Fourier transform of this shape: the other dimensions of the operand first, in the order in
/// which they lie in memory, and behind them those that are transformed, the last of them as they are given.
pub(crate) fn transformed(shape: &[usize], x: &Layout, dims: &[usize], given: usize) -> Result<SharedLayout> {
    // The others move to the front as a partition by exchange leaves them.
    let mut order: Dims = (0..shape.len()).collect();
    let mut front = 0;
    let mut behind = shape.len();
    loop {
        while front < behind && !dims.contains(&order[front]) {
            front += 1;
        }
        while front < behind && dims.contains(&order[behind - 1]) {
            behind -= 1;
        }
        if front >= behind {
            break;
        }
        order.swap(front, behind - 1);
    }
    let stride = |dim: &usize| std::cmp::Reverse(x.strides()[*dim]);
    order.truncate(front);
    order.sort_by_key(stride);
    let mut sorted: Dims = dims.into();
    let free = dims.len().saturating_sub(given);
    sorted[..free].sort_by_key(stride);
    order.extend(sorted);
    let strides = shape::strides_in(&order, |dim| shape[dim]);
    Ok(SharedLayout::new(Layout::strided(shape.into(), strides, 0)?))
}

/// A fresh result in this layout, which starts at its start and is without gaps: moved only if elements have to.
pub(crate) fn settled_as(y: Array, layout: &SharedLayout) -> Result<Array> {
    let sizes = y.layout.shape().iter();
    let mut strides = sizes.zip(y.layout.strides().iter().zip(layout.strides()));
    let stay = y.layout.numel() == 0 || strides.all(|(&size, (own, wanted))| size == 1 || own == wanted);
    match stay && y.layout.offset() == 0 {
        true => Ok(Array { layout: layout.clone(), ..y }),
        false => copy::laid_out(&y, layout),
    }
}

//! What every function that makes a tensor takes: element type, layout, device, pinned memory, whether gradients are
//! wanted, and how the elements shall lie.

use crate::dispatch::batch;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::ops::creation::cast::{Order, cloned};
use crate::schema::{Arguments, Reply};
use crate::tensor::Tensor;

/// What a call asks of the tensor that it makes. Layout, device and pinned memory have one answer each, and the host
/// has refused all others.
#[derive(Clone, Copy)]
pub struct Creation {
    /// The element type, if one is named.
    pub dtype: Option<DType>,
    /// Whether a gradient is wanted.
    pub requires_grad: bool,
}

/// A signature that ends in these options: `options!("(int[] size, *, ")`.
macro_rules! options {
    ($start:literal) => {
        concat!(
            $start,
            "dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, ",
            "bool? requires_grad=False)"
        )
    };
}
pub(crate) use options;

/// Makes a tensor with the options, of which the first stands at position `first`. `dtype` is the element type if
/// none is given.
pub(crate) fn made(
    arguments: &dyn Arguments,
    first: usize,
    dtype: DType,
    make: impl FnOnce(DType) -> Result<Tensor>,
) -> Result<Reply> {
    let asked = arguments.creation(first)?;
    let dtype = asked.dtype.unwrap_or(dtype);
    let mut tensor = make(dtype)?;
    if asked.requires_grad && !dtype.is_differentiable() {
        return Err(Error::RequiresGradFactoryDType {}.into());
    }
    // What is made like a tensor of many samples has room for all of them.
    if let Some(like) = arguments.optional_tensor(0).filter(|like| like.is_batched() && !tensor.is_batched())
    {
        tensor = batch::with_room(tensor, &[like])?;
    }
    if asked.requires_grad {
        tensor.set_requires_grad(true)?;
    }
    Ok(Reply::Tensor(tensor))
}

/// `made` in the shape of the tensor at position 0: with its order of dimensions in memory, unless the order at
/// position `order` is another one.
pub(crate) fn made_like(
    arguments: &dyn Arguments,
    first: usize,
    order: usize,
    make: impl FnOnce(&Tensor, DType) -> Result<Tensor>,
) -> Result<Reply> {
    let x = arguments.tensor(0)?;
    let order = arguments.order(order).unwrap_or(Order::Kept);
    made(arguments, first, x.dtype(), |dtype| match order {
        Order::Kept => make(x, dtype),
        Order::RowMajor if x.layout().is_row_major() => make(x, dtype),
        _ => make(&cloned(&x.detach(), order)?, dtype),
    })
}

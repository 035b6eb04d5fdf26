//! Several elementwise steps in one pass over memory, where nothing is recorded and no layer of `dispatch` is in
//! the way. Each user has the same function in operations too, each of which would take a pass of its own.

use crate::error::Result;
use crate::graph::mode;
use crate::kernels::vector::{self, Function};
use crate::ops::creation::copy;
use crate::tensor::{Array, Tensor};

/// `f` of the elements of tensors of one floating-point type and one shape, in order, if they are such.
pub(crate) fn fused<const N: usize>(
    f: impl Function<N>,
    x: &Tensor,
    others: [&Tensor; N],
) -> Result<Option<Tensor>> {
    if !mode::is_plain() {
        return Ok(None);
    }
    let (x, others) = (x.array(), others.map(Tensor::array));
    let is_alike = |other: &Array| other.dtype == x.dtype && other.layout.shape() == x.layout.shape();
    // Gradients of sums are one element again and again.
    let is_plain = |array: &Array| array.layout.is_row_major() || array.repeated_element().is_some();
    if !others.iter().all(is_alike) || !is_plain(&x) || !others.iter().all(is_plain) {
        return Ok(None);
    }
    let mut y = Array::uninit_shape(x.layout.shape(), x.dtype)?;
    let x = copy::in_order(&x)?;
    let mut ordered = Vec::with_capacity(N);
    for other in &others {
        ordered.push(copy::in_order(other)?);
    }
    dispatch!(float x.dtype, T => {
        let Some(x) = x.slice::<T>() else { return Ok(None) };
        let mut slices = [x; N];
        for (place, other) in slices.iter_mut().zip(&ordered) {
            let Some(other) = other.slice::<T>() else { return Ok(None) };
            *place = other;
        }
        vector::map(x, slices, y.fresh(), f);
    }, else { return Ok(None) });
    Ok(Some(Tensor::from_array(y)))
}

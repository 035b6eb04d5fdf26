//! Several elementwise steps in one pass over memory, where no history is written down and no layer of `dispatch` is
//! in the way. Each user has the same function in operations too, each of which would take a pass of its own.

use smallvec::{SmallVec, smallvec};

use crate::dispatch::in_place;
use crate::dispatch::modes::recording;
use crate::dispatch::record::records;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::kernels::vector::{self, Function};
use crate::ops::creation::copy;
use crate::shape;
use crate::tensor::{Array, Tensor};

/// `f` of the elements of tensors of one floating-point type and one shape, in order, if they are such.
pub(crate) fn fused<const N: usize>(
    f: impl Function<N> + 'static,
    x: &Tensor,
    others: [&Tensor; N],
) -> Result<Option<Tensor>> {
    if !is_alike(x, &others) {
        return Ok(None);
    }
    let operands: SmallVec<[&Tensor; 3]> = std::iter::once(x).chain(others).collect();
    let found = recording::as_one("fused", &operands, 1, move |given| {
        let arrays: SmallVec<[Array; 3]> = given.iter().map(|given| given.array()).collect();
        let others = std::array::from_fn(|index| &arrays[index + 1]);
        Ok(smallvec![Tensor::from_array(numbers(f, &arrays[0], others)?)])
    });
    Ok(found?.pop())
}

/// `fused` of arrays, at which nobody looks. Others are shown in the shape of the first, where they can be.
pub(crate) fn fused_numbers<const N: usize>(
    f: impl Function<N>,
    x: &Array,
    others: [&Array; N],
) -> Result<Option<Array>> {
    let is_fit = |other: &&Array| {
        other.dtype == x.dtype && shape::is_expandable(other.layout.shape(), x.layout.shape())
    };
    if !are_alike(x, &[]) || !others.iter().all(is_fit) {
        return Ok(None);
    }
    let mut shown = Vec::with_capacity(N);
    for other in others {
        shown.push(copy::in_order(&other.expanded(x.layout.shape())?)?.into_owned());
    }
    numbers(f, x, std::array::from_fn(|index| &shown[index])).map(Some)
}

/// Writes `f` of the elements of a tensor and others to the tensor, if all are alike and lie in order, and nobody is to
/// know of it. Answers whether that was so.
pub(crate) fn overwritten<const N: usize>(
    f: impl Function<N>,
    x: &Tensor,
    others: [&Tensor; N],
) -> Result<bool> {
    if !in_place::is_plain(x) || records(&others) || others.iter().any(|other| other.is_pending()) {
        return Ok(false);
    }
    let (dtype, arrays) = (x.dtype(), others.map(|other| other.array()));
    let is_alike = |other: &Array| {
        other.dtype == dtype && other.layout.is_contiguous() && other.layout.shape() == x.layout().shape()
    };
    if !matches!(dtype, DType::Float32 | DType::Float64) || !arrays.iter().all(is_alike) {
        return Ok(false);
    }
    in_place::at_one_go(x, |target| {
        dispatch!(float dtype, T => Ok(target.overwrite_slice(&arrays, |elements: &mut [T]| {
            let others = std::array::from_fn(|index| arrays[index].slice::<T>().unwrap_or_default());
            vector::map_in_place(elements, others, f);
        })), else { Ok(false) })
    })
}

/// Whether these are tensors that a pass goes over, and may.
pub(crate) fn is_alike(x: &Tensor, others: &[&Tensor]) -> bool {
    let operands: SmallVec<[&Tensor; 3]> = std::iter::once(x).chain(others.iter().copied()).collect();
    if !recording::is_undivided(&operands) {
        return false;
    }
    let arrays: SmallVec<[Array; 2]> = others.iter().map(|other| other.array()).collect();
    are_alike(&x.array(), &arrays.iter().collect::<SmallVec<[&Array; 2]>>())
}

/// Whether these are arrays that a pass goes over.
fn are_alike(x: &Array, others: &[&Array]) -> bool {
    let is_alike = |other: &Array| other.dtype == x.dtype && other.layout.shape() == x.layout.shape();
    // Gradients of sums are one element again and again.
    let is_plain = |array: &Array| array.layout.is_row_major() || array.repeated_element().is_some();
    let is_float = matches!(x.dtype, DType::Float32 | DType::Float64);
    is_float && is_plain(x) && others.iter().all(|other| is_alike(other) && is_plain(other))
}

/// `f` of the elements of tensors that are alike.
pub(crate) fn numbers<const N: usize>(f: impl Function<N>, x: &Array, others: [&Array; N]) -> Result<Array> {
    let mut y = Array::uninit_shape(x.layout.shape(), x.dtype)?;
    let x = copy::in_order(x)?;
    let mut ordered = Vec::with_capacity(N);
    for other in others {
        ordered.push(copy::in_order(other)?);
    }
    dispatch!(float x.dtype, T => {
        fn elements<T: Element>(array: &Array) -> &[T] {
            array.slice::<T>().unwrap_or_else(|| unreachable!("it lies in order"))
        }
        let mut slices = [elements::<T>(&x); N];
        for (place, other) in slices.iter_mut().zip(&ordered) {
            *place = elements::<T>(other);
        }
        vector::map(elements::<T>(&x), slices, y.fresh(), f);
    }, else { unreachable!("the type was asked for") });
    Ok(y)
}

//! Writes: the function of elements and others in the place of the elements.

use super::Elementwise2;
use super::numbers::{Beside, Vector, forward};
use crate::dispatch::in_place::by_stretch;
use crate::dispatch::operand::Numbers;
use crate::dtype::{DType, Element, Real, Scalar};
use crate::error::Result;
use crate::kernels::pointwise::{map, zip};
use crate::kernels::vector;
use crate::tensor::Array;
use crate::tensor::repeated;

/// The second operand of a write, read where it lies.
#[derive(Clone, Copy)]
pub(super) enum Second<'a> {
    /// A number of the host's.
    Number(Scalar),
    /// An array.
    Array(&'a Array),
}

impl Second<'_> {
    /// The number that it is, or the only element that it has, if that is of this type.
    fn number<T: Element>(self) -> Option<T> {
        match self {
            Second::Number(number) => Some(number.to()),
            Second::Array(array) if array.dtype == T::DTYPE && array.layout.numel() == 1 => {
                array.slice::<T>().map(|elements| elements[0])
            }
            Second::Array(_) => None,
        }
    }
}

/// Writes the function of the target and another operand to the target.
pub(super) fn overwrite<E: Elementwise2>(op: &E, target: &Array, b: &Numbers, dtype: DType) -> Result<()> {
    let second = match b {
        Numbers::Scalar(number) => Second::Number(*number),
        Numbers::Array(array) => Second::Array(array),
    };
    if dtype == target.dtype && overwrite_at_once(op, target, second) {
        return Ok(());
    }
    // Calculated apart, in a wider type of the same category perhaps, then written back.
    let write = |target: &Array, b: &Numbers| match b {
        Numbers::Array(others) => by_stretch(target, &[others], &|target, others| {
            let others = Numbers::Array(others[0].clone());
            forward(op, &Numbers::Array(target.clone()), &others, dtype)
        }),
        number => {
            by_stretch(target, &[], &|target, _| forward(op, &Numbers::Array(target.clone()), number, dtype))
        }
    };
    match b {
        Numbers::Array(array) if !target.layout.is_non_overlapping() => {
            let b = array.expanded(target.layout.shape())?;
            repeated::in_turn(target, &[b], &mut |target, b| write(target, &Numbers::Array(b[0].clone())))
        }
        b => repeated::in_turn(target, &[], &mut |target, _| write(target, b)),
    }
}

/// Replaces elements of a type that the result has where they lie, if they lie one after another, and the second
/// operand can be read beside them. Answers whether that was so.
pub(super) fn overwrite_at_once<E: Elementwise2>(op: &E, target: &Array, b: Second<'_>) -> bool {
    let takes_floats = const { E::FLOATS };
    takes_floats
        && dispatch!(float target.dtype, T => match const { E::VECTOR.has::<T>() } {
            true => replaced_function::<T, E>(target, b, *op),
            false => replaced::<T>(target, b, op.loops()),
        }, else { false })
}

/// `overwrite_at_once` by `f` of elements and a number, or of elements and others of their type that are shown in
/// their shape.
fn replaced<T: Element>(target: &Array, b: Second<'_>, f: impl Fn(T, T) -> T + Copy + Sync) -> bool {
    if let Some(b) = b.number::<T>() {
        return target.overwrite_stretches(&|elements| map::map_slice_in_place(elements, move |a| f(a, b)));
    }
    match b {
        Second::Array(b) if b.dtype == T::DTYPE => {
            let Ok(shown) = b.expanded(target.layout.shape()) else { return false };
            target.overwrite_slice([b], |elements| zip::zip_in_place(elements, &shown.strided::<T>(), f))
        }
        _ => false,
    }
}

/// `replaced` by an operation that is written for vectors.
fn replaced_function<T: Real, E: Elementwise2>(target: &Array, b: Second<'_>, op: E) -> bool {
    if let Some(b) = b.number::<T>() {
        let f = Beside::<E, false>(op, b.to_f64());
        return target.overwrite_stretches::<T>(&|elements| vector::map_in_place(elements, [], f));
    }
    match b {
        Second::Array(b) if b.dtype == T::DTYPE && b.layout.shape() == target.layout.shape() => {
            let Some(others) = b.slice::<T>() else { return false };
            target.overwrite_slice([b], |elements| vector::map_in_place(elements, [others], Vector(op)))
        }
        _ => false,
    }
}

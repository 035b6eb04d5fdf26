//! The numbers: loops over pairs of elements, of arrays of any types and shapes that go together, and of
//! arrays and numbers.

use std::mem::MaybeUninit;

use super::Elementwise2;
use super::stored::{calculate_in_order, calculate_wide, widened};
use crate::dispatch::memory_order;
use crate::dispatch::memory_order::MemoryOrder;
use crate::dispatch::operand::Numbers;
use crate::dispatch::unary;
use crate::dtype::{Bool, Complex, DType, Element, Real, Scalar};
use crate::error::{Error, Result};
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::pointwise::zip;
use crate::kernels::pointwise::zip::Rows;
use crate::kernels::vector::{self, Function};
use crate::ops::creation::copy;
use crate::shape::{self, Layout};
use crate::storage;
use crate::tensor::Array;

/// A fresh array of the function of two operands, calculated in this type.
pub(super) fn forward<E: Elementwise2>(op: &E, a: &Numbers, b: &Numbers, dtype: DType) -> Result<Array> {
    let layouts = [a, b].map(|operand| match operand {
        Numbers::Array(array) => Some(&*array.layout),
        Numbers::Scalar(_) => None,
    });
    let (op, second) = match (a, b) {
        (Numbers::Array(a), Numbers::Array(b)) => {
            let op = op.among(a.dtype, b.dtype);
            (op, op.second(a, b)?.map(Numbers::Array))
        }
        _ => (*op, None),
    };
    op.laid_out(calculate(&op, a, second.as_ref().unwrap_or(b), dtype)?, layouts)
}

pub(super) fn calculate<E: Elementwise2>(op: &E, a: &Numbers, b: &Numbers, dtype: DType) -> Result<Array> {
    let op = *op;
    if dtype.is_stored() && !dtype.is_half() {
        return calculate_wide(&op, a, b, dtype);
    }
    if let (Numbers::Array(a), Numbers::Scalar(b)) = (a, b)
        && let Some(result) = op.with_number(a, *b, dtype)
    {
        return result;
    }
    if dtype.is_complex() {
        if !E::COMPLEX {
            return Err(sizes_first(op.refusal(dtype).into(), a, b));
        }
        if const { E::RING } {
            return dispatch!(complex dtype, T => combine::<T, T>(a, b, op.rings()), else {
                unreachable!("there are two types of complex numbers")
            });
        }
        return combine_complex(a, b, dtype, &|a, b| op.complex(a, b));
    }
    if const { E::FLOATS } {
        dispatch!(float dtype, T => return match const { E::VECTOR.has::<T>() } {
            true => combined::<T, T>(a, b, &InVectors(op)),
            false => combine::<T, T>(a, b, op.loops()),
        }, else {});
        if dtype.is_half() {
            let has_way = match (a, b) {
                (Numbers::Array(_), Numbers::Scalar(b)) => op.has_number_way(*b, dtype.wide()),
                _ => false,
            };
            if let Some(y) = calculate_in_order(&op.in_half(dtype), a, b, dtype, has_way)? {
                return Ok(y);
            }
            let (a, b) = (widened(a, dtype, false)?, widened(b, dtype, E::EXACT_NUMBERS)?);
            let y = calculate(&op.in_half(dtype), &a, &b, dtype.wide())?;
            return copy::converted_in_order(&y, dtype);
        }
    }
    if const { E::INTEGERS } {
        dispatch!(integer dtype, T => return combine::<T, T>(a, b, op.integers()), else {});
        if dtype == DType::Bool && op.boolean(false, false).is_some() {
            let f = move |a: Bool, b: Bool| Bool::new(op.boolean(a.get(), b.get()).unwrap_or_default());
            return combine::<Bool, Bool>(a, b, f);
        }
    }
    Err(sizes_first(op.refusal(dtype).into(), a, b))
}

/// What is told of operands that an operation has no kernel for: their sizes, if these do not go together.
#[cold]
pub(super) fn sizes_first(error: Box<Error>, left: &Numbers, right: &Numbers) -> Box<Error> {
    match *error {
        Error::NotImplementedFor { .. } => {
            shape::broadcast(left.shape(), right.shape()).err().unwrap_or(error)
        }
        _ => error,
    }
}

/// A fresh array of a function of pairs of complex numbers, which shares its loops with all others, as in `unary`.
fn combine_complex(
    a: &Numbers,
    b: &Numbers,
    dtype: DType,
    f: &(dyn Fn(Complex<f64>, Complex<f64>) -> Complex<f64> + Sync),
) -> Result<Array> {
    dispatch!(complex dtype, T => {
        combine::<T, T>(a, b, |a, b| T::from_complex(f(a.to_complex(), b.to_complex())))
    }, else { unreachable!("there are two types of complex numbers") })
}

/// A fresh array of `f` of pairs of elements, both converted to `T` and broadcast together.
pub(crate) fn combine<T: Element, U: Element>(
    a: &Numbers,
    b: &Numbers,
    f: impl Fn(T, T) -> U + Copy + Sync,
) -> Result<Array> {
    combined::<T, U>(a, b, &Elements(f))
}

/// Whether what lies along strides is visited in rows and blocks, which is compiled for the types that are met most.
const fn has_rows(dtype: DType) -> bool {
    dtype.is_float() || matches!(dtype, DType::Int32 | DType::Int64)
}

/// The loops of a function of two elements, over rows of so many. Loops over one array and a number are compiled for
/// floating-point types only: of others a number is an array too.
trait Loops<T, U>: Sync {
    /// Of rows of both.
    fn pairs(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<U>]);
    /// Of rows and a number for each.
    fn beside(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<U>]);
    /// Of numbers and a row for each.
    fn behind(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<U>]);
}

/// A function of two elements.
struct Elements<F>(F);

impl<T: Element, U: Element, F: Fn(T, T) -> U + Copy + Sync> Loops<T, U> for Elements<F> {
    fn pairs(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<U>]) {
        match const { has_rows(T::DTYPE) } {
            true => zip::zip_rows(len, a, b, out, self.0),
            false => zip::zip_slice(a.row(0, len), b.row(0, len), out, self.0),
        }
    }

    fn beside(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<U>]) {
        match const { T::DTYPE.is_float() } {
            true => zip::zip_beside(len, a, b, out, self.0),
            false => unreachable!("a number is an array there"),
        }
    }

    fn behind(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<U>]) {
        match const { T::DTYPE.is_float() } {
            true => zip::zip_behind(len, a, b, out, self.0),
            false => unreachable!("a number is an array there"),
        }
    }
}

/// An operation that is written for vectors.
struct InVectors<E>(E);

impl<T: Real, E: Elementwise2> Loops<T, T> for InVectors<E> {
    fn pairs(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<T>]) {
        zip::each_row(len, out, &|row, out| {
            vector::map(a.row(row, out.len()), [b.row(row, out.len())], out, Vector(self.0));
        });
    }

    fn beside(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<T>]) {
        zip::each_row(len, out, &|row, out| {
            vector::map(a.row(row, out.len()), [], out, Beside::<E, false>(self.0, b.element(row).to_f64()));
        });
    }

    fn behind(&self, len: usize, a: Rows<'_, T>, b: Rows<'_, T>, out: &mut [MaybeUninit<T>]) {
        zip::each_row(len, out, &|row, out| {
            vector::map(b.row(row, out.len()), [], out, Beside::<E, true>(self.0, a.element(row).to_f64()));
        });
    }
}

/// `combine` by loops: one function for all operations.
fn combined<T: Element, U: Element>(a: &Numbers, b: &Numbers, loops: &dyn Loops<T, U>) -> Result<Array> {
    let scalars = if const { T::DTYPE.is_float() } { as_scalars(a, b) } else { None };
    let y = match scalars.as_ref().map_or((a, b), |(a, b)| (a, b)) {
        (Numbers::Array(a), Numbers::Array(b)) => return combine_arrays(a, b, loops),
        (Numbers::Scalar(a), Numbers::Scalar(b)) => {
            let mut y = Array::uninit_shape(&[], U::DTYPE)?;
            loops.pairs(1, Rows::one(&[a.to()]), Rows::one(&[b.to()]), y.fresh());
            Ok(y)
        }
        (Numbers::Array(a), Numbers::Scalar(b)) if const { T::DTYPE.is_float() } => {
            let (a, b) = (copy::as_type_in_order(a, T::DTYPE)?, b.to::<T>());
            unary::computed::<T, U>(&a, U::DTYPE, &|a, out| {
                loops.beside(out.len(), Rows::one(a), Rows::one(&[b]), out);
            })
        }
        (Numbers::Scalar(a), Numbers::Array(b)) if const { T::DTYPE.is_float() } => {
            let (a, b) = (a.to::<T>(), copy::as_type_in_order(b, T::DTYPE)?);
            unary::computed::<T, U>(&b, U::DTYPE, &|b, out| {
                loops.behind(out.len(), Rows::one(&[a]), Rows::one(b), out);
            })
        }
        (Numbers::Array(a), Numbers::Scalar(b)) => {
            in_rows(a, *b, &|a, b, out| loops.pairs(out.len(), Rows::one(a), Rows::one(b), out))
        }
        (Numbers::Scalar(a), Numbers::Array(b)) => {
            in_rows(b, *a, &|b, a, out| loops.pairs(out.len(), Rows::one(a), Rows::one(b), out))
        }
    };
    settled_beside(y?, [a, b])
}

/// What writes results of elements, and of as many others.
type OfBoth<'a, T, U> = &'a (dyn Fn(&[T], &[T], &mut [MaybeUninit<U>]) + Sync);

/// A fresh array of what `f` makes of the elements of an array and a number, which stands beside each element of a row.
fn in_rows<T: Element, U: Element>(array: &Array, number: Scalar, f: OfBoth<'_, T, U>) -> Result<Array> {
    let (array, row) = (copy::as_type_in_order(array, T::DTYPE)?, repeated::<T>(number, array)?);
    unary::computed::<T, U>(&array, U::DTYPE, &|elements, out| {
        zip::each_row(row.len(), out, &|index, out| {
            f(&elements[index * row.len()..][..out.len()], &row, out);
        });
    })
}

/// The operation as loops take it.
#[derive(Clone, Copy)]
pub(super) struct Vector<E>(pub(super) E);

impl<E: Elementwise2> Function<1> for Vector<E> {
    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, a: A, [b]: [A; 1]) -> A {
        self.0.vector(a, b)
    }

    const LITTLE: bool = E::LITTLE;

    const SLOW: bool = E::SLOW;

    const HAS_FAR: bool = E::HAS_FAR;

    #[inline(always)]
    fn is_far<T: Real>(&self, a: T, [b]: [T; 1]) -> bool {
        self.0.is_far(a, b)
    }

    fn far<T: Real>(&self, a: T, [b]: [T; 1]) -> T {
        self.0.real(a, b)
    }
}

/// The operation with a number as its second operand, or as its first one if `TURNED`.
#[derive(Clone, Copy)]
pub(super) struct Beside<E, const TURNED: bool>(pub(super) E, pub(super) f64);

impl<E: Elementwise2, const TURNED: bool> Beside<E, TURNED> {
    /// The operands, in their order.
    #[inline(always)]
    fn pair<T>(self, x: T, number: T) -> (T, T) {
        if TURNED { (number, x) } else { (x, number) }
    }
}

impl<E: Elementwise2, const TURNED: bool> Function<0> for Beside<E, TURNED> {
    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        let (a, b) = self.pair(x, A::from_f64(self.1));
        self.0.vector(a, b)
    }

    const SLOW: bool = E::SLOW;

    const HAS_FAR: bool = E::HAS_FAR;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T, []: [T; 0]) -> bool {
        let (a, b) = self.pair(x, T::from_f64(self.1));
        self.0.is_far(a, b)
    }

    fn far<T: Real>(&self, x: T, []: [T; 0]) -> T {
        let (a, b) = self.pair(x, T::from_f64(self.1));
        self.0.real(a, b)
    }
}

/// `vector` of elements in order and others, or a number.
pub(super) fn compute_vector<T: Real, E: Elementwise2>(
    op: E,
    p: &[T],
    q: &[T],
    number: Option<Scalar>,
    out: &mut [std::mem::MaybeUninit<T>],
) {
    match number {
        None => vector::map(p, [q], out, Vector(op)),
        Some(number) => vector::map(p, [], out, Beside::<E, false>(op, number.to::<T>().to_f64())),
    }
}

/// What was calculated of two operands, laid out as the result of both in this order.
pub(crate) fn settled_beside(y: Array, operands: [&Numbers; 2]) -> Result<Array> {
    let number = Layout::number();
    let layouts = operands.map(|operand| match operand {
        Numbers::Array(array) => &*array.layout,
        Numbers::Scalar(_) => &number,
    });
    memory_order::settled(y, &layouts)
}

/// A number as often as it goes with a row of elements of an array, however many there are of them.
fn repeated<T: Element>(number: Scalar, other: &Array) -> Result<Vec<T>> {
    /// Elements of a row, which are in the nearest memory.
    const ROW: usize = 1 << 10;
    storage::filled(other.layout.numel().clamp(1, ROW), number.to())
}

fn combine_arrays<T: Element, U: Element>(a: &Array, b: &Array, loops: &dyn Loops<T, U>) -> Result<Array> {
    let (mut a, mut b, order) = aligned(a, b, T::DTYPE)?;
    let has_blocks = const { has_rows(T::DTYPE) };
    if !has_blocks {
        (a, b) = (copy::in_order(&a)?.into_owned(), copy::in_order(&b)?.into_owned());
    }
    let mut y = Array::uninit(&a.layout, U::DTYPE)?;
    match (a.slice::<T>(), b.slice::<T>()) {
        (Some(a), Some(b)) => loops.pairs(a.len(), Rows::one(a), Rows::one(b), y.fresh()),
        _ if has_blocks => {
            let takes_one = const { T::DTYPE.is_float() };
            let operands = (a.strided::<T>(), b.strided::<T>());
            zip::zip_blocks(&operands.0, &operands.1, y.fresh(), takes_one, &|out, len, pair| match pair {
                zip::Pair::Both(a, b) => loops.pairs(len, a, b, out),
                zip::Pair::Beside(a, b) => loops.beside(len, a, b, out),
                zip::Pair::Behind(a, b) => loops.behind(len, a, b, out),
            });
        }
        _ => unreachable!("both lie in order"),
    }
    Ok(match order {
        Some(order) => order.restored(y),
        None => y,
    })
}

/// Two operands as one type and in one shape, and the order in which the dimensions of the result then
/// are, if it is not theirs.
fn aligned(a: &Array, b: &Array, dtype: DType) -> Result<(Array, Array, Option<MemoryOrder>)> {
    let same = a.layout.is(&b.layout) || a.layout.shape() == b.layout.shape();
    if same && a.layout.is_contiguous() && b.layout.is_contiguous() {
        return Ok((copy::as_type(a, dtype)?.into_owned(), copy::as_type(b, dtype)?.into_owned(), None));
    }
    let shape = shape::broadcast(a.layout.shape(), b.layout.shape())?;
    // Converted before they are repeated, not after.
    let (a, b) = (copy::as_type_in_order(a, dtype)?, copy::as_type_in_order(b, dtype)?);
    let order = MemoryOrder::of(&shape, &[&a.layout, &b.layout])?;
    let shown = |x: &Array| -> Result<Array> {
        let x = x.expanded(&shape)?;
        Ok(order.as_ref().map_or_else(|| x.clone(), |order| order.sorted(&x)))
    };
    let (a, b) = (shown(&a)?, shown(&b)?);
    Ok((a, b, order))
}

/// The operands again, when one of them is a single element in the shape of the other: it then is a
/// number, which spares the kernel the strides. Gradients of sums are like that.
fn as_scalars(a: &Numbers, b: &Numbers) -> Option<(Numbers, Numbers)> {
    let (Numbers::Array(left), Numbers::Array(right)) = (a, b) else { return None };
    if left.layout.shape() != right.layout.shape() || left.layout.numel() < 2 {
        return None;
    }
    if let Some(element) = right.repeated_element() {
        return Some((a.clone(), Numbers::Scalar(element)));
    }
    left.repeated_element().map(|element| (Numbers::Scalar(element), b.clone()))
}

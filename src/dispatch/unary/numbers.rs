//! The numbers of elementwise operations of one tensor: in which type they are calculated, and how the result
//! lies in memory.

use std::borrow::Cow;
use std::mem::MaybeUninit;

use super::{Elementwise, Integers, OutputStrides, Sign};
use crate::dispatch::default_dtype;
use crate::dispatch::memory_order;
use crate::dispatch::memory_order::MemoryOrder;
use crate::dispatch::stored;
use crate::dispatch::stored::Unsigned;
use crate::dtype::{Bool, Complex, DType, Element, Real, Ring};
use crate::error::Result;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::pointwise::{half, map};
use crate::kernels::vector::{self, Function};
use crate::ops::creation::copy;
use crate::tensor::Array;
use crate::tensor::repeated;

/// The function of every element in the memory of the elements.
pub(super) fn overwrite<E: Elementwise>(op: &E, target: &Array) -> Result<()> {
    let op = *op;
    let in_place = dispatch!(float target.dtype, T => {
        target.overwrite_stretches::<T>(&|elements| replace(op, elements))
    }, else { false });
    if in_place {
        return Ok(());
    }
    repeated::in_turn(target, &[], &mut |target, _| copy::write(target, &forward(&op, target)?))
}

/// The function of every element in its place.
fn replace<T: Real, E: Elementwise>(op: E, elements: &mut [T]) {
    match const { E::VECTOR.has::<T>() } {
        true => vector::map_in_place(elements, [], Vector(op)),
        false => map::map_slice_in_place(elements, op.loops()),
    }
}

/// The type in which the operation calculates, from that of the operand.
pub(super) fn result_type<E: Elementwise>(op: &E, dtype: DType) -> Result<DType> {
    match (E::INTEGERS, dtype) {
        (Integers::Only, dtype) if dtype.is_float() => Err(op.refusal(dtype).into()),
        (_, dtype) if dtype.is_float() || dtype.is_complex() && E::COMPLEX => Ok(dtype),
        (_, dtype) if dtype.is_complex() => Err(op.refusal(dtype).into()),
        (Integers::Promote, _) => Ok(default_dtype::get()),
        (Integers::Stay, DType::Bool) if op.boolean(false).is_none() => Err(op.refusal(dtype).into()),
        (Integers::Stay | Integers::Only, dtype) => Ok(dtype),
        (Integers::Refuse, dtype) => Err(op.refusal(dtype).into()),
    }
}

/// The function on a truth value; `result_type` has made sure that it has one.
fn truth<E: Elementwise>(op: &E, x: Bool) -> Bool {
    Bool::new(op.boolean(x.get()).unwrap_or_default())
}

/// A fresh array of the function of every element.
pub(super) fn forward<E: Elementwise>(op: &E, x: &Array) -> Result<Array> {
    match const { E::STRIDES } {
        OutputStrides::Propagated => calculate(op, x),
        OutputStrides::LikeInput => memory_order::like(calculate(op, x)?, &x.layout),
        OutputStrides::RowMajor => memory_order::in_order(calculate(op, x)?),
    }
}

fn calculate<E: Elementwise>(op: &E, x: &Array) -> Result<Array> {
    let dtype = result_type(op, x.dtype)?;
    let x = copy::as_type_in_order(x, dtype)?;
    let op = *op;
    if E::COMPLEX && dtype.is_complex() {
        if dtype.is_stored() {
            let y = calculate(&op, &*copy::as_type_in_order(&x, DType::Complex64)?)?;
            return copy::converted_in_order(&y, dtype);
        }
        return match E::SIGN {
            Some(Sign::Turned) => turned(&x),
            _ if const { E::COMPLEX_LOOPS } => dispatch!(complex dtype, T => {
                // A loop is vectorised in one piece only.
                compute::<T, T>(&x, dtype, #[inline(always)] move |x| T::from_complex(op.complex(x.to_complex())))
            }, else { unreachable!("there are two types of complex numbers") }),
            _ => compute_complex(&x, &|x| op.complex(x)),
        };
    }
    dispatch!(float dtype, T => match const { E::VECTOR.has::<T>() } {
        true => compute_function::<T>(&x, Vector(op)),
        false => compute::<T, T>(&x, dtype, op.loops()),
    }, else {
        if dtype.is_half() {
            if let Some(sign) = E::SIGN {
                return signed(&x, sign);
            }
            if let Some(elements) = x.slice::<i16>() {
                let mut y = Array::uninit(&x.layout, dtype)?;
                half::through(dtype, elements, None, y.fresh::<i16>(), &|numbers, _, made| {
                    let is_vector = const { E::VECTOR.has::<f32>() };
                    match is_vector {
                        true => vector::map_near(numbers, [], made, Vector(op)),
                        false => map::map_slice_in_place(numbers, op.loops()),
                    }
                    is_vector
                });
                return Ok(y);
            }
            let y = calculate(&op, &x.widened()?)?;
            return copy::converted_in_order(&y, dtype);
        }
        if dtype.is_stored() {
            if dtype == DType::UInt64 && E::UNSIGNED == Unsigned::Refused {
                return Err(op.refusal(dtype).into());
            }
            let y = calculate(&op, &stored::widened(&x, E::UNSIGNED)?)?;
            return copy::converted_in_order(&y, dtype);
        }
        if !E::LEAVES_INTEGERS {
            unreachable!("integers were converted or refused");
        }
        dispatch!(integer dtype, T => compute::<T, T>(&x, dtype, move |x| op.integer(x)), else {
            compute::<Bool, Bool>(&x, dtype, move |x| truth(&op, x))
        })
    })
}

/// Numbers of a half type with other signs, which are the first of their bits.
fn signed(x: &Array, sign: Sign) -> Result<Array> {
    match sign {
        Sign::Turned => compute::<i16, i16>(x, x.dtype, |bits| bits ^ i16::MIN),
        Sign::Dropped => compute::<i16, i16>(x, x.dtype, |bits| bits & i16::MAX),
    }
}

/// Complex numbers with other signs.
fn turned(x: &Array) -> Result<Array> {
    dispatch!(complex x.dtype, T => compute::<T, T>(x, x.dtype, T::negative), else {
        unreachable!("there are two types of complex numbers")
    })
}

/// A fresh array of a function of every complex number. The functions share their loops, and calculate in
/// double precision: complex numbers are rarer than real ones, and a copy of a kernel for each is not.
fn compute_complex(x: &Array, f: &(dyn Fn(Complex<f64>) -> Complex<f64> + Sync)) -> Result<Array> {
    dispatch!(complex x.dtype, T => {
        compute::<T, T>(x, x.dtype, |x| T::from_complex(f(x.to_complex())))
    }, else { unreachable!("there are two types of complex numbers") })
}

/// A fresh array of `f` of every element.
pub(crate) fn compute<S: Element, T: Element>(
    x: &Array,
    dtype: DType,
    f: impl Fn(S) -> T + Copy + Sync,
) -> Result<Array> {
    computed::<S, T>(x, dtype, &|elements, out| map::map_slice(elements, out, f))
}

/// What writes something of elements that lie in order.
type Visit<'a, S, T> = &'a (dyn Fn(&[S], &mut [MaybeUninit<T>]) + Sync);

/// A fresh array that `visit` writes, of elements that lie in order. One function for all that is written so.
pub(crate) fn computed<S: Element, T: Element>(
    x: &Array,
    dtype: DType,
    visit: Visit<'_, S, T>,
) -> Result<Array> {
    let (x, mut y, order) = prepared(x, dtype)?;
    match x.slice::<S>() {
        Some(elements) => visit(elements, y.fresh()),
        None => map::each_block(&x.strided::<S>(), y.fresh(), visit),
    }
    Ok(match order {
        Some(order) => order.restored(y),
        None => y,
    })
}

/// The operation as loops take it.
#[derive(Clone, Copy)]
pub(super) struct Vector<E>(pub(super) E);

impl<E: Elementwise> Function<0> for Vector<E> {
    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        self.0.vector(x)
    }

    const LITTLE: bool = E::LITTLE;

    const SLOW: bool = E::SLOW;

    const RARE: bool = E::RARE;

    const HAS_EASY: bool = E::HAS_EASY;

    #[inline(always)]
    fn is_easy<T: Real>(&self, x: T) -> bool {
        self.0.is_easy(x)
    }

    fn factor<T: Real>(&self) -> T {
        T::from_f64(self.0.factor())
    }

    const HAS_TWIN: bool = E::HAS_TWIN;

    #[inline(always)]
    fn has_twin<T: Real>(&self, x: T) -> bool {
        self.0.has_twin(x)
    }

    #[inline(always)]
    fn twin<A: Arithmetic>(&self, x: A) -> A {
        self.0.twin(x)
    }

    const HAS_NEAR: bool = E::HAS_NEAR;

    #[inline(always)]
    fn is_near<T: Real>(&self, x: T) -> bool {
        self.0.is_near(x)
    }

    #[inline(always)]
    fn near<A: Arithmetic>(&self, x: A) -> A {
        self.0.near(x)
    }

    const HAS_FAR: bool = E::HAS_FAR;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T, []: [T; 0]) -> bool {
        self.0.is_far(x)
    }

    fn far<T: Real>(&self, x: T, []: [T; 0]) -> T {
        self.0.real(x)
    }
}

/// `compute` of a function that is written for vectors.
pub(crate) fn compute_function<T: Real>(x: &Array, f: impl Function<0>) -> Result<Array> {
    computed::<T, T>(x, T::DTYPE, &|elements, out| vector::map(elements, [], out, f))
}

/// The operand with its dimensions in the order of its memory, room for the result, and the order in which the
/// result's dimensions then are, if it is not that of the operand.
fn prepared(x: &Array, dtype: DType) -> Result<(Cow<'_, Array>, Array, Option<MemoryOrder>)> {
    let order =
        if x.layout.is_contiguous() { None } else { MemoryOrder::of(x.layout.shape(), &[&x.layout])? };
    let x = match &order {
        Some(order) => Cow::Owned(order.sorted(x)),
        None => Cow::Borrowed(x),
    };
    let y = Array::uninit(&x.layout, dtype)?;
    Ok((x, y, order))
}

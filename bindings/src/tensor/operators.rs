//! What `+`, `<`, `bool()` and the other operators of the language do with a tensor: raw slots,
//! because PyO3's wrappers cost as much as a small operation.

#![allow(unsafe_code)]

mod kinds;
mod seen;

use rushlight::ops::linalg::matmul;
use std::ffi::{c_int, c_void};

use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::pyclass::CompareOp;
use rushlight::dispatch::modes::intercept;
use rushlight::dispatch::{binary as binary_ops, unary as unary_ops};
use rushlight::graph::observe::profile;
use rushlight::graph::observe::profile::Label;
use rushlight::ops;
use rushlight::ops::Operand;
use rushlight::ops::pointwise::logical::{BitAnd, BitNot, BitOr, BitXor, ShiftDown, ShiftUp};
use rushlight::ops::pointwise::{compare, division};
use rushlight::{Result, Tensor};
use smallvec::smallvec;

use super::index;
use super::numpy;
use super::object::{borrow, guarded, guarded_status, slot, wrap_raw};
use super::values;
use crate::error::raise;
use crate::overrides::{self, Method};
use crate::values::returns::ToPython;
use kinds::{binary, declined, in_place, operand, plain, unary};
use seen::{Operator, may_see, offered, offered_alone};

/// The slots of the tensor type that the language's operators reach.
pub(super) fn slots() -> Vec<ffi::PyType_Slot> {
    let mut slots = operations();
    slots.extend([
        slot(ffi::Py_nb_bool, truth as *mut c_void),
        slot(ffi::Py_nb_power, power as *mut c_void),
        slot(ffi::Py_nb_inplace_power, power_in_place as *mut c_void),
        slot(ffi::Py_tp_richcompare, compared as *mut c_void),
        slot(ffi::Py_nb_matrix_multiply, matrix_product as *mut c_void),
        slot(ffi::Py_mp_length, length as *mut c_void),
        slot(ffi::Py_mp_subscript, subscript as *mut c_void),
        slot(ffi::Py_mp_ass_subscript, assign_subscript as *mut c_void),
    ]);
    slots
}

/// Declares C functions for slots, one a line, and the list of them:
/// `unary Py_nb_negative ["neg"]: ops::neg;` gives `slot(ffi::Py_nb_negative, …)` with an `extern "C"`
/// function that calls `unary(object, …, |x| ops::neg(x))`. In brackets stand the
/// methods that the operator counts as, from the left and from the right; `python` are those that torch has in Python.
macro_rules! slots {
    ($($kind:ident $id:ident [$($methods:tt)*]: $operation:expr;)*) => {
        /// The slots that are alike.
        fn operations() -> Vec<ffi::PyType_Slot> {
            vec![$({
                static OPERATOR: Operator = slots!(@operator $($methods)*);
                slots!(@$kind function, $operation);
                slot(ffi::$id, function as *mut c_void)
            }),*]
        }
    };
    (@operator $both:literal) => { Operator::of($both) };
    (@operator $left:literal, $right:literal) => {
        Operator::new(Method::compiled($left), Method::compiled($right))
    };
    (@operator $left:literal, python $right:literal) => {
        Operator::new(Method::compiled($left), Method::in_python($right))
    };
    (@operator python $left:literal, python $right:literal) => {
        Operator::new(Method::in_python($left), Method::in_python($right))
    };
    (@binary $name:ident, $operation:expr) => {
        unsafe extern "C" fn $name(left: *mut ffi::PyObject, right: *mut ffi::PyObject) -> *mut ffi::PyObject {
            binary(left, right, &OPERATOR, |left, right| $operation(left, right))
        }
    };
    (@in_place $name:ident, $operation:expr) => {
        unsafe extern "C" fn $name(target: *mut ffi::PyObject, other: *mut ffi::PyObject) -> *mut ffi::PyObject {
            in_place(target, other, &OPERATOR, |target, other| $operation(target, other))
        }
    };
    (@unary $name:ident, $operation:expr) => {
        unsafe extern "C" fn $name(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
            unary(object, &OPERATOR, |tensor| $operation(tensor))
        }
    };
    (@plain $name:ident, $operation:expr) => {
        unsafe extern "C" fn $name(object: *mut ffi::PyObject) -> *mut ffi::PyObject {
            plain(object, &OPERATOR, |py, tensor| $operation(py, tensor))
        }
    };
}

/// The operands of what commutes: a number comes second.
fn tensor_first<'a>(a: Operand<'a>, b: Operand<'a>) -> (Operand<'a>, Operand<'a>) {
    if let Operand::Scalar(_) = a { (b, a) } else { (a, b) }
}

/// `a + b`
fn sum(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    let (a, b) = tensor_first(a, b);
    ops::add(a, b)
}

/// `a * b`
fn product(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    let (a, b) = tensor_first(a, b);
    ops::mul(a, b)
}

/// `a - b`; a number less a tensor is recorded from the tensor's side.
fn difference(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    match (a, b) {
        (Operand::Scalar(_), Operand::Tensor(_)) => ops::rsub(b, a),
        _ => ops::sub(a, b),
    }
}

/// `a / b`; a number divided by a tensor is that number of reciprocals.
fn quotient(a: Operand<'_>, b: Operand<'_>) -> Result<Tensor> {
    match (a, b) {
        (Operand::Scalar(_), Operand::Tensor(divisor)) => ops::mul(&ops::reciprocal(divisor)?, a),
        _ => ops::div(a, b),
    }
}

slots! {
    binary Py_nb_add ["add"]: sum;
    binary Py_nb_subtract ["sub", python "__rsub__"]: difference;
    binary Py_nb_multiply ["mul"]: product;
    binary Py_nb_true_divide ["div", python "__rtruediv__"]: quotient;
    binary Py_nb_floor_divide [python "__floordiv__", python "__rfloordiv__"]: division::floor_divide;
    binary Py_nb_remainder ["remainder", python "__rmod__"]: ops::remainder;
    binary Py_nb_and ["__and__", "bitwise_and"]: |a, b| binary_ops::apply(BitAnd, a, b);
    binary Py_nb_or ["__or__", "bitwise_or"]: |a, b| binary_ops::apply(BitOr, a, b);
    binary Py_nb_xor ["__xor__", "bitwise_xor"]: |a, b| binary_ops::apply(BitXor, a, b);
    binary Py_nb_lshift ["__lshift__", python "__rlshift__"]: |a, b| binary_ops::apply(ShiftUp, a, b);
    binary Py_nb_rshift ["__rshift__", python "__rrshift__"]: |a, b| binary_ops::apply(ShiftDown, a, b);
    in_place Py_nb_inplace_floor_divide ["floor_divide_"]: division::floor_divide_;
    in_place Py_nb_inplace_remainder ["remainder_"]: ops::remainder_;
    in_place Py_nb_inplace_and ["__iand__"]: |a, b| binary_ops::apply_in_place(BitAnd, a, b);
    in_place Py_nb_inplace_or ["__ior__"]: |a, b| binary_ops::apply_in_place(BitOr, a, b);
    in_place Py_nb_inplace_xor ["__ixor__"]: |a, b| binary_ops::apply_in_place(BitXor, a, b);
    in_place Py_nb_inplace_lshift ["__ilshift__"]: |a, b| binary_ops::apply_in_place(ShiftUp, a, b);
    in_place Py_nb_inplace_rshift ["__irshift__"]: |a, b| binary_ops::apply_in_place(ShiftDown, a, b);
    in_place Py_nb_inplace_add ["add_"]: ops::add_;
    in_place Py_nb_inplace_subtract ["sub_"]: ops::sub_;
    in_place Py_nb_inplace_multiply ["mul_"]: ops::mul_;
    in_place Py_nb_inplace_true_divide ["div_"]: ops::div_;
    unary Py_nb_negative ["neg"]: ops::neg;
    unary Py_nb_absolute ["abs"]: ops::abs;
    plain Py_nb_invert ["__invert__"]: inverted;
    unary Py_nb_positive ["positive"]: |x: &Tensor| Ok(x.clone());
    plain Py_nb_int ["__int__"]: values::to_int;
    plain Py_nb_float ["__float__"]: values::to_float;
    plain Py_nb_index ["__index__"]: values::to_index;
}

/// `len(x)`.
unsafe extern "C" fn length(object: *mut ffi::PyObject) -> ffi::Py_ssize_t {
    guarded_status(|py| {
        if let Some(answer) = asked(py, object, Method::in_python("__len__"))? {
            return answer.extract();
        }
        // SAFETY: slots are called with live objects; this one is reached through tensors only.
        let layout = unsafe { borrow(object) }.map(Tensor::layout);
        match layout.as_ref().and_then(|layout| layout.shape().first()) {
            Some(&size) => Ok(size as ffi::Py_ssize_t),
            None => Err(PyTypeError::new_err("len() of a 0-d tensor")),
        }
    })
}

static MATMUL: Operator = Operator::new(Method::compiled("matmul"), Method::in_python("__rmatmul__"));
static POWER: Operator = Operator::new(Method::in_python("pow"), Method::in_python("__rpow__"));
static POWER_IN_PLACE: Operator = Operator::of("pow_");

/// `x @ y`, of tensors only.
unsafe extern "C" fn matrix_product(
    left: *mut ffi::PyObject,
    right: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: slots are called with live objects, which the caller keeps during the call.
        let (known, seen) =
            unsafe { (borrow(left).zip(borrow(right)).is_some(), may_see(left) || may_see(right)) };
        if seen || !known {
            // SAFETY: as above.
            if let Some(answer) = unsafe { offered(py, &MATMUL, left, right)? } {
                return Ok(answer);
            }
        }
        // SAFETY: as above.
        match unsafe { (borrow(left), borrow(right)) } {
            (Some(left), Some(right)) => {
                let _profiled = profile::begin(Label::Function("matmul"), || {
                    smallvec![Some(profile::shape(left)), Some(profile::shape(right))]
                });
                Ok(wrap_raw(matmul::matmul(left, right).map_err(raise)?))
            }
            _ => Ok(declined(py)),
        }
    })
}

/// `x[key]`.
unsafe extern "C" fn subscript(object: *mut ffi::PyObject, key: *mut ffi::PyObject) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: slots are called with live objects, which the caller keeps during the call.
        if let Some(answer) = unsafe { offered_alone(py, Method::compiled("__getitem__"), object, &[key])? } {
            return Ok(answer);
        }
        // SAFETY: as above.
        let (tensor, key) = unsafe { (borrow(object), Bound::from_borrowed_ptr(py, key)) };
        match tensor {
            Some(tensor) => Ok(wrap_raw(index::get(tensor, &key)?)),
            None => Ok(declined(py)),
        }
    })
}

/// `x[key] = value`, and `del x[key]`, which comes without a value.
unsafe extern "C" fn assign_subscript(
    object: *mut ffi::PyObject,
    key: *mut ffi::PyObject,
    value: *mut ffi::PyObject,
) -> c_int {
    guarded_status(|py| {
        if !value.is_null() {
            let method = Method::compiled("__setitem__");
            // SAFETY: as in `subscript`.
            if let Some(answer) = unsafe { offered_alone(py, method, object, &[key, value])? } {
                // SAFETY: a new reference, of which nothing is wanted.
                drop(unsafe { Bound::from_owned_ptr(py, answer) });
                return Ok(0);
            }
        }
        // SAFETY: as in `subscript`; the value may be null.
        let (tensor, key, value) = unsafe {
            (borrow(object), Bound::from_borrowed_ptr(py, key), Bound::from_borrowed_ptr_or_opt(py, value))
        };
        match (tensor, value) {
            (Some(tensor), Some(value)) => index::set(tensor, &key, &value).map(|()| 0),
            _ => Err(PyTypeError::new_err("Tensor does not support deleting items")),
        }
    })
}

/// Shows a call of a method without arguments to those who want to see it.
#[inline]
fn asked<'py>(
    py: Python<'py>,
    object: *mut ffi::PyObject,
    method: Method,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    if !overrides::ever() {
        return Ok(None);
    }
    // SAFETY: slots are called with live objects, which the caller keeps during the call.
    let object = unsafe { Bound::from_borrowed_ptr(py, object) };
    overrides::offer_method(py, method, &[&object])
}

/// `bool(x)`: one, zero, or minus one with an exception set.
unsafe extern "C" fn truth(object: *mut ffi::PyObject) -> c_int {
    guarded_status(|py| {
        if let Some(answer) = asked(py, object, Method::compiled("__bool__"))? {
            let class = answer.get_type().name()?;
            let words = format!("__bool__ should return bool, returned {class}");
            return answer.extract::<bool>().map(i32::from).map_err(|_| PyTypeError::new_err(words));
        }
        // SAFETY: slots are called with live objects; this one is reached through tensors only.
        let tensor = unsafe { borrow(object) };
        tensor.map_or(Ok(true), values::is_true).map(i32::from)
    })
}

/// `~x`, of truth values and of bits.
fn inverted<'py>(py: Python<'py>, tensor: &Tensor) -> PyResult<Bound<'py, PyAny>> {
    if tensor.dtype().is_differentiable() {
        return Err(PyTypeError::new_err(
            "~ (operator.invert) is only implemented on integer and Boolean-type tensors",
        ));
    }
    unary_ops::apply(BitNot, tensor).to_python(py)
}

/// `x ** y`; the third argument of `pow` is not for tensors.
unsafe extern "C" fn power(
    base: *mut ffi::PyObject,
    exponent: *mut ffi::PyObject,
    modulus: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: `None` lives for ever.
    if modulus != unsafe { ffi::Py_None() } {
        return guarded(|py| Ok(declined(py)));
    }
    binary(base, exponent, &POWER, |base, exponent| ops::pow(base, exponent))
}

/// `x **= y`
unsafe extern "C" fn power_in_place(
    target: *mut ffi::PyObject,
    exponent: *mut ffi::PyObject,
    _modulus: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    in_place(target, exponent, &POWER_IN_PLACE, |target, exponent| ops::pow_(target, exponent))
}

/// The method that a comparison counts as.
fn comparison(operation: c_int) -> &'static Operator {
    static METHODS: [Operator; 6] = [
        Operator::of("lt"),
        Operator::of("le"),
        Operator::of("eq"),
        Operator::of("ne"),
        Operator::of("gt"),
        Operator::of("ge"),
    ];
    match operation {
        ffi::Py_LT => &METHODS[0],
        ffi::Py_LE => &METHODS[1],
        ffi::Py_EQ => &METHODS[2],
        ffi::Py_NE => &METHODS[3],
        ffi::Py_GT => &METHODS[4],
        _ => &METHODS[5],
    }
}

/// The six comparisons.
unsafe extern "C" fn compared(
    left: *mut ffi::PyObject,
    right: *mut ffi::PyObject,
    operation: std::ffi::c_int,
) -> *mut ffi::PyObject {
    let answer = match intercept::is_active() {
        true => compared_by_name(left, right, operation),
        false => binary(left, right, comparison(operation), |left, right| match operation {
            ffi::Py_LT => compare::lt(left, right),
            ffi::Py_LE => compare::le(left, right),
            ffi::Py_EQ => compare::eq(left, right),
            ffi::Py_NE => compare::ne(left, right),
            ffi::Py_GT => compare::gt(left, right),
            _ => compare::ge(left, right),
        }),
    };
    // SAFETY: it lives for ever.
    match operation == ffi::Py_EQ && answer == unsafe { ffi::Py_NotImplemented() } {
        true => equal_to_array(left, right, answer),
        false => answer,
    }
}

/// `x == array` of numpy's elements, as only this comparison has it; `declined` if there is no tensor of them.
#[cold]
fn equal_to_array(
    left: *mut ffi::PyObject,
    right: *mut ffi::PyObject,
    declined: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: slots are called with live objects, which the caller keeps during the call; the answer is owned.
        let (tensor, other, declined) = unsafe {
            (
                Bound::from_borrowed_ptr(py, left),
                Bound::from_borrowed_ptr(py, right),
                Bound::from_owned_ptr(py, declined),
            )
        };
        if !numpy::is_array(&other) {
            return Ok(declined.into_ptr());
        }
        match numpy::read(&other) {
            Ok(Some(elements)) => {
                tensor.rich_compare(elements.to_python(py)?, CompareOp::Eq).map(Bound::into_ptr)
            }
            Err(error) if !error.is_instance_of::<PyTypeError>(py) => Err(error),
            _ => Ok(declined.into_ptr()),
        }
    })
}

/// A comparison as the call of a method, which is shown to whoever intercepts operations.
#[cold]
fn compared_by_name(
    left: *mut ffi::PyObject,
    right: *mut ffi::PyObject,
    operation: c_int,
) -> *mut ffi::PyObject {
    guarded(|py| {
        // SAFETY: slots are called with live objects, which the caller keeps during the call.
        let ((true, true), left, right) = (unsafe {
            let fits = |object| Ok::<_, PyErr>(borrow(object).is_some() || operand(py, object)?.is_some());
            (
                (fits(left)?, fits(right)?),
                Bound::from_borrowed_ptr(py, left),
                Bound::from_borrowed_ptr(py, right),
            )
        }) else {
            return Ok(declined(py));
        };
        left.call_method1(comparison(operation).left.name, (right,)).map(Bound::into_ptr)
    })
}

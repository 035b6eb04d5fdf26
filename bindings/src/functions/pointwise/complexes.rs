//! Complex numbers: made of parts, read as parts, conjugated.
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, types};
use crate::functions::entries::{both, function, in_place, method};
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::ops::pointwise::compare;
use rushlight::ops::{complex, conjugate};
use rushlight::{Result, Tensor};

const ONE: &[&str] = &["(Tensor input)"];
const OUT: &[&str] = &["(Tensor input, *, Tensor out=None)"];
const YES_OR_NO: &[&str] = &["(Tensor input) -> bool"];

fn of(arguments: &Arguments<'_, '_>, operation: fn(&Tensor) -> Result<Tensor>) -> PyResult<Py<PyAny>> {
    operation(arguments.tensor(0)?).answer(arguments.py())
}

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    function(
        "complex",
        &["(Tensor real, Tensor imag, *, Tensor out=None)"],
        "Complex numbers of these real and imaginary parts.",
        |a| complex::complex(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.once().typed(types::combined)),
    function(
        "polar",
        &["(Tensor abs, Tensor angle, *, Tensor out=None)"],
        "Complex numbers of these magnitudes and angles.",
        |a| complex::polar(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    )
    .written(&OutPolicy::PLAIN.once().typed(types::combined)),
    function("real", ONE, "The real parts, on the same memory.", |a| of(a, conjugate::real)),
    function("imag", ONE, "The imaginary parts, on the same memory.", |a| of(a, conjugate::imag)),
    function("view_as_real", ONE, "Both parts along a last dimension, on the same memory.", |a| {
        of(a, conjugate::view_as_real)
    }),
    function(
        "view_as_complex",
        ONE,
        "Complex numbers of which a last dimension of two holds the parts, on the same memory.",
        |a| of(a, conjugate::view_as_complex),
    ),
    both("conj", ONE, "The conjugates, on the same memory.", |a| of(a, |x| conjugate::conj(x.clone()))),
    both("conj_physical", OUT, "The conjugates in memory of their own.", |a| of(a, complex::conj_physical))
        .written(&OutPolicy::ALIGNED.unknown("conj_physical").typed(types::found)),
    both("conj_physical_", ONE, "Every element conjugated in place.", |a| {
        in_place(a, complex::conj_physical_(a.tensor(0)?))
    }),
    both("resolve_conj", ONE, "The tensor with conjugates in memory, if they were only shown.", |a| {
        of(a, |x| if x.dtype().is_complex() { conjugate::resolve(x) } else { Ok(x.clone()) })
    }),
    both("resolve_neg", ONE, "The tensor with negatives in memory, if they were only shown.", |a| {
        of(a, |x| if x.dtype().is_complex() { Ok(x.clone()) } else { conjugate::resolve(x) })
    }),
    function("_neg_view", ONE, "The negatives, on the same memory.", |a| of(a, conjugate::negative_view)),
    both("angle", OUT, "The angle of every element.", |a| of(a, complex::angle)).written(&OutPolicy::ALIGNED),
    both("isreal", ONE, "Whether elements have no imaginary part.", |a| of(a, compare::isreal)),
    function("is_conj", YES_OR_NO, "Whether conjugates of the memory are shown.", |a| {
        is_conj(a.tensor(0)?).to_python(a.py()).map(Bound::unbind)
    }),
    function("is_neg", YES_OR_NO, "Whether negatives of the memory are shown.", |a| {
        is_neg(a.tensor(0)?).to_python(a.py()).map(Bound::unbind)
    }),
    method("_conj", ONE, "The conjugates, on the same memory.", |a| of(a, |x| conjugate::conj(x.clone()))),
];

/// Whether a tensor shows the conjugates of what lies in its memory.
pub(crate) fn is_conj(x: &Tensor) -> bool {
    x.is_pending() && x.dtype().is_complex()
}

/// Whether a tensor shows the negatives of what lies in its memory.
pub(crate) fn is_neg(x: &Tensor) -> bool {
    x.is_pending() && !x.dtype().is_complex()
}

//! Activations, most of which are reached from `nn.functional` only.
use crate::calls::callable::Function;
use crate::functions::entries::{in_place, inner};
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::dispatch::unary;
use rushlight::ops::neural::units::smooth_units::Gelu;

/// An operation with the arguments of the call, and its in-place form.
macro_rules! units {
    ($kind:ident, $signatures:expr, $name:literal, $underscored:literal, $doc:literal, $operation:expr) => {
        [
            $kind($name, $signatures, $doc, |a| unary::apply($operation(a)?, a.tensor(0)?).answer(a.py())),
            $kind($underscored, $signatures, concat!($doc, " In place."), |a| {
                in_place(a, unary::apply_in_place($operation(a)?, a.tensor(0)?))
            }),
        ]
    };
}

/// Operations and their in-place forms.
pub(in crate::functions) const PAIRS: &[Function] = FORMS.as_flattened();

const FORMS: &[[Function; 2]] = &[units!(
    inner,
    &["(Tensor input, *, str approximate=\"none\", Tensor out=None)"],
    "gelu",
    "gelu_",
    "The Gaussian error linear unit: x times the standard normal distribution function of x.",
    gelu
)];

fn gelu(a: &Arguments<'_, '_>) -> PyResult<Gelu> {
    match a.text(1)?.as_str() {
        "none" => Ok(Gelu { approximate: false }),
        "tanh" => Ok(Gelu { approximate: true }),
        _ => Err(PyRuntimeError::new_err("approximate argument must be either none or tanh.")),
    }
}

//! Activations, most of which are reached from `nn.functional` only.
use crate::calls::callable::Function;
use crate::error::raise;
use crate::functions::entries::{both, function, in_place, inner};
use crate::functions::factory::generator;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rushlight::dispatch::unary;
use rushlight::ops;
use rushlight::ops::neural::units::gated::{glu, rrelu, rrelu_};
use rushlight::ops::neural::units::prelu::prelu;
use rushlight::ops::neural::units::rectifiers::{
    Hardshrink, Hardsigmoid, Hardswish, Hardtanh, LeakyRelu, Softshrink, Threshold,
};
use rushlight::ops::neural::units::smooth_units::{Elu, Gelu, LogSigmoid, Mish, SELU, Silu, Softplus};
use rushlight::{Error, Tensor};

const ONE: &[&str] = &["(Tensor input)"];
const OUT: &[&str] = &["(Tensor input, *, Tensor out=None)"];
const SLOPE: &[&str] = &["(Tensor input, Number negative_slope=0.01, *, Tensor out=None)"];
const ELU: &[&str] =
    &["(Tensor input, Number alpha=1, Number scale=1, Number input_scale=1, *, Tensor out=None)"];
const CELU: &[&str] = &["(Tensor input, Number alpha=1.0)"];
const BOUNDS: &[&str] = &["(Tensor input, Number min_val=-1, Number max_val=1, *, Tensor out=None)"];
const THRESHOLD: &[&str] = &["(Tensor input, Number threshold, Number value, *, Tensor out=None)"];
const SHRUNK: &[&str] = &["(Tensor input, Number lambd=0.5, *, Tensor out=None)"];
const RANDOM: &[&str] = &[
    "(Tensor input, Number lower=0.125, Number upper=0.3333333333333333, bool training=False, Generator? generator=None)",
];

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

const FORMS: &[[Function; 2]] = &[
    units!(inner, SLOPE, "leaky_relu", "leaky_relu_", "The elements, negative ones scaled.", leaky_relu),
    units!(inner, ELU, "elu", "elu_", "The elements, negative ones bent to a bound.", elu),
    units!(function, CELU, "celu", "celu_", "The elements, negative ones bent smoothly to a bound.", celu),
    units!(function, ONE, "selu", "selu_", "`elu` with the factors that keep mean and variance.", selu),
    units!(inner, BOUNDS, "hardtanh", "hardtanh_", "The elements within bounds.", hardtanh),
    units!(
        function,
        THRESHOLD,
        "threshold",
        "threshold_",
        "The elements above a threshold, else a value.",
        threshold
    ),
    units!(inner, OUT, "hardsigmoid", "hardsigmoid_", "A straight line between 0 and 1.", |_: &Arguments<
        '_,
        '_,
    >| {
        PyResult::Ok(Hardsigmoid)
    }),
    units!(
        inner,
        OUT,
        "hardswish",
        "hardswish_",
        "The elements times `hardsigmoid` of them.",
        |_: &Arguments<'_, '_>| PyResult::Ok(Hardswish)
    ),
    units!(inner, OUT, "silu", "silu_", "The elements times `sigmoid` of them.", |_: &Arguments<'_, '_>| {
        PyResult::Ok(Silu)
    }),
    units!(
        inner,
        OUT,
        "mish",
        "mish_",
        "The elements times the tangent of `softplus` of them.",
        |_: &Arguments<'_, '_>| PyResult::Ok(Mish)
    ),
    units!(
        inner,
        &["(Tensor input, *, str approximate=\"none\", Tensor out=None)"],
        "gelu",
        "gelu_",
        "The elements times their normal distribution.",
        gelu
    ),
];

/// Those without an in-place form, and those that take no `out`.
pub(in crate::functions) const TABLE: &[Function] = &[
    both("relu", ONE, "Every element, and zero in place of negative ones.", |a| {
        ops::relu(a.tensor(0)?).answer(a.py())
    }),
    both("relu_", ONE, "`relu` in place.", |a| in_place(a, ops::relu_(a.tensor(0)?))),
    inner(
        "softplus",
        &["(Tensor input, Number beta=1, Number threshold=20, *, Tensor out=None)"],
        "A smooth form of `relu`.",
        |a| {
            let (beta, threshold) = (a.number(1)?, a.number(2)?);
            unary::apply(Softplus::new(beta, threshold), a.tensor(0)?).answer(a.py())
        },
    ),
    inner("log_sigmoid", OUT, "The logarithm of `sigmoid`.", |a| {
        unary::apply(LogSigmoid, a.tensor(0)?).answer(a.py())
    }),
    both("hardshrink", SHRUNK, "The elements, those near zero made zero.", |a| {
        unary::apply(Hardshrink { lambda: a.number(1)?.to_f64() }, a.tensor(0)?).answer(a.py())
    }),
    inner("softshrink", SHRUNK, "The elements moved towards zero.", |a| {
        let (x, lambda) = (a.tensor(0)?, a.number(1)?.to_f64());
        if x.dtype().is_float() && lambda < 0.0 {
            return Err(raise(Error::SoftshrinkLambda { value: lambda, dtype: x.dtype() }.into()));
        }
        unary::apply(Softshrink { lambda }, x).answer(a.py())
    }),
    inner(
        "glu",
        &["(Tensor input, int dim=-1, *, Tensor out=None)"],
        "Half of a dimension, weighed by the other.",
        |a| glu(a.tensor(0)?, a.int(1)?).answer(a.py()),
    ),
    both("prelu", &["(Tensor input, Tensor weight)"], "The elements, negative ones times a weight.", |a| {
        prelu(a.tensor(0)?, a.tensor(1)?).answer(a.py())
    }),
    function("rrelu", RANDOM, "The elements, negative ones times a number drawn for each.", |a| {
        let (x, lower, upper) = drawn(a)?;
        rrelu(x, lower, upper, a.boolean(3), generator(a, 4).as_ref()).answer(a.py())
    }),
    function("rrelu_", RANDOM, "`rrelu` in place.", |a| {
        let (x, lower, upper) = drawn(a)?;
        in_place(a, rrelu_(x, lower, upper, a.boolean(3), generator(a, 4).as_ref()))
    }),
];

fn drawn<'a>(a: &Arguments<'a, '_>) -> PyResult<(&'a Tensor, f64, f64)> {
    Ok((a.tensor(0)?, a.number(1)?.to_f64(), a.number(2)?.to_f64()))
}

fn leaky_relu(a: &Arguments<'_, '_>) -> PyResult<LeakyRelu> {
    Ok(LeakyRelu { slope: a.number(1)?.to_f64() })
}

fn elu(a: &Arguments<'_, '_>) -> PyResult<Elu<false>> {
    let [alpha, scale, input_scale] = [a.number(1)?.to_f64(), a.number(2)?.to_f64(), a.number(3)?.to_f64()];
    Ok(Elu { alpha, scale, input_scale })
}

fn celu(a: &Arguments<'_, '_>) -> PyResult<Elu<true>> {
    let alpha = a.number(1)?.to_f64();
    if alpha == 0.0 {
        return Err(raise(Error::CeluAlpha {}.into()));
    }
    Ok(Elu { alpha, scale: 1.0, input_scale: 1.0 / alpha })
}

fn selu(_: &Arguments<'_, '_>) -> PyResult<Elu<false>> {
    Ok(SELU)
}

fn hardtanh(a: &Arguments<'_, '_>) -> PyResult<Hardtanh> {
    if a.tensor(0)?.dtype() == rushlight::dtype::DType::Bool {
        return Err(raise(Error::HardtanhBool {}.into()));
    }
    let (min, max) = (a.number(1)?, a.number(2)?);
    if min.to_f64() > max.to_f64() {
        return Err(raise(Error::BoundsOrder {}.into()));
    }
    Ok(Hardtanh::new(min, max))
}

fn threshold(a: &Arguments<'_, '_>) -> PyResult<Threshold> {
    Ok(Threshold::new(a.number(1)?, a.number(2)?))
}

fn gelu(a: &Arguments<'_, '_>) -> PyResult<Gelu> {
    match a.text(1)?.as_str() {
        "none" => Ok(Gelu { approximate: false }),
        "tanh" => Ok(Gelu { approximate: true }),
        _ => Err(PyRuntimeError::new_err("approximate argument must be either none or tanh.")),
    }
}

//! The entries of smooth activations.

use super::*;
use crate::ops::neural::units::parameter;

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("CeluBackward0", "celu(Tensor self, Scalar alpha=1.) -> Tensor"),
    ("EluBackward0", "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor"),
    ("GeluBackward0", "gelu(Tensor self, *, str approximate=\"none\") -> Tensor"),
    ("MishBackward0", "mish(Tensor self) -> Tensor"),
    ("SiluBackward0", "silu(Tensor self) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    units!(
        inner,
        ELU,
        "elu",
        "elu_",
        "The exponential linear unit: x above zero, `alpha * (exp(x) - 1)` below.",
        elu
    ),
    units!(
        function,
        CELU,
        "celu",
        "celu_",
        "The continuously differentiable exponential linear unit: max(0, x) + min(0, alpha (exp(x / alpha) - 1)).",
        celu
    ),
    units!(
        function,
        ONE,
        "selu",
        "selu_",
        "The scaled exponential linear unit, which keeps mean and variance.",
        selu
    ),
    units!(
        inner,
        ONE_OUT,
        "silu",
        "silu_",
        "The sigmoid linear unit (swish): x * sigmoid(x).",
        |_: &dyn Arguments| { Result::Ok(Silu) }
    ),
    units!(
        inner,
        ONE_OUT,
        "mish",
        "mish_",
        "The Mish activation: x * tanh(softplus(x)).",
        |_: &dyn Arguments| Result::Ok(Mish)
    ),
    units!(
        inner,
        &["(Tensor input, *, str approximate=\"none\", Tensor out=None)"],
        "gelu",
        "gelu_",
        "The Gaussian error linear unit: x times the standard normal distribution function of x.",
        gelu
    ),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner(
        "softplus",
        &["(Tensor input, Number beta=1, Number threshold=20, *, Tensor out=None)"],
        "The softplus of every element: log(1 + exp(beta * x)) / beta.",
        |a| {
            let (beta, threshold) = (parameter(a, 1)?, parameter(a, 2)?);
            unary::apply(Softplus::new(beta, threshold), a.tensor(0)?).reply()
        },
    )
    .operators(&[("SoftplusBackward0", "softplus")]),
    inner("log_sigmoid", ONE_OUT, "The logarithm of the sigmoid of every element.", |a| {
        unary::apply(LogSigmoid, a.tensor(0)?).reply()
    })
    .operators(&[(
        "LogSigmoidBackward0",
        "log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)",
    )]),
];

fn elu(a: &dyn Arguments) -> Result<Elu<false>> {
    let [alpha, scale, input_scale] =
        [parameter(a, 1)?.to_f64(), parameter(a, 2)?.to_f64(), parameter(a, 3)?.to_f64()];
    Ok(Elu { alpha, scale, input_scale })
}

fn celu(a: &dyn Arguments) -> Result<Elu<true>> {
    let alpha = parameter(a, 1)?.to_f64();
    if alpha == 0.0 {
        return Err(Error::CeluAlpha {}.into());
    }
    Ok(Elu { alpha, scale: 1.0, input_scale: 1.0 / alpha })
}

fn selu(_: &dyn Arguments) -> Result<Elu<false>> {
    Ok(SELU)
}

fn gelu(a: &dyn Arguments) -> Result<Gelu> {
    match a.text(1)?.as_str() {
        "none" => Ok(Gelu { approximate: false }),
        "tanh" => Ok(Gelu { approximate: true }),
        _ => Err(Error::GeluApproximation {}.into()),
    }
}

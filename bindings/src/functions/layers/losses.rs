//! Losses as `nn.functional` calls them: with the reduction as a number.
use crate::calls::callable::Function;
use crate::functions::entries::{function, inner};
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::prelude::*;
use rushlight::ops::neural::loss::Reduction;
use rushlight::ops::neural::loss::binary::binary_cross_entropy_with_logits;
use rushlight::ops::neural::loss::cross_entropy::cross_entropy;
use rushlight::ops::neural::loss::nll::nll_loss;
use rushlight::ops::neural::loss::probability::binary_cross_entropy;
use rushlight::ops::neural::loss::robust::{huber_loss, l1_loss, smooth_l1_loss};
use rushlight::ops::neural::loss::squared::mse_loss;

/// The entries.
pub(in crate::functions) const TABLE: &[Function] = &[
    inner(
        "mse_loss",
        &["(Tensor input, Tensor target, int reduction=1, *, Tensor out=None)"],
        "The squared differences.",
        |a| mse_loss(a.tensor(0)?, a.tensor(1)?, reduction(a, 2)?).answer(a.py()),
    ),
    inner("l1_loss", &["(Tensor input, Tensor target, int reduction=1)"], "The absolute differences.", |a| {
        l1_loss(a.tensor(0)?, a.tensor(1)?, reduction(a, 2)?).answer(a.py())
    }),
    inner(
        "smooth_l1_loss",
        &["(Tensor input, Tensor target, int reduction=1, float beta=1.0, *, Tensor out=None)"],
        "Squared differences where they are small, absolute ones elsewhere.",
        |a| smooth_l1_loss(a.tensor(0)?, a.tensor(1)?, reduction(a, 2)?, a.float(3)?).answer(a.py()),
    ),
    inner(
        "huber_loss",
        &["(Tensor input, Tensor target, int reduction=1, float delta=1.0, *, Tensor out=None)"],
        "Squared differences where they are small, absolute ones elsewhere.",
        |a| huber_loss(a.tensor(0)?, a.tensor(1)?, reduction(a, 2)?, a.float(3)?).answer(a.py()),
    ),
    inner(
        "nll_loss_nd",
        &["(Tensor input, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100)"],
        "The negative log-likelihood of classes.",
        |a| {
            let weight = a.optional_tensor(2);
            nll_loss(a.tensor(0)?, a.tensor(1)?, weight, reduction(a, 3)?, a.int(4)?).answer(a.py())
        },
    ),
    inner(
        "cross_entropy_loss",
        &[
            "(Tensor input, Tensor target, Tensor? weight=None, int reduction=1, int ignore_index=-100, float label_smoothing=0.0)",
        ],
        "The cross entropy of logits and classes, or their probabilities.",
        |a| {
            let (weight, reduction, ignored) = (a.optional_tensor(2), reduction(a, 3)?, a.int(4)?);
            cross_entropy(a.tensor(0)?, a.tensor(1)?, weight, reduction, ignored, a.float(5)?).answer(a.py())
        },
    ),
    inner(
        "binary_cross_entropy",
        &["(Tensor input, Tensor target, Tensor? weight=None, int reduction=1, *, Tensor out=None)"],
        "The cross entropy of probabilities.",
        |a| {
            let weight = a.optional_tensor(2);
            binary_cross_entropy(a.tensor(0)?, a.tensor(1)?, weight, reduction(a, 3)?).answer(a.py())
        },
    ),
    function(
        "binary_cross_entropy_with_logits",
        &["(Tensor input, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1)"],
        "The cross entropy of logits and probabilities.",
        |a| {
            let (weight, positive) = (a.optional_tensor(2), a.optional_tensor(3));
            binary_cross_entropy_with_logits(a.tensor(0)?, a.tensor(1)?, weight, positive, reduction(a, 4)?)
                .answer(a.py())
        },
    ),
];

fn reduction(arguments: &Arguments<'_, '_>, index: usize) -> PyResult<Reduction> {
    arguments.int(index).map(Reduction::from_number)
}

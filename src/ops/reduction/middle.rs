//! The element in the middle of all.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Arguments, Entry, IntoReply, OutPolicy, Reply, Types, both};
use smallvec::smallvec;

use crate::dispatch::apply::{Arrays, Keep, Op, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, Samples, plumbing};
use crate::dtype::{DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::ops::creation::copy;
use crate::ops::geometry::reshape;
use crate::ops::mul;
use crate::ops::reduction::extremes_over;
use crate::ops::reduction::over::Over;
use crate::ops::sorting::picked;
use crate::tensor::{Array, Tensor};

/// y = the median of x
///
/// With w = 1/n where x is one of the n elements that are y and 0 elsewhere: dy = Σ w dx, x̄ = w ȳ.
#[derive(Clone, Copy)]
struct Middle {
    numbers_only: bool,
}

impl Middle {
    /// The medians of the rows of a matrix.
    fn of_rows(self, x: &Tensor) -> Result<Tensor> {
        picked::median(x, 1, false, self.numbers_only).map(|(values, _)| values)
    }
}

impl Op for Middle {
    type Saved = [SavedTensor; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        if self.numbers_only { "NanmedianBackward0" } else { "MedianBackward0" }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        if x.layout.numel() == 0 {
            return Ok(smallvec![Array::from_scalar(of_nothing(x.dtype), x.dtype)?]);
        }
        let row = copy::in_order(x)?.in_shape(&[x.layout.numel()])?;
        Ok(smallvec![picked::middle(&row, self.numbers_only)?])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [keep.input(0), keep.output(0)]
    }

    fn vjp(&self, [x, y]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (x, y) = (at.load(x)?, at.load(y)?);
        one(extremes_over::shared(&Over::new(None, false, &x)?, &x, &y, single(gradients), true)?)
    }

    fn jvp(&self, [x, y]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (x, y) = (at.load(x)?, at.load(y)?);
        let over = Over::new(None, false, &x)?;
        one(over.sum(&mul(&extremes_over::shares(&over, &x, &y, false)?, tangent(tangents))?)?)
    }

    fn plumbing(&self) -> &'static str {
        plumbing::REDUCTION
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let (x, numel) = (&call.inputs[0], call.inputs[0].shape().iter().product());
        let rows = reshape::reshape_to(&x.front(call.size)?, &[call.size, numel])?;
        Ok(smallvec![Samples::first(self.of_rows(&rows)?)])
    }
}

/// The median of no elements: what is no number, or what a processor makes of that as an integer.
fn of_nothing(dtype: DType) -> Scalar {
    match dtype {
        DType::Int64 => i64::MIN.into(),
        DType::Int32 => i64::from(i32::MIN).into(),
        DType::Bool => true.into(),
        _ if !dtype.is_differentiable() => 0.into(),
        _ => f64::NAN.into(),
    }
}

/// The element in the middle of all; with `numbers_only`, of those that are numbers.
pub fn median_of_all(x: &Tensor, numbers_only: bool) -> Result<Tensor> {
    if (x.dtype() == DType::Bool || x.dtype().is_complex()) && x.numel() > 0 {
        return Err(Error::NotImplementedFor { operation: "median_cpu", dtype: x.dtype() }.into());
    }
    apply_one(Middle { numbers_only }, &[x])
}

macro_rules! middle {
    ($name:literal) => {
        &[
            "(Tensor input)",
            concat!(
                "(Tensor input, int dim, bool keepdim=False, *, Tensor[] out=None) -> return_types.",
                $name
            ),
        ]
    };
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "median",
        middle!("median"),
        "The median of all elements, or along a dimension with its index.",
        |a| middle(a, "median", false),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same).out_as(|_| ".dim_values"))
    .operators(&[("MedianBackward0", "median(Tensor self) -> Tensor")]),
    both(
        "nanmedian",
        middle!("nanmedian"),
        "The median, ignoring NaN, of all elements, or along a dimension with its index.",
        |a| middle(a, "nanmedian", true),
    )
    .written(&OutPolicy::PLAIN.typed(Types::Same).out_as(|_| ".dim_values"))
    .operators(&[("NanmedianBackward0", "nanmedian(Tensor self) -> Tensor")]),
];

fn middle(a: &dyn Arguments, class: &'static str, numbers_only: bool) -> Result<Reply> {
    match a.overload() {
        0 => median_of_all(a.tensor(0)?, numbers_only).reply(),
        _ => picked::median(a.tensor(0)?, a.int(1)?, a.boolean(2), numbers_only).named(class),
    }
}

plain! {
    struct Middle { numbers_only }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Middle>("median")];

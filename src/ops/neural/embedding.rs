//! Rows of a table by their number.

use crate::dispatch::apply::Outputs;
use crate::dispatch::apply::portable;
use crate::dispatch::direct::{Direct, misfit};
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::operand::Value;
use crate::graph::Attributes;
use crate::graph::shown::shown;
use crate::schema::{Entry, IntoReply, function};

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, Unsigned, apply_one, one, single, tangent};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::modes::recording;
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::{At, Gradients, SavedTensor};
use crate::ops::creation::{cast, create};
use crate::ops::geometry::reshape;
use crate::ops::indexing::directly::{Named, What};
use crate::ops::indexing::{along, gather};
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select::masked_fill;
use crate::ops::{add, div};
use crate::shape::{self, SharedLayout};
use crate::tensor::{Array, Tensor};

/// y = the rows of w that the indices name
///
/// dy are those of dw; w̄ = ȳ added to zeros at the rows, but for the one that stands for padding
#[derive(Clone)]
struct Embedding {
    indices: Tensor,
    padding: Option<i64>,
    by_frequency: bool,
    /// The rows of a table, of which there may be many one after the other.
    rows: i64,
}

impl Embedding {
    fn rows(&self, weight: &Tensor) -> Result<Tensor> {
        let flat = reshape::reshape(&self.indices, &[-1])?;
        let rows = along::index_select(weight, 0, &flat)?;
        let mut shape = shape::signed(self.indices.layout().shape());
        shape.push(weight.layout().shape()[1] as i64);
        reshape::reshape(&rows, &shape)
    }

    /// How much the gradient of each index counts, as a column: one over how often the index is there.
    fn counts(flat: &Tensor, rows: i64, dtype: DType) -> Result<Tensor> {
        let ones = create::full(&[flat.numel() as i64], 1.into(), dtype)?;
        let totals = along::index_add(&create::zeros(&[rows], dtype)?, 0, flat, &ones, 1.into())?;
        let flat = cast::to_dtype(flat, DType::Int64)?;
        reshape::reshape(&gather::gather(&totals, 0, &flat)?, &[-1, 1])
    }
}

impl Embedding {
    /// The gradient of the table.
    fn gradient(&self, indices: &Tensor, g: &Tensor, table: &SharedLayout) -> Result<Tensor> {
        let shape = shape::signed(table.shape());
        let flat = reshape::reshape(indices, &[-1])?;
        let mut rows = reshape::reshape(g, &[flat.numel() as i64, shape[1]])?;
        if let Some(padding) = self.padding {
            // Whatever comes for padding is left out, also what is no number.
            let row = reshape::reshape(&crate::ops::remainder(&flat, self.rows)?, &[-1, 1])?;
            rows = masked_fill(&rows, &compare::eq(&row, padding)?, 0.0)?;
        }
        if self.by_frequency {
            rows = div(&rows, &Self::counts(&flat, shape[0], g.dtype())?)?;
        }
        along::index_add(&create::zeros(&shape, g.dtype())?, 0, &flat, &rows, 1.into())
    }
}

impl Op for Embedding {
    type Saved = (SavedTensor, SharedLayout);
    const UNSIGNED: Unsigned = Unsigned::Wrapped;
    const SAVED: &'static [&'static str] = &["indices"];

    fn name(&self) -> &'static str {
        "EmbeddingBackward0"
    }

    fn shown(&self, (_, table): &Self::Saved) -> Attributes {
        shown! {
            padding_idx: self.padding.unwrap_or(-1),
            scale_grad_by_freq: self.by_frequency,
            sparse: false,
            weight_sym_argsize_0: table.shape()[0],
        }
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        Ok(smallvec![along::rows(&inputs[0], &self.indices.array())?])
    }

    fn direct(&self) -> Option<Arc<dyn Direct>> {
        Some(Arc::new(Named { dim: 0, what: What::Slices { negative: false } }))
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        (SavedTensor::constant(&self.indices), keep.layout(0))
    }

    fn vjp(&self, (indices, table): &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        at.load(indices)?;
        let own = TableGradient { of: self.clone(), table: table.clone() };
        let operands = [&self.indices, single(gradients)];
        let found = recording::as_one_of("EmbeddingBackward0", &operands, 1, own);
        found.map(|found| found.into_iter().map(Some).collect())
    }

    fn jvp(&self, (indices, _): &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        at.load(indices)?;
        one(self.rows(tangent(tangents))?)
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        // The rows of all samples are so many rows of one table, or of tables one after the other.
        let (table, mut indices) = (&call.inputs[0], call.held[0].front(call.size)?);
        let table = match table.dim {
            None => table.value.clone(),
            Some(_) => {
                let rows = table.shape()[0] as i64;
                let first = (0..call.size as i64).map(|sample| sample * rows).collect::<Vec<_>>();
                let mut line = vec![1; indices.ndim()];
                line[0] = call.size as i64;
                let first = reshape::reshape(&Tensor::from_slice(&[call.size], &first)?, &line)?;
                indices = add(&indices, &first)?;
                reshape::flatten(&table.moved(0)?, 0, 1)?
            }
        };
        let y = apply_one(Embedding { indices, ..self.clone() }, &[&table])?;
        Ok(smallvec![Samples::first(y)])
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        smallvec![self.indices.clone()]
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        Ok(Embedding { indices: held[0].clone(), ..*self })
    }
}

/// The gradient of a table that lies so, of indices and a gradient, as a recorded operation.
#[derive(Clone)]
struct TableGradient {
    of: Embedding,
    table: SharedLayout,
}

impl Portable for TableGradient {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let [indices, g] = intercept::tensors(operands)[..] else { return Err(misfit()) };
        self.of.gradient(indices, g, &self.table).map(|found| smallvec![found])
    }
}

/// Whether all indices are of one of so many rows.
#[derive(Clone)]
struct Within {
    rows: i64,
}

impl Portable for Within {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let indices = intercept::only(operands)?.to_vec::<i64>()?;
        match indices.iter().any(|&index| index < 0 || index >= self.rows) {
            true => Err(Error::IndexSelectRange {}.into()),
            false => Ok(Outputs::new()),
        }
    }
}

/// The rows of `weight` that `indices` name. The one at `padding` gets no gradient; with
/// `by_frequency` gradients are shared by the times that a row is named.
pub fn embedding(
    weight: &Tensor,
    indices: &Tensor,
    padding: Option<i64>,
    by_frequency: bool,
) -> Result<Tensor> {
    if weight.ndim() != 2 {
        return Err(Error::EmbeddingWeight {}.into());
    }
    if !matches!(indices.dtype(), DType::Int32 | DType::Int64) {
        return Err(Error::EmbeddingDType { dtype: indices.dtype() }.into());
    }
    let rows = weight.layout().shape()[0] as i64;
    recording::checked_by("EmbeddingBackward0", &[indices], Within { rows })?;
    let op = Embedding { indices: indices.detach(), padding, by_frequency, rows };
    apply_one(op, &[weight])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[function(
    "embedding",
    &[
        "(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False)",
    ],
    "The rows of an embedding matrix at the given indices.",
    |a| {
        let padding = Some(a.int(2)?).filter(|&padding| padding >= 0);
        embedding(a.tensor(0)?, a.tensor(1)?, padding, a.boolean(3)).reply()
    },
)
    .operators(&[("EmbeddingBackward0", "embedding")])];

plain! {
    struct Embedding { indices, padding, by_frequency, rows }
    struct TableGradient { of, table }
    struct Within { rows }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[
    portable::row::<Embedding>("embedding"),
    Row::of::<TableGradient>("embedding gradient"),
    Row::of::<Within>("rows are there"),
];

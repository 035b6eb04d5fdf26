//! The gradients of a convolution, recorded as one operation.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::Operator;
use smallvec::smallvec;

use super::convolution::Convolution;
use super::correlation::Correlation;
use crate::dispatch::accumulate;
use crate::dispatch::apply::{Arrays, Keep, Op, apply};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::memory_order;
use crate::error::Result;
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor};
use crate::ops::reduction::over::Over;
use crate::tensor::{Array, Tensor};

/// x̄, w̄ and b̄ from ȳ, x and w, as far as they are wanted
///
/// They are linear in each of the three. With gradients X, W and B of them, that of ȳ is w ∗ X + W ∗ x + B,
/// that of x is x̄ of W in the place of w, and that of w is w̄ of X in the place of x. Tangents of them add
/// up in the same way.
#[derive(Clone)]
struct ConvolutionGradients {
    correlation: Correlation,
    wanted: [bool; 3],
}

impl ConvolutionGradients {
    /// The gradients that are wanted, in their order, of what is mapped over samples.
    fn of_samples(&self, g: &Tensor, x: &Tensor, w: &Tensor) -> Result<Gradients> {
        let toward = |index: usize| match index {
            2 => Convolution::summed(g),
            _ => self.correlation.toward(index, [x, w], g),
        };
        (0..3).filter(|&index| self.wanted[index]).map(|index| toward(index).map(Some)).collect()
    }

    /// The gradients that are wanted, in their order, of arrays. Images and kernels have their channels last if either operand
    /// has.
    fn numbers(&self, g: &Array, x: &Array, w: &Array) -> Result<Arrays> {
        let last = x.layout.ndim() > 3 && self.correlation.has_channels_last(x, w);
        let toward = |index: usize| match index {
            2 => Over::but(1, g.layout.ndim()).sum_numbers(g, None),
            _ => {
                let found = self.correlation.numbers_toward(index, [x, w], g)?;
                if last { memory_order::channels_last(found) } else { Ok(found) }
            }
        };
        (0..3).filter(|&index| self.wanted[index]).map(toward).collect()
    }

    /// What was said of those that are wanted, of all three.
    fn all<'a>(&self, found: &'a [Option<Tensor>]) -> [Option<&'a Tensor>; 3] {
        let mut found = found.iter();
        self.wanted.map(|wanted| if wanted { found.next().and_then(Option::as_ref) } else { None })
    }
}

/// The sum of what there is.
fn total(terms: impl IntoIterator<Item = Option<Tensor>>) -> Result<Option<Tensor>> {
    terms.into_iter().flatten().map(Ok).reduce(|sum, term| accumulate::add(&sum?, &term?)).transpose()
}

impl Op for ConvolutionGradients {
    type Saved = [SavedTensor; 3];
    const SAVED: &'static [&'static str] = &["grad_output", "input", "weight"];

    fn name(&self) -> &'static str {
        "ConvolutionBackwardBackward0"
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        self.correlation.options()
    }

    fn dispatch_attributes(&self) -> Attributes {
        let bias = if self.wanted[2] { self.correlation.channels() } else { 0 };
        let wanted = self.wanted.map(usize::from);
        shown! { bias_sizes: &[bias][..], output_mask: &wanted[..] }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        self.wanted.into_iter().filter(|&wanted| wanted).count()
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        self.numbers(&inputs[0], &inputs[1], &inputs[2])
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [0, 1, 2].map(|index| keep.input(index))
    }

    fn vjp(&self, [g, x, w]: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let (g, x, w) = (at.load(g)?, at.load(x)?, at.load(w)?);
        let ([to_x, to_w, to_b], correlation) = (self.all(gradients), &self.correlation);
        let of_g = || {
            let moved = correlation.moved([&x, &w], [to_x, to_w])?;
            total([moved, to_b.map(|bias| Convolution::spread_to(bias, &g)).transpose()?])
        };
        let of_x = || to_w.map(|to_w| correlation.toward(0, [&x, to_w], &g)).transpose();
        let of_w = || to_x.map(|to_x| correlation.toward(1, [to_x, &w], &g)).transpose();
        Ok(smallvec![
            if at.needs(0) { of_g()? } else { None },
            if at.needs(1) { of_x()? } else { None },
            if at.needs(2) { of_w()? } else { None },
        ])
    }

    fn jvp(&self, [g, x, w]: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let (g, x, w) = (at.load(g)?, at.load(x)?, at.load(w)?);
        let [dg, dx, dw] = [0, 1, 2].map(|index| tangents.get(index).and_then(Option::as_ref));
        let toward = |index: usize, x: &Tensor, w: &Tensor, g: Option<&Tensor>| {
            g.map(|g| self.correlation.toward(index, [x, w], g)).transpose()
        };
        let moved = |index: usize| match index {
            0 => total([toward(0, &x, &w, dg)?, toward(0, &x, dw.unwrap_or(&w), dw.map(|_| &g))?]),
            1 => total([toward(1, &x, &w, dg)?, toward(1, dx.unwrap_or(&x), &w, dx.map(|_| &g))?]),
            _ => dg.map(Convolution::summed).transpose(),
        };
        (0..3).filter(|&index| self.wanted[index]).map(moved).collect()
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("of batched tensors the gradients are computed one by one")
    }
}

/// The gradients of the inputs that are `wanted`: of the input, the weight and the bias.
pub(super) fn gradients(
    correlation: &Correlation,
    wanted: [bool; 3],
    [x, w, g]: [&Tensor; 3],
) -> Result<[Option<Tensor>; 3]> {
    let op = ConvolutionGradients { correlation: correlation.clone(), wanted };
    let found: Gradients = match batch::highest([x, w, g]) {
        Some(_) => op.of_samples(g, x, w)?,
        None => apply(op.clone(), &[g, x, w])?.into_iter().map(Some).collect(),
    };
    Ok(op.all(&found).map(|found| found.cloned()))
}

/// What torch's dispatcher calls the operators that no entry names.
pub(crate) const OPERATORS: &[Operator] = &[(
    "ConvolutionBackwardBackward0",
    "convolution_backward(Tensor grad_output, Tensor input, Tensor weight, int[]? bias_sizes, int[] stride, int[] padding, int[] dilation, bool transposed, int[] output_padding, int groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
)];

plain! {
    struct ConvolutionGradients { correlation, wanted }
}

/// How these are written as plain data.
pub(crate) const ROWS: &[Row] = &[portable::row::<ConvolutionGradients>("convolution gradients")];

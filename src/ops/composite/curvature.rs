//! What the last changes of gradients say of the curvature: the direction of a step of L-BFGS.

use crate::dispatch::binary;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::ops;
use crate::ops::linalg::products::dot;
use crate::ops::pointwise::arithmetic::{Add, Sub};
use crate::schema::{Entry, Reply, inner};
use crate::storage;
use crate::tensor::Tensor;

/// How a gradient changed over a step, the step, and one by the product of both.
struct Turn<'a> {
    change: &'a Tensor,
    step: &'a Tensor,
    share: &'a Tensor,
}

impl Turn<'_> {
    /// How much of a direction is along one of both.
    fn weight(&self, along: &Tensor, direction: &Tensor) -> Result<Tensor> {
        ops::mul(&dot(along, direction)?, self.share)
    }
}

fn number(x: &Tensor) -> Result<Scalar> {
    x.item().map(|number| Scalar::Float(number.to_f64()))
}

/// Minus the product of the estimated inverse of the second derivatives with a gradient, from turns of which the last is
/// the latest, and the weights of these (two loops, one back and one forth).
fn direction(gradient: &Tensor, turns: &[Turn<'_>], scale: &Tensor) -> Result<Vec<Tensor>> {
    let direction = ops::neg(gradient)?;
    let mut found = storage::room(turns.len() + 1)?;
    for turn in turns.iter().rev() {
        let weight = turn.weight(turn.step, &direction)?;
        binary::apply_in_place(Sub { alpha: number(&weight)? }, &direction, turn.change.into())?;
        found.push(weight);
    }
    ops::mul_(&direction, scale)?;
    for (turn, weight) in turns.iter().zip(found.iter().rev()) {
        let rest = ops::sub(weight, &turn.weight(turn.change, &direction)?)?;
        binary::apply_in_place(Add { alpha: number(&rest)? }, &direction, turn.step.into())?;
    }
    found.push(direction);
    found.reverse();
    Ok(found)
}

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "lbfgs_direction",
    &[
        "(Tensor gradient, Tensor[] changes, Tensor[] steps, Tensor[] shares, Tensor scale) -> tuple[Tensor, ...]",
    ],
    "The direction of a step of L-BFGS, and the weights of the turns that it remembers.",
    |a| {
        let [changes, steps, shares] = [a.tensors(1)?, a.tensors(2)?, a.tensors(3)?];
        let parts = changes.iter().zip(&steps).zip(&shares);
        let turns = parts.map(|((change, step), share)| Turn { change, step, share });
        let turns: Vec<Turn<'_>> =
            storage::collected(changes.len().min(steps.len()).min(shares.len()), turns)?;
        direction(a.tensor(0)?, &turns, a.tensor(4)?).map(Reply::Tensors)
    },
)];

//! The rule: what is kept of the operands, and how gradients and tangents pass them.

use smallvec::{SmallVec, smallvec};

use super::slope::at_once;
use super::{Elementwise2, Needs};
use crate::dispatch::apply::single;
use crate::dispatch::operand::{Numbers, Operand, SavedOperand, Value};
use crate::dispatch::view;
use crate::dtype::Scalar;
use crate::error::Result;
use crate::graph::{At, Attributes, Edge, Gradients, Inputs, Rule, SavedTensor, Shown, Source, Traits, mode};
use crate::ops;
use crate::ops::conjugate;
use crate::tensor::{Array, Tensor};

/// An operation and what of its operands it kept.
pub(super) struct BinaryRule<E: Elementwise2> {
    pub(super) op: E,
    pub(super) a: SavedOperand,
    pub(super) b: SavedOperand,
}

impl<E: Elementwise2> BinaryRule<E> {
    /// Whether the overload that takes these operands could have kept a tensor of that name.
    fn may_keep(&self) -> bool {
        let number = matches!(self.a, SavedOperand::Scalar(_)) || matches!(self.b, SavedOperand::Scalar(_));
        self.op.derives() && (E::SHOWS_NUMBERS || !number)
    }

    /// Whether both operands are one tensor, and nobody watches how often something is calculated.
    fn is_square(&self, at: &At<'_>) -> bool {
        let (SavedOperand::Tensor(a), SavedOperand::Tensor(b)) = (&self.a, &self.b) else { return false };
        let [Some(left), Some(right)] = at.node.edges() else { return false };
        let one_history = left.node.id() == right.node.id() && left.output == right.output;
        one_history && a.is(b) && !mode::special()
    }

    fn load(&self, at: &At<'_>, needs: Needs) -> Result<(Value, Value)> {
        self.load_by(needs, |kept| kept.load(at))
    }

    /// The operands as the rule for gradients takes them.
    fn conjugates(&self, at: &At<'_>, needs: Needs) -> Result<(Value, Value)> {
        self.load_by(needs, |kept| if E::COMPLEX { kept.load_conjugate(at) } else { kept.load(at) })
    }

    /// What recorded gradients share: the result, as the output of the node that it is, or what the operation
    /// says.
    fn shared(&self, at: &At<'_>, op: &E) -> Result<Option<Tensor>> {
        let result = !E::SHOWS_RESULT.is_empty() && E::SHOWS_RESULT.contains(&self.name());
        if !(result || E::SHARES) || !at.tracking || mode::special() || !self.op.derives() {
            return Ok(None);
        }
        if E::SHARES {
            let (a, b) = self.conjugates(at, Needs::Both)?;
            return op.shared(&a, &b).map(Some);
        }
        let y = self.result(at)?;
        Ok(Some(if E::COMPLEX && y.dtype().is_complex() { conjugate::conj(y)? } else { y }))
    }

    /// The result, calculated again.
    fn result(&self, at: &At<'_>) -> Result<Tensor> {
        let _off = mode::GradModeGuard::off();
        let (a, b) = self.load(at, Needs::Both)?;
        Ok(at.output(&super::apply(self.op, Operand::from(&a), Operand::from(&b))?, 0))
    }

    fn load_by(&self, needs: Needs, load: impl Fn(&SavedOperand) -> Result<Value>) -> Result<(Value, Value)> {
        let derives = self.op.derives();
        let operand = |kept, needed| match derives && needed {
            true => load(kept),
            false => Ok(Value::Scalar(Scalar::Int(0))),
        };
        Ok((operand(&self.a, needs.left())?, operand(&self.b, needs.right())?))
    }
}

impl<E: Elementwise2> Rule for BinaryRule<E> {
    fn traits(&self) -> Traits {
        Traits::LIGHT
    }

    fn name(&self) -> &str {
        self.op.node(&self.a, &self.b)
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = single(gradients);
        let op = if E::COMPLEX { self.op.conjugated() } else { self.op };
        let shared = self.shared(at, &op)?;
        let left = |(a, b): (Value, Value)| match &shared {
            Some(shared) => op.left_from(&a, &b, shared, g),
            None => at_once(op, &a, &b, g, false)?.map_or_else(|| op.left(&a, &b, g), Ok),
        };
        let right = |(a, b): (Value, Value)| match &shared {
            Some(shared) => op.right_from(&a, &b, shared, g),
            None => at_once(op, &a, &b, g, true)?.map_or_else(|| op.right(&a, &b, g), Ok),
        };
        // One step, also where it is recorded and torch takes two: a leaf that is kept through thousands of
        // recorded runs grows by a quarter less.
        if E::SYMMETRIC && at.needs(0) && at.needs(1) && self.is_square(at) {
            let either = left(self.conjugates(at, E::LEFT_NEEDS)?)?;
            return Ok(smallvec![Some(either.clone()), Some(either)]);
        }
        let left = at.needs(0).then(|| self.conjugates(at, E::LEFT_NEEDS).and_then(left)).transpose()?;
        let right = at.needs(1).then(|| self.conjugates(at, E::RIGHT_NEEDS).and_then(right)).transpose()?;
        Ok(Gradients::from_buf([left, right]))
    }

    fn jvp(&self, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let tangent = |index: usize| tangents.get(index).and_then(Option::as_ref);
        let left = |t| self.load(at, E::LEFT_NEEDS).and_then(|(a, b)| self.op.left_forth(&a, &b, t));
        let right = |t| self.load(at, E::RIGHT_NEEDS).and_then(|(a, b)| self.op.right_forth(&a, &b, t));
        let (left, right) = (tangent(0).map(left).transpose()?, tangent(1).map(right).transpose()?);
        let sum = match (left, right) {
            (Some(left), Some(right)) => Some(ops::add(&left, &right)?),
            (left, right) => left.or(right),
        };
        // A tangent is as large as the output, even where only a broadcast operand has one.
        let shape = at.node.form(0).layout.clone();
        Ok(smallvec![sum.map(|sum| view::expand_to(&sum, shape.shape())).transpose()?])
    }

    fn saved(&self) -> SmallVec<[(&'static str, &SavedTensor); 2]> {
        let named = E::SAVED.into_iter().zip([self.a.tensor(), self.b.tensor()]);
        let name = |name, saved: &SavedTensor| if saved.is_hidden() { "" } else { name };
        named.filter_map(|(it, saved)| saved.map(|saved| (name(it, saved), saved))).collect()
    }

    fn compute(&self, _name: &str, at: &At<'_>) -> Result<Tensor> {
        self.result(at)
    }

    fn shown(&self) -> Attributes {
        let mut shown = self.op.shown();
        if E::SHOWS_RESULT.contains(&self.name()) {
            shown.push(("result", Shown::Computed));
        }
        let needs = [E::LEFT_NEEDS, E::RIGHT_NEEDS];
        let kept = [needs.iter().any(|it| it.left()), needs.iter().any(|it| it.right())];
        for ((name, operand), kept) in E::SAVED.into_iter().zip([&self.a, &self.b]).zip(kept) {
            match operand {
                SavedOperand::Scalar(number) if kept && self.op.derives() && E::TAKES_NUMBERS_AS_TENSORS => {
                    shown.push((name, Shown::Number(number.get())))
                }
                SavedOperand::Scalar(number) if kept && self.op.derives() && E::SHOWS_NUMBERS => {
                    shown.push((name, number.get().into()))
                }
                SavedOperand::Nothing if kept && !name.is_empty() && self.may_keep() => {
                    shown.push((name, Shown::NoTensor))
                }
                SavedOperand::Tensor(saved) if saved.is_hidden() && !name.is_empty() => {
                    shown.push((name, Shown::NoTensor))
                }
                _ => {}
            }
        }
        shown
    }

    fn inputs(&self) -> Option<Inputs> {
        match (&self.a, &self.b) {
            (SavedOperand::Scalar(_), _) if !E::TAKES_NUMBERS_AS_TENSORS => Some(smallvec![Some(1)]),
            (_, SavedOperand::Scalar(_)) if !E::TAKES_NUMBERS_AS_TENSORS => Some(smallvec![Some(0)]),
            _ => None,
        }
    }

    fn keeps(&self) -> bool {
        // A number is kept as a tensor is where torch keeps it as one: backward frees it.
        let number = |kept: &SavedOperand, wanted| {
            wanted && E::TAKES_NUMBERS_AS_TENSORS && matches!(kept, SavedOperand::Scalar(_))
        };
        let tensor = |kept: &SavedOperand| matches!(kept, SavedOperand::Tensor(_));
        tensor(&self.a)
            || tensor(&self.b)
            || number(&self.a, E::LEFT_NEEDS.left() || E::RIGHT_NEEDS.left())
            || number(&self.b, E::LEFT_NEEDS.right() || E::RIGHT_NEEDS.right())
    }

    fn saved_mut(&mut self) -> SmallVec<[&mut SavedTensor; 2]> {
        let mut saved = SmallVec::new();
        for kept in [&mut self.a, &mut self.b] {
            if let Some(tensor) = kept.tensor_mut() {
                saved.push(tensor);
            }
        }
        saved
    }
}

/// An operand that is kept. `shows` says which ones torch keeps.
pub(super) fn kept(array: Array, index: u8, shows: [bool; 2]) -> SavedOperand {
    let saved = SavedTensor::new(array, Source::Input(index));
    SavedOperand::Tensor(if shows[usize::from(index)] { saved } else { saved.hidden() })
}

/// What of an operand is kept, given whether anything needs it.
fn keep(operand: Operand<'_>, numbers: Numbers, wanted: bool, index: u8, shows: [bool; 2]) -> SavedOperand {
    match (operand, numbers) {
        (Operand::Scalar(scalar), _) => SavedOperand::Scalar(scalar.into()),
        (_, Numbers::Array(array)) if wanted => kept(array, index, shows),
        _ => SavedOperand::Nothing,
    }
}

/// Where gradients with respect to the operands go.
pub(super) fn edges(a: Operand<'_>, b: Operand<'_>) -> Result<SmallVec<[Option<Edge>; 2]>> {
    let edge = |operand| match operand {
        Operand::Tensor(tensor) => tensor.gradient_edge(),
        Operand::Scalar(_) => Ok(None),
    };
    Ok(smallvec![edge(a)?, edge(b)?])
}

/// The rule of an operation whose operands matter where `needed` has a bit.
pub(super) fn recorded<E: Elementwise2>(
    op: E,
    (a, a_numbers): (Operand<'_>, Numbers),
    (b, b_numbers): (Operand<'_>, Numbers),
    needed: u64,
) -> BinaryRule<E> {
    let derives = op.derives();
    let (left, right) = (derives && needed & 1 == 1, derives && needed & 2 == 2);
    let all = derives && !E::SHOWS_RESULT.is_empty();
    let wants_a = all || left && E::LEFT_NEEDS.left() || right && E::RIGHT_NEEDS.left();
    let wants_b = all || left && E::LEFT_NEEDS.right() || right && E::RIGHT_NEEDS.right();
    let shows = E::shows(left, right);
    BinaryRule { op, a: keep(a, a_numbers, wants_a, 0, shows), b: keep(b, b_numbers, wants_b, 1, shows) }
}

//! The short way: operands that are read where they lie.
//!
//! Most operations of small tensors are on operands of one floating-point type and one shape, in
//! row-major order, or on one such operand and a number. Their cost is that of counting handles, so
//! these operands are read where they lie; a handle is made only of what is kept. All others take
//! the general way, which gives the same results.

use smallvec::SmallVec;

use super::rule::{Recorded, kept};
use super::{Elementwise2, Needs};
use crate::dtype::{DType, Scalar};
use crate::error::Result;
use crate::graph::cut::Standing;
use crate::graph::{Edge, mode};
use crate::kernels::{map, zip};
use crate::ops::operand::{Kept, Operand};
use crate::ops::record::record_new;
use crate::ops::watch;
use crate::tensor::{Array, Reading, Tensor};

/// What the short way came to.
pub(super) enum Plain {
    /// The result.
    Is(Tensor),
    /// It would, but the operation takes a while.
    IsLong,
    /// The operands take the general way.
    IsNot,
}

/// The operation on two operands, if they can be read where they lie.
pub(super) fn apply<E: Elementwise2>(op: E, a: Operand<'_>, b: Operand<'_>) -> Result<Plain> {
    let Some(operands) = Alike::read(a, b) else { return Ok(Plain::IsNot) };
    let dtype = operands.first().dtype;
    if op.result(dtype)? != dtype {
        return Ok(Plain::IsNot);
    }
    if watch::is_long(operands.first().layout.numel() as u64) {
        return Ok(Plain::IsLong);
    }
    let Some(requires) = operands.requires_grad() else { return Ok(Plain::IsNot) };
    op.check(a, b, dtype)?;
    let Some(y) = operands.compute(op, dtype)? else { return Ok(Plain::IsNot) };
    if requires == [false, false] {
        let standing = operands.standing();
        drop(operands);
        return Ok(Plain::Is(Tensor::unrecorded(y, standing)));
    }
    let rule = operands.rule(op, requires);
    let [left, right] = operands.edges();
    drop(operands);
    // Leaves and views look their edges up, which reads them again.
    let edge = |edge: Option<Edge>, requires: bool, operand: Operand<'_>| match operand {
        Operand::Tensor(tensor) if requires && edge.is_none() => tensor.gradient_edge(),
        _ => Ok(edge),
    };
    let edges = SmallVec::from_buf([edge(left, requires[0], a)?, edge(right, requires[1], b)?]);
    record_new(rule, edges, y).map(Plain::Is)
}

/// Two tensors of one floating-point type and one shape, in row-major order, or one such tensor and a number.
struct Alike<'a> {
    left: Reading<'a>,
    /// The second tensor, unless it is the first: the same tensor is not read twice at a time.
    right: Option<Reading<'a>>,
    number: Option<Scalar>,
}

impl<'a> Alike<'a> {
    /// The operands, if they are such.
    #[inline(always)]
    fn read(a: Operand<'a>, b: Operand<'a>) -> Option<Alike<'a>> {
        let (x, right, number) = match (a, b) {
            (Operand::Tensor(x), Operand::Tensor(b)) => (x, Some(b).filter(|b| !b.is(x)), None),
            (_, Operand::Scalar(Scalar::Complex(_))) => return None,
            (Operand::Tensor(x), Operand::Scalar(number)) => (x, None, Some(number)),
            _ => return None,
        };
        let operands = Alike { left: x.read(), right: right.map(Tensor::read), number };
        let (p, q) = (operands.first(), operands.second());
        let same = p.layout.is_row_major()
            && (p.layout.is(&q.layout) || q.layout.is_contiguous() && p.layout.shape() == q.layout.shape());
        (same && p.dtype == q.dtype && p.dtype.is_float()).then_some(operands)
    }

    /// The numbers of the first operand.
    #[inline(always)]
    fn first(&self) -> &Array {
        self.left.array()
    }

    /// Those of the second tensor, or of the first if there is no other.
    #[inline(always)]
    fn second(&self) -> &Array {
        self.right.as_ref().unwrap_or(&self.left).array()
    }

    /// What was read of the second operand, if that is a tensor.
    #[inline(always)]
    fn second_tensor(&self) -> Option<&Reading<'a>> {
        if self.number.is_some() { None } else { self.right.as_ref().or(Some(&self.left)) }
    }

    /// Whether the operation is recorded, by operand, unless that has to be looked up.
    #[inline(always)]
    fn requires_grad(&self) -> Option<[bool; 2]> {
        if !mode::is_grad_enabled() {
            return Some([false, false]);
        }
        if mode::frozen_leaves() {
            return None;
        }
        Some([self.left.requires_grad()?, self.second_tensor().map_or(Some(false), Reading::requires_grad)?])
    }

    /// The result; none if the elements cannot be read as they are.
    #[inline(always)]
    fn compute<E: Elementwise2>(&self, op: E, dtype: DType) -> Result<Option<Array>> {
        let (p, q) = (self.first(), self.second());
        if let Some(number) = self.number
            && let Some(y) = op.with_number(p, number, dtype)
        {
            return y.map(Some);
        }
        dispatch!(float dtype, T => {
            let (Some(p), Some(q)) = (p.slice::<T>(), q.slice::<T>()) else { return Ok(None) };
            let mut y = Array::uninit(&self.first().layout, dtype)?;
            match self.number {
                None => zip::zip_slice(p, q, y.fresh(), op.loops()),
                Some(number) => {
                    let number: T = number.to();
                    let f = op.loops();
                    map::map_slice(p, y.fresh(), move |p| f(p, number));
                }
            }
            Ok(Some(y))
        }, else { Ok(None) })
    }

    /// What a result inherits that is not recorded.
    #[inline(always)]
    fn standing(&self) -> Standing {
        self.second_tensor().map_or_else(Default::default, Reading::standing).and(self.left.standing())
    }

    /// The rule, which keeps what the derivatives need of the operands.
    #[inline(always)]
    fn rule<E: Elementwise2>(&self, op: E, [left, right]: [bool; 2]) -> Recorded<E> {
        let wanted =
            |requires: bool, needs: Needs| if requires && op.derives() { needs } else { Needs::Nothing };
        let needs = [wanted(left, E::LEFT_NEEDS), wanted(right, E::RIGHT_NEEDS)];
        let shows = E::shows(left, right);
        let keep = |array: &Array, wanted: bool, index: u8| match wanted || !E::SHOWS_RESULT.is_empty() {
            true => kept(array.clone(), index, shows),
            false => Kept::Nothing,
        };
        let a = keep(self.first(), needs.iter().any(|needs| needs.left()), 0);
        let b = match self.number {
            Some(number) => Kept::Scalar(number.into()),
            None => keep(self.second(), needs.iter().any(|needs| needs.right()), 1),
        };
        Recorded { op, a, b }
    }

    /// Where gradients go, unless that has to be looked up.
    #[inline(always)]
    fn edges(&self) -> [Option<Edge>; 2] {
        [self.left.edge(), self.second_tensor().and_then(Reading::edge)]
    }
}

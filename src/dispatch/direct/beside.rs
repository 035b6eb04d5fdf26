//! How operands lie beside a result, for loops that take both as they lie.

use smallvec::SmallVec;

use super::Lies;
use crate::dtype::DType;
use crate::shape::Layout;

/// How the elements of an operand go with those of a result that lies in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Beside {
    /// One for each, in the same order.
    Each,
    /// One for all.
    All,
    /// As many as a row has, again for each row.
    Row(usize),
    /// One for each row of so many.
    Column(usize),
    /// One for each, in rows of so many, and so far from the beginning of one to that of the next.
    Apart(usize, usize),
}

/// A result that is computed so many parts after the other, of equal size: how far it is from one to the next in each
/// operand.
pub struct Turns {
    /// How many.
    pub count: usize,
    /// How many elements there are between them.
    pub steps: SmallVec<[usize; 3]>,
}

/// So many elements at most have rows: more are worth a loop that is shared between threads.
const MOST: usize = 1 << 16;
const SHORTEST_ROW: usize = 2;

/// Shorter parts are not worth a turn.
const SHORTEST_PART: usize = 32;

/// How an operand goes with a result that lies in order, if a loop can take it so.
pub(crate) fn beside(operand: &Layout, result: &Layout) -> Option<Beside> {
    let (count, all) = (operand.numel(), result.numel());
    if all == 0 {
        return None;
    }
    if operand.is_contiguous() && operand.shape() == result.shape() {
        return Some(Beside::Each);
    }
    if count == 1 || count == all && operand.is_repeated_in_place() {
        return Some(Beside::All);
    }
    let (shape, whole) = (operand.shape(), result.shape());
    if !operand.is_contiguous() && shape == whole && all <= MOST {
        let is_worth = |&[length, _]: &[usize; 2]| length >= SHORTEST_ROW;
        return operand.rows().filter(is_worth).map(|[length, apart]| Beside::Apart(length, apart));
    }
    if !operand.is_contiguous() || all > MOST || shape.len() > whole.len() {
        return None;
    }
    let missing = whole.len() - shape.len();
    let size = |dim: usize| if dim < missing { 1 } else { shape[dim - missing] };
    // Dimensions in front that repeat it, or dimensions behind.
    let front = (0..whole.len()).take_while(|&dim| size(dim) == 1).count();
    let behind = (0..whole.len()).rev().take_while(|&dim| size(dim) == 1).count();
    let is_row = (front..whole.len()).all(|dim| size(dim) == whole[dim]);
    let is_column = (0..whole.len() - behind).all(|dim| size(dim) == whole[dim]);
    match (is_row, is_column) {
        (true, _) if count >= SHORTEST_ROW => Some(Beside::Row(count)),
        (_, true) if all / count >= SHORTEST_ROW => Some(Beside::Column(all / count)),
        _ => None,
    }
}

/// Whether two tensors of one shape lie alike, so that their elements go with each other as they lie in memory.
pub(crate) fn lie_alike(a: &Layout, b: &Layout) -> bool {
    let is_one_order =
        || a.is_contiguous() && b.is_contiguous() || a.strides() == b.strides() && a.is_dense();
    a.shape() == b.shape() && is_one_order()
}

/// Whether there is one operand, which is of the type of the result and lies as that does.
pub(crate) fn is_one_like(operands: &[Lies<'_>], (result, dtype): (&Layout, DType)) -> bool {
    matches!(operands, [Lies::Tensor(layout, own)] if *own == dtype && lie_alike(layout, result))
}

/// How the operands of an elementwise operation go with its result, if loops can take them so.
pub(crate) fn all_beside(
    operands: &[Lies<'_>],
    (result, dtype): (&Layout, DType),
) -> Option<SmallVec<[Beside; 3]>> {
    if !matches!(dtype, DType::Float32 | DType::Float64) {
        return None;
    }
    let mut found = SmallVec::new();
    let mut length = None;
    for operand in operands {
        let Lies::Tensor(layout, own) = operand else {
            found.push(Beside::All);
            continue;
        };
        let beside = match result.is_contiguous() {
            true => beside(layout, result),
            false if lie_alike(layout, result) => Some(Beside::Each),
            false => (layout.numel() == 1 && result.is_dense()).then_some(Beside::All),
        };
        let beside = beside.filter(|_| *own == dtype)?;
        if let Beside::Row(len) | Beside::Column(len) | Beside::Apart(len, _) = beside
            && *length.get_or_insert(len) != len
        {
            return None;
        }
        found.push(beside);
    }
    Some(found)
}

/// `all_beside` of the parts of a result that lie one after the other, if loops can take operands so from part to part.
pub(crate) fn beside_in_turns(
    operands: &[Lies<'_>],
    (result, dtype): (&Layout, DType),
) -> Option<(SmallVec<[Beside; 3]>, Turns)> {
    let whole = result.shape();
    if !result.is_contiguous() || result.numel() > MOST || result.numel() == 0 {
        return None;
    }
    (1..whole.len()).find_map(|dims| {
        let (outer, inner) = whole.split_at(dims);
        if inner.iter().product::<usize>() < SHORTEST_PART {
            return None;
        }
        let (mut steps, mut parts): (SmallVec<[usize; 3]>, SmallVec<[Option<Layout>; 3]>) =
            Default::default();
        for operand in operands {
            let Lies::Tensor(layout, _) = operand else {
                steps.push(0);
                parts.push(None);
                continue;
            };
            let missing = whole.len().checked_sub(layout.ndim())?;
            let (own, part) = layout.shape().split_at(dims.saturating_sub(missing));
            let is_there = own == outer;
            if !layout.is_contiguous() || !is_there && own.iter().any(|&size| size != 1) {
                return None;
            }
            let part = Layout::contiguous(part).ok()?;
            steps.push(if is_there { part.numel() } else { 0 });
            parts.push(Some(part));
        }
        let result = Layout::contiguous(inner).ok()?;
        let lies: SmallVec<[Lies<'_>; 3]> = operands
            .iter()
            .zip(&parts)
            .map(|(operand, part)| match (operand, part) {
                (Lies::Tensor(_, dtype), Some(part)) => Lies::Tensor(part, *dtype),
                (other, _) => *other,
            })
            .collect();
        let beside = all_beside(&lies, (&result, dtype))?;
        Some((beside, Turns { count: outer.iter().product(), steps }))
    })
}

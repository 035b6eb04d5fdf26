//! Operations that are computed into memory that is there already: what programs are made of, where they have been
//! recorded and all is known of how operands and results lie. Whatever is computed otherwise gives new tensors.
//!
//! The kernels are those that compute the operation everywhere else, so that the bits are the same.

use std::mem::MaybeUninit;

use smallvec::SmallVec;

use crate::dtype::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::kernels::pointwise::chain;
pub(crate) use crate::kernels::pointwise::chain::Step;
use crate::kernels::wide::Wide;
use crate::shape::Layout;
use crate::tensor::{Array, Rows};

/// An operand or a result, without its numbers.
#[derive(Clone, Copy)]
pub enum Lies<'a> {
    /// A tensor lies so, of this type.
    Tensor(&'a Layout, DType),
    /// It is a number.
    Number(Scalar),
}

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

/// What an operation is computed of.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// An array, from this element on where there is one for each.
    Array(&'a Array, usize, Beside),
    /// A number.
    Number(Scalar),
}

impl Source<'_> {
    /// The array, if it is one.
    pub fn array(&self) -> Option<&Array> {
        match self {
            Source::Array(array, ..) => Some(array),
            Source::Number(_) => None,
        }
    }
}

/// Where elements are written: so many, from the first on.
#[derive(Clone, Copy)]
pub struct Target<'a> {
    /// The memory.
    pub array: &'a Array,
    /// The first of them.
    pub first: usize,
    /// How many.
    pub count: usize,
}

impl Target<'_> {
    /// Has the elements written, all of them, by what reads these arrays.
    pub(crate) fn write<T: Element>(self, reads: &[&Array], mut write: impl FnMut(&mut [MaybeUninit<T>])) {
        self.written(&mut reads.iter().copied(), &mut write);
    }

    /// `write` by what reads the arrays among these.
    pub(crate) fn write_of<T: Element>(
        self,
        sources: &[Source<'_>],
        mut write: impl FnMut(&mut [MaybeUninit<T>]),
    ) {
        self.written(&mut sources.iter().filter_map(Source::array), &mut write);
    }

    #[inline(never)] // Once for all operations.
    fn written<T: Element>(
        self,
        reads: &mut dyn Iterator<Item = &Array>,
        write: &mut dyn FnMut(&mut [MaybeUninit<T>]),
    ) {
        self.array.overwrite_part(self.first..self.first + self.count, reads, write);
    }
}

/// The most operations of a chain.
pub(crate) const MOST_LINKS: usize = 1 << 12;

/// What an operation does to each element of its first operand, with its number.
pub(crate) type Link = (Step, Scalar);

/// The operations of a chain, with numbers as exact as its elements.
pub(crate) enum Links {
    Single(Vec<chain::Link<f32>>),
    Double(Vec<chain::Link<f64>>),
}

impl Links {
    /// Of these operations, on elements of this type.
    pub(crate) fn new(dtype: DType, links: impl Iterator<Item = Link>) -> Option<Links> {
        match dtype {
            DType::Float32 => {
                Some(Links::Single(chain::Link::all(links.map(|(step, number)| (step, number.to())))))
            }
            DType::Float64 => {
                Some(Links::Double(chain::Link::all(links.map(|(step, number)| (step, number.to())))))
            }
            _ => None,
        }
    }
}

/// Computes a chain of operations.
pub(crate) fn chained(source: &Source<'_>, links: &Links, target: Target<'_>) -> Result<()> {
    fn run<T: Wide>(source: &Source<'_>, links: &[chain::Link<T>], target: Target<'_>) -> Result<()> {
        let Side::<T>::Each(elements) = Side::of(source, target.count)? else { return Err(misfit()) };
        target.write_of(std::slice::from_ref(source), |out| chain::chain(elements, links, out));
        Ok(())
    }
    match (links, target.array.dtype) {
        (Links::Single(links), DType::Float32) => run(source, links, target),
        (Links::Double(links), DType::Float64) => run(source, links, target),
        _ => Err(misfit()),
    }
}

/// An operation that can be computed so.
pub trait Direct: Send + Sync {
    /// What it does to the elements of the first operand, where the second one is a number, if that is so little that
    /// several of its kind are done at once.
    fn step(&self) -> Option<Step> {
        None
    }

    /// Whether each element of the result is a function of those beside it, so that a part of them can be computed.
    fn is_elementwise(&self) -> bool {
        false
    }

    /// Whether the result has the elements of the one operand.
    fn is_copy(&self) -> bool {
        false
    }

    /// Whether operands and a result may lie so. Those of an elementwise operation are of one type.
    fn takes(&self, operands: &[Lies<'_>], result: (&Layout, DType)) -> bool;

    /// Computes it. A write has the first operand as its result.
    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()>;
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
    if !result.is_contiguous() || result.numel() > MOST {
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

/// Elements of short rows that are taken together.
pub(crate) const ROOM: usize = 128;

/// Elements that are written at one go.
const FEW: usize = 4;

/// A loop that writes what it makes of elements.
pub(crate) type Run<'r, T> = dyn Fn(&[T], &mut [MaybeUninit<T>]) + 'r;

/// The elements of an operand as a loop takes them.
#[derive(Clone, Copy)]
pub(crate) enum Side<'a, T> {
    /// One for each of the result.
    Each(&'a [T]),
    /// One for all.
    All(T),
    /// Those of a row, again for each row.
    Row(&'a [T]),
    /// One for each row, and how long rows are.
    Column(&'a [T], usize),
    /// One for each, in rows.
    Apart(Rows<'a, T>),
}

/// What is said where operands lie otherwise than they were seen to when the program was made.
#[cold]
pub(crate) fn misfit() -> Box<Error> {
    Error::ProgramDiverged { node: "an operand".to_owned() }.into()
}

impl<'a, T: Element> Side<'a, T> {
    pub(crate) fn of(source: &Source<'a>, count: usize) -> Result<Side<'a, T>> {
        let (array, first, beside) = match *source {
            Source::Number(number) => return Ok(Side::All(number.to())),
            Source::Array(array, first, beside) => (array, first, beside),
        };
        let side = match beside {
            Beside::Each => array.part(first, count).map(Side::Each),
            // There may be one for each turn.
            Beside::All if first > 0 && array.layout.numel() > 1 && array.layout.is_contiguous() => {
                array.part(first, 1).and_then(|one| one.first().copied().map(Side::All))
            }
            Beside::All => array.first_element().map(Side::All),
            Beside::Row(length) => array.part(first, length).map(Side::Row),
            Beside::Column(length) => {
                array.part(first, count / length).map(|column| Side::Column(column, length))
            }
            Beside::Apart(length, apart) if first == 0 => array.rows(length, apart).map(Side::Apart),
            Beside::Apart(..) => None,
        };
        side.ok_or_else(misfit)
    }

    /// A short row as a long one, in which it is there again and again: loops take as many of a result at once.
    #[inline(never)] // Once for all operations.
    pub(crate) fn lengthened<'r>(self, all: usize, room: &'r mut [T; ROOM]) -> Side<'r, T>
    where
        'a: 'r,
    {
        let Side::Row(row) = self else { return self };
        let length = row.len();
        let whole = all.min(ROOM) / length.max(1) * length;
        if whole < 2 * length {
            return self;
        }
        room[..length].copy_from_slice(row);
        let mut there = length;
        while there < whole {
            let more = there.min(whole - there);
            room.copy_within(..more, there);
            there += more;
        }
        Side::Row(&room[..whole])
    }

    /// What goes with so many elements from a row on, of rows of this length: those of a column as often as they count.
    pub(crate) fn spread<'r>(
        self,
        (first, length): (usize, usize),
        count: usize,
        room: &'r mut [T; ROOM],
    ) -> Side<'r, T>
    where
        'a: 'r,
    {
        match self {
            Side::Column(elements, _) => {
                let elements = &elements[first..][..count / length.max(1)];
                for (place, &element) in (0..count).step_by(length.max(1)).zip(elements) {
                    // More than the row at one go: what is too much is overwritten by those that follow.
                    match room[place..].first_chunk_mut::<FEW>() {
                        Some(few) if length <= FEW => *few = [element; FEW],
                        _ => room[place..][..length].fill(element),
                    }
                }
                Side::Each(&room[..count])
            }
            Side::Apart(rows) => {
                for (out, index) in room[..count].chunks_mut(length.max(1)).zip(first..) {
                    out.copy_from_slice(rows.row(index));
                }
                Side::Each(&room[..count])
            }
            side => side.row(first, length, count),
        }
    }

    /// Whether rows have other elements each.
    pub(crate) fn goes_along(&self) -> bool {
        matches!(self, Side::Column(..) | Side::Apart(_))
    }

    /// How long rows are, if there are any.
    pub(crate) fn length(&self) -> Option<usize> {
        match self {
            Side::Row(row) => Some(row.len()),
            Side::Column(_, length) => Some(*length),
            Side::Apart(rows) => Some(rows.length),
            _ => None,
        }
    }

    /// Has what is written for these elements, by a loop that takes them as they lie: in one piece, or row by row.
    pub(crate) fn through(&self, out: &mut [MaybeUninit<T>], run: &Run<'_, T>) {
        if let Side::All(element) = *self {
            let mut found = [MaybeUninit::uninit()];
            run(&[element], &mut found);
            return out.fill(found[0]);
        }
        let length = self.length().unwrap_or(out.len()).max(1);
        for (index, out) in out.chunks_mut(length).enumerate() {
            match self.row(index, length, out.len()) {
                Side::Each(elements) => run(elements, out),
                one => one.through(out, run),
            }
        }
    }

    /// What goes with so many elements of one of the rows of this length.
    pub(crate) fn row(&self, index: usize, length: usize, count: usize) -> Side<'a, T> {
        match *self {
            Side::Each(elements) => Side::Each(&elements[index * length..][..count]),
            Side::Row(row) => Side::Each(&row[..count]),
            Side::Column(elements, _) => Side::All(elements[index]),
            Side::Apart(rows) => Side::Each(rows.row(index)),
            Side::All(element) => Side::All(element),
        }
    }
}

//! Operations computed into memory that is already allocated. Recorded programs are made of these: when they run, the
//! shapes, strides and types of all operands and results are known. Everywhere else operations make new tensors.
//!
//! The kernels are the ordinary ones, so that results have the same bits. Comparisons and selections, which do not
//! round, have loops of their own for small tensors (`few`).

mod beside;
pub(crate) mod few;
mod one;
mod registers;
mod whole;

use std::mem::MaybeUninit;

use crate::dtype::{DType, Element, Scalar};
use crate::error::{Error, Result};
use crate::kernels::pointwise::chain;
pub(crate) use crate::kernels::pointwise::chain::Step;
use crate::kernels::wide::Wide;
use crate::shape::Layout;
use crate::tensor::{Array, Rows};
pub use beside::{Beside, Turns};
pub(crate) use beside::{all_beside, beside, beside_in_turns, is_one_like, lie_alike};
pub(crate) use one::{OfOne, Single};
pub use registers::{Register, Registers};
pub(crate) use whole::{OfWhole, Whole};

/// What is known of an operand or a result before the program runs.
#[derive(Clone, Copy)]
pub enum Lies<'a> {
    /// A tensor with this layout and type.
    Tensor(&'a Layout, DType),
    /// A number.
    Number(Scalar),
}

/// An operand when the program runs.
#[derive(Clone, Copy)]
pub enum Source<'a> {
    /// An array; where each element of the result has one of its own, from this element on.
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

    /// Whether numbers are refused that operands may have.
    fn may_fail(&self) -> bool {
        false
    }

    /// Whether operands and a result may lie so. Those of an elementwise operation are of one type.
    fn takes(&self, operands: &[Lies<'_>], result: (&Layout, DType)) -> bool;

    /// Whether it can be computed of few elements in registers, where operands go with the result one for each or one for
    /// all.
    fn takes_registers(&self) -> bool {
        false
    }

    /// Computes it there.
    fn in_registers(&self, _registers: &Registers<'_>) -> Result<()> {
        Err(misfit())
    }

    /// Computes it. A write has the first operand as its result.
    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()>;
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

//! Operands, and their blocks where they are not in order: gathered, or repeated.

use std::borrow::Cow;

use super::plan::{BLOCK, Plan};
use crate::kernels::geometry::moves;
use crate::kernels::geometry::strided::{self, Strided};
use crate::kernels::simd::vectorised;
use crate::shape::{self, Dims};

/// Elements of a run that is shorter than it takes to ask how long it is.
const SHORT: usize = 16;

/// How often the elements of an operand have to be repeated for all of them to be gathered beforehand.
const OFTEN: usize = 8;

/// Whether many elements go through columns where rows are wanted.
fn is_crosswise(count: usize, strides: &[usize]) -> bool {
    let Some((last, before)) = strides.split_last() else { return false };
    count > BLOCK && *last > 1 && before.contains(&1)
}

/// An operand that is to be looked at block by block: elements, and how many of them a step along each axis is, none, where
/// they are repeated.
pub(super) struct Operand<'a, T: Clone> {
    elements: Cow<'a, [T]>,
    strides: Dims,
}

impl<'a, T: Copy + Send + Sync + 'static> Operand<'a, T> {
    /// The operand of a plan that has this place.
    pub(super) fn new(a: &Strided<'a, T>, place: usize, plan: &Plan) -> Operand<'a, T> {
        let strides = &plan.strides[place];
        let mut own = plan.sizes.clone();
        let mut times = 1;
        for (size, _) in own.iter_mut().zip(strides).filter(|(_, stride)| **stride == 0) {
            times *= *size;
            *size = 1;
        }
        let count: usize = own.iter().product();
        // Block by block, a column would be gone through for each of its elements; of elements that lie apart, each run
        // would be written by itself.
        let is_gathered = times >= OFTEN || strides.last() == Some(&0) || is_crosswise(count, strides);
        if shape::is_contiguous(&own, strides) || !is_gathered {
            return Operand { elements: Cow::Borrowed(a.memory()), strides: strides.clone() };
        }
        let elements = moves::gathered(&Strided::new(a.memory(), &own, strides).view());
        let mut dense = shape::contiguous_strides(&own);
        dense.iter_mut().zip(&own).filter(|(_, size)| **size == 1).for_each(|(stride, _)| *stride = 0);
        Operand { elements: Cow::Owned(elements), strides: dense }
    }

    pub(super) fn reader<'o>(&'o self, plan: &'o Plan) -> Reader<'o, 'a, T> {
        Reader { operand: self, plan, gathered: Vec::new(), from: None }
    }
}

/// An operand whose blocks are looked at one after another, each gathered where the one before it was.
pub(super) struct Reader<'o, 'a, T: Clone> {
    operand: &'o Operand<'a, T>,
    plan: &'o Plan,
    gathered: Vec<T>,
    /// Where the elements lie that `gathered` begins with.
    from: Option<usize>,
}

impl<T: Copy + Send + Sync + 'static> Reader<'_, '_, T> {
    /// The elements of a block: where they lie, if they lie in order.
    pub(super) fn block(&mut self, start: usize, len: usize) -> &[T] {
        let (elements, strides) = (&self.operand.elements, &self.operand.strides);
        let offset = self.plan.offset(strides, start);
        if self.from == Some(offset) && len <= self.gathered.len() {
            return &self.gathered[..len];
        }
        let axes = self.plan.axes(strides, len);
        if let [(_, 1)] | [] = axes[..] {
            return &elements[offset..][..len];
        }
        self.gathered.resize(len, elements[offset]);
        self.from = Some(offset);
        lay(&elements[offset..], &axes, &mut self.gathered);
        &self.gathered
    }
}

/// Lays elements out along axes. There are as many turns of this inside of each other as there are axes, of which a
/// block has few: each is longer than one.
fn lay<T: Copy + Send + Sync>(elements: &[T], axes: &[(usize, usize)], out: &mut [T]) {
    match *axes {
        [] => out.copy_from_slice(&elements[..1]),
        [(len, 1)] => out.copy_from_slice(&elements[..len]),
        [(run, 0)] => repeat_each(&elements[..1], run, out),
        [(len, 1), (run, 0)] => repeat_each(&elements[..len], run, out),
        [(times, 0), ref inner @ ..] => {
            let mut there = out.len() / times;
            lay(elements, inner, &mut out[..there]);
            while there < out.len() {
                let more = there.min(out.len() - there);
                out.copy_within(..more, there);
                there += more;
            }
        }
        [(len, stride)] => strided::lay(elements, [0, stride], len, out, moves::put),
        [(_, step), (len, stride)] if stride > 0 => {
            strided::lay(elements, [step, stride], len, out, moves::put)
        }
        [(times, stride), ref inner @ ..] => {
            let parts = out.chunks_exact_mut(out.len() / times);
            parts.enumerate().for_each(|(index, part)| lay(&elements[index * stride..], inner, part));
        }
    }
}

/// Writes every element so many times.
fn repeat_each<T: Copy + Send + Sync>(elements: &[T], run: usize, out: &mut [T]) {
    vectorised(
        out.len(),
        #[inline(always)]
        || {
            if run >= SHORT {
                let runs = out.chunks_exact_mut(run).zip(elements);
                return runs.for_each(|(run, &element)| run.fill(element));
            }
            // More than the run, in one go: what is too much is overwritten by those that follow.
            for (index, &element) in elements.iter().enumerate() {
                match out[index * run..].first_chunk_mut::<SHORT>() {
                    Some(room) => *room = [element; SHORT],
                    None => out[index * run..][..run].fill(element),
                }
            }
        },
    );
}

//! How operands of one shape are cut into blocks.

use smallvec::SmallVec;

use crate::kernels::geometry::strided::{self, merged};
use crate::kernels::parallel::{Body, each_item};
use crate::kernels::pointwise::apply::GRAIN;
use crate::shape::Dims;

/// The most bytes of a block. A row of this length or longer is a block of its own, or several; of shorter ones
/// a block has as many as there is room for.
pub(super) const BLOCK: usize = 1 << 13;

/// Where operands of one shape are cut: into ranges along one axis, with all that is behind it. Depends on
/// shape and strides only.
pub(super) struct Plan {
    /// The sizes, as few as possible, and the strides of each operand.
    pub(super) sizes: Dims,
    pub(super) strides: SmallVec<[Dims; 3]>,
    axis: usize,
    /// Length of that axis, and of a range.
    size: usize,
    rows: usize,
    /// Elements behind it.
    inner: usize,
}

impl Plan {
    /// The plan for operands of this shape with these strides. The widest elements have so many bytes.
    pub(super) fn new(shape: &[usize], operands: &[&[usize]], widest: usize) -> Plan {
        let (sizes, strides) = merged(shape, operands);
        let block = BLOCK / widest.max(1);
        let inner = |axis: usize| sizes.iter().skip(axis + 1).product::<usize>();
        let axis = (0..sizes.len()).find(|&axis| inner(axis) <= block).unwrap_or(0);
        let (size, inner) = (sizes.get(axis).copied().unwrap_or(1), inner(axis));
        let most = (block / inner.max(1)).max(1);
        let rows = size.div_ceil(size.div_ceil(most).max(1)).max(1);
        Plan { sizes, strides, axis, size, rows, inner }
    }

    /// Elements in all ranges of the axis, and in one.
    fn lengths(&self) -> (usize, usize) {
        (self.size * self.inner, self.rows * self.inner)
    }

    /// Calls `body` with all blocks of a destination, several blocks at a time.
    pub(super) fn each<V: Send>(&self, out: &mut [V], body: &dyn for<'a> Body<Blocks<'a, V>>) {
        let (whole, part) = self.lengths();
        let blocks = |start, out| Blocks { whole, part, start, out };
        if out.len() <= GRAIN {
            return body.run(blocks(0, out));
        }
        let outer = whole * (GRAIN / whole).max(1);
        let chunk = if whole < GRAIN { outer } else { part * (GRAIN / part) };
        let chunks = out.chunks_mut(outer).enumerate().flat_map(|(index, out)| {
            let chunks = out.chunks_mut(chunk).enumerate();
            chunks.map(move |(inside, out)| blocks(index * outer + inside * chunk, out))
        });
        each_item(chunks, 1, body);
    }

    /// Where the element at `start` lies, the first of a range, if one step along each axis is so many elements.
    pub(super) fn offset(&self, strides: &[usize], start: usize) -> usize {
        let (whole, _) = self.lengths();
        let (outer, first) = (start / whole, start % whole / self.inner);
        let step = strides.get(self.axis).copied().unwrap_or(0);
        first * step + strided::offset(outer, &self.sizes[..self.axis], strides)
    }

    /// The axes of a block of so many elements, of which one step is so many: lengths and steps. What goes on as along
    /// the next axis is one with it.
    pub(super) fn axes(&self, strides: &[usize], len: usize) -> Axes {
        let mut axes = Axes::new();
        let sizes = std::iter::once(len / self.inner).chain(self.sizes.iter().skip(self.axis + 1).copied());
        for (size, &stride) in sizes.zip(strides.iter().skip(self.axis)).filter(|(size, _)| *size != 1) {
            match axes.last_mut() {
                Some(last) if last.1 == stride * size => *last = (last.0 * size, stride),
                _ => axes.push((size, stride)),
            }
        }
        axes
    }
}

/// The blocks of a piece of the destination, each with the position of its first element.
pub(super) struct Blocks<'a, V> {
    /// Elements in all ranges of the axis, and in one.
    whole: usize,
    part: usize,
    start: usize,
    out: &'a mut [V],
}

impl<'a, V> Iterator for Blocks<'a, V> {
    type Item = (&'a mut [V], usize);

    fn next(&mut self) -> Option<Self::Item> {
        let out = std::mem::take(&mut self.out);
        if out.is_empty() {
            return None;
        }
        let start = self.start;
        let len = self.part.min(self.whole - start % self.whole).min(out.len());
        let (block, rest) = out.split_at_mut(len);
        (self.start, self.out) = (start + len, rest);
        Some((block, start))
    }
}

/// Lengths of axes, the first one first, and how many elements a step along them is.
pub(super) type Axes = SmallVec<[(usize, usize); 4]>;

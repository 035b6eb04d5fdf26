//! Elements that lie along strides, with all memory between the first and the last of them, so that they are found by
//! counting. Moved from there they come row by row; what lies crosswise is turned by `moves`.

use ndarray::{ArrayViewD, IxDyn, ShapeBuilder};
use smallvec::SmallVec;
use std::mem::MaybeUninit;

use crate::kernels::geometry::moves;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::{GRAIN, each_slice_1};
use crate::kernels::simd::vectorised;
use crate::shape::{self, Dims};

/// Elements of a shape.
#[derive(Clone)]
pub struct Strided<'a, T> {
    elements: &'a [T],
    shape: Dims,
    strides: Dims,
}

impl<'a, T> Strided<'a, T> {
    /// Elements of which one step along a dimension is so many places.
    pub fn new(elements: &'a [T], shape: &[usize], strides: &[usize]) -> Strided<'a, T> {
        Strided { elements, shape: shape.into(), strides: strides.into() }
    }

    /// Elements in row-major order.
    pub(in crate::kernels) fn in_order(elements: &'a [T], shape: &[usize]) -> Strided<'a, T> {
        Strided { elements, shape: shape.into(), strides: shape::contiguous_strides(shape) }
    }

    /// The sizes.
    pub(in crate::kernels) fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// How many places a step along each dimension is.
    pub(in crate::kernels) fn strides(&self) -> &[usize] {
        &self.strides
    }

    /// The memory that they lie in, from the first one on.
    pub(in crate::kernels) fn memory(&self) -> &'a [T] {
        self.elements
    }

    /// The elements, if they lie in row-major order.
    pub(in crate::kernels) fn as_slice(&self) -> Option<&'a [T]> {
        let count = self.shape.iter().product();
        shape::is_contiguous(&self.shape, &self.strides).then(|| &self.elements[..count])
    }

    /// The same as a view.
    pub(in crate::kernels) fn view(&self) -> ArrayViewD<'a, T> {
        let shape = IxDyn(&self.shape).strides(IxDyn(&self.strides));
        match ArrayViewD::from_shape(shape, self.elements) {
            Ok(view) => view,
            Err(_) => unreachable!("the elements lie in the memory"),
        }
    }
}

/// A shape with as few dimensions as possible, and the strides of operands of it: without dimensions of size one, and with
/// those as one along which all operands go on as along the next.
pub(in crate::kernels) fn merged(shape: &[usize], operands: &[&[usize]]) -> (Dims, SmallVec<[Dims; 3]>) {
    let mut sizes = Dims::new();
    let mut strides: SmallVec<[Dims; 3]> = SmallVec::from_elem(Dims::new(), operands.len());
    for (dim, &size) in shape.iter().enumerate().filter(|(_, size)| **size != 1) {
        let goes_on = |(merged, given): (&Dims, &&[usize])| merged.last() == Some(&(given[dim] * size));
        match sizes.last_mut() {
            Some(last) if strides.iter().zip(operands).all(goes_on) => {
                *last *= size;
                strides.iter_mut().for_each(|merged| _ = merged.pop());
            }
            _ => sizes.push(size),
        }
        strides.iter_mut().zip(operands).for_each(|(merged, given)| merged.push(given[dim]));
    }
    (sizes, strides)
}

/// Where what is at a position of these sizes lies, in row-major order, if one step along each dimension is so many places.
#[inline(always)]
pub(in crate::kernels) fn offset(mut position: usize, sizes: &[usize], strides: &[usize]) -> usize {
    let mut offset = 0;
    for (size, stride) in sizes.iter().zip(strides).rev() {
        offset += position % size * stride;
        position /= size;
    }
    offset
}

/// Fewer elements of a row, or fewer rows in a matrix, are better moved along other dimensions.
const FEW: usize = 4;

/// The elements in row-major order.
pub fn gather<T: Copy + Send + Sync + 'static>(a: &Strided<'_, T>, out: &mut [MaybeUninit<T>]) {
    if let Some(elements) = a.as_slice() {
        return each_slice_1(out, elements, moves::put_first);
    }
    let (sizes, strides) = merged(a.shape(), &[a.strides()]);
    let ([outer_sizes @ .., len], [outer @ .., stride]) = (sizes.as_slice(), strides[0].as_slice()) else {
        return moves::gather(a.view(), out);
    };
    let (rows, step) = (outer_sizes.last().copied().unwrap_or(1), outer.last().copied().unwrap_or(0));
    let matrices = Matrices { memory: a.memory(), sizes: outer_sizes, strides: outer };
    match *len {
        2 if step == 1 => return matrices.interleave::<2>(*stride, out),
        3 if step == 1 => return matrices.interleave::<3>(*stride, out),
        4 if step == 1 => return matrices.interleave::<4>(*stride, out),
        _ => {}
    }
    let is_column = |(&size, &stride): (&usize, &usize)| stride == 1 && size >= FEW;
    let is_crosswise = *stride > 1 && outer_sizes.iter().zip(outer).any(is_column);
    let is_deep = outer.len() > 1 && rows < FEW;
    if is_crosswise || is_deep || *stride == 0 || *len < FEW || step == 0 && rows > 1 {
        return moves::gather(a.view(), out);
    }
    parallel_parts(out, (GRAIN / len).max(1) * len, |start, part| {
        let (mut row, mut part) = (start / len, part);
        while !part.is_empty() {
            let count = (rows - row % rows).min(part.len() / len);
            let Some(now) = part.split_off_mut(..count * len) else { return };
            lay(matrices.memory_of(row), [step, *stride], *len, now, moves::put_first);
            row += count;
        }
    });
}

/// Matrices of rows, by the sizes and strides of all dimensions but that along rows.
struct Matrices<'a, T> {
    memory: &'a [T],
    sizes: &'a [usize],
    strides: &'a [usize],
}

impl<T: Copy + Send + Sync + 'static> Matrices<'_, T> {
    /// The memory from where a row begins.
    #[inline(always)]
    fn memory_of(&self, row: usize) -> &[T] {
        &self.memory[offset(row, self.sizes, self.strides)..]
    }

    /// The elements of columns that lie in order, so far from each other, row by row.
    fn interleave<const N: usize>(&self, apart: usize, out: &mut [MaybeUninit<T>]) {
        let rows = self.sizes[self.sizes.len() - 1];
        let matrix = rows * N;
        parallel_parts(out, (GRAIN / matrix).max(1) * matrix, |start, part| {
            vectorised(
                part.len(),
                #[inline(always)]
                || {
                    for (index, out) in (start / matrix..).zip(part.chunks_exact_mut(matrix)) {
                        let memory = self.memory_of(index * rows);
                        let columns: [&[T]; N] = std::array::from_fn(
                            #[inline(always)]
                            |column| &memory[column * apart..][..rows],
                        );
                        for (at, row) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
                            for (place, column) in row.iter_mut().zip(columns) {
                                place.write(column[at]);
                            }
                        }
                    }
                },
            );
        });
    }
}

/// Writes rows of so many elements one after another: each begins one step behind the one before, and its elements are one
/// stride apart.
pub(in crate::kernels) fn lay<V: Send, T: Copy + Sync>(
    elements: &[T],
    [step, stride]: [usize; 2],
    len: usize,
    out: &mut [V],
    write: impl Fn(&mut V, T) + Copy + Sync,
) {
    let reach = (len - 1) * stride + 1;
    vectorised(
        out.len(),
        #[inline(always)]
        || {
            let rows = out.chunks_exact_mut(len).enumerate();
            let rows = rows.map(|(row, out)| (out, &elements[row * step..][..reach]));
            match stride {
                1 => rows.for_each(|(out, a)| moves::move_slice(out, a, write)),
                2 => rows.for_each(|(out, a)| {
                    let (pairs, last) = a.as_chunks::<2>();
                    let (firsts, end) = out.split_at_mut(pairs.len());
                    firsts.iter_mut().zip(pairs).for_each(|(out, pair)| write(out, pair[0]));
                    end.iter_mut().zip(last).for_each(|(out, &a)| write(out, a));
                }),
                _ => rows.for_each(|(out, a)| {
                    out.iter_mut().zip(a.iter().step_by(stride)).for_each(|(out, &a)| write(out, a));
                }),
            }
        },
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::{at_thread_counts, written};

    #[test]
    fn elements_come_in_order_from_any_strides() {
        let memory: Vec<u32> = (0..1_200_000).collect();
        let mut gathered = 0;
        for (shape, strides) in [
            (&[][..], &[][..]),
            (&[0, 4], &[9, 1]),
            (&[30, 19], &[20, 1]),
            (&[300, 299], &[300, 1]),
            (&[300, 150], &[300, 2]),
            (&[7, 33], &[100, 3]),
            (&[50, 40], &[1, 50]),
            (&[90_000], &[2]),
            (&[5, 6, 7], &[100, 14, 2]),
            (&[5, 2, 7], &[100, 20, 1]),
            (&[40, 50, 60], &[6000, 120, 2]),
            (&[7, 5, 3, 9, 2], &[300, 50, 20, 1, 9]),
            (&[6, 2, 2, 12, 12], &[576, 24, 1, 48, 2]),
            (&[500, 90, 3], &[270, 1, 90]),
            (&[3, 4, 1, 5], &[0, 10, 77, 1]),
            (&[3, 5], &[1, 0]),
            (&[6, 8], &[0, 2]),
        ] {
            let a = Strided::new(&memory, shape, strides);
            let expected: Vec<u32> = a.view().iter().copied().collect();
            let found = at_thread_counts(|| written(expected.len(), |out| gather(&a, out)));
            assert!(found.iter().all(|found| *found == expected), "{shape:?} {strides:?}");
            gathered += 1;
        }
        assert_eq!(gathered, 17);
    }

    #[test]
    fn dimensions_are_one_along_which_all_operands_go_on() {
        let (sizes, strides) = merged(&[2, 1, 3, 4], &[&[12, 7, 4, 1], &[4, 0, 0, 1]]);
        assert_eq!((sizes.as_slice(), strides[0].as_slice()), (&[2, 3, 4][..], &[12, 4, 1][..]));
        let (sizes, strides) = merged(&[2, 1, 3, 4], &[&[12, 7, 4, 1]]);
        assert_eq!((sizes.as_slice(), strides[0].as_slice()), (&[24][..], &[1][..]));
    }
}

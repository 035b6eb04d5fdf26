//! Moving elements of a matrix whose columns lie one after another into rows: in squares that fit into the nearest
//! memory, and these in blocks that fit into registers.

use std::any::Any;
use std::array::from_fn;

use ndarray::{ArrayView2, ArrayViewMut2, Axis};

use crate::dtype::Complex;
use crate::kernels::interrupt::Steps;
use crate::kernels::simd::vectorised;

/// Rows and columns of a square.
const SIDE: usize = 64;

/// Rows and columns of a block.
const BLOCK: usize = 8;

/// The elements of a block, row by row.
type Block<T> = [[T; BLOCK]; BLOCK];

/// Writes a matrix whose columns lie in order to one whose rows do.
#[inline(never)]
pub(super) fn turn<V: Send, T: Copy + 'static>(
    mut out: ArrayViewMut2<'_, V>,
    a: ArrayView2<'_, T>,
    write: impl Fn(&mut V, T) + Copy,
    steps: &mut Steps,
) {
    if let Some(rows) = out.as_slice_mut().filter(|_| (2..=4).contains(&a.ncols())) {
        steps.take(a.len());
        return match a.ncols() {
            2 => interleave::<2, V, T>(rows, a, write),
            3 => interleave::<3, V, T>(rows, a, write),
            _ => interleave::<4, V, T>(rows, a, write),
        };
    }
    let bands = out.axis_chunks_iter_mut(Axis(0), SIDE).zip(a.axis_chunks_iter(Axis(0), SIDE));
    for (mut out, a) in bands {
        let squares = out.axis_chunks_iter_mut(Axis(1), SIDE).zip(a.axis_chunks_iter(Axis(1), SIDE));
        for (out, a) in squares {
            steps.take(a.len());
            vectorised(
                a.len(),
                #[inline(always)]
                || square(out, a, write),
            );
        }
    }
}

/// `turn` of a few columns into rows that lie one after another.
fn interleave<const N: usize, V, T: Copy>(
    out: &mut [V],
    a: ArrayView2<'_, T>,
    write: impl Fn(&mut V, T) + Copy,
) {
    let columns: [&[T]; N] = from_fn(|index| {
        a.index_axis_move(Axis(1), index).to_slice().unwrap_or_else(|| unreachable!("columns lie in order"))
    });
    vectorised(
        out.len(),
        #[inline(always)]
        || {
            let columns = columns.map(|column| &column[..out.len() / N]);
            for (at, row) in out.as_chunks_mut::<N>().0.iter_mut().enumerate() {
                for (place, column) in row.iter_mut().zip(columns) {
                    write(place, column[at]);
                }
            }
        },
    );
}

/// Writes the elements of a matrix of so many rows and columns to one in which its rows are columns, both row by row.
pub(super) fn turn_rows<V, T: Copy + 'static>(
    a: &[T],
    [rows, columns]: [usize; 2],
    out: &mut [V],
    write: impl Fn(&mut V, T) + Copy,
) {
    let (a, out) = (&a[..rows * columns], &mut out[..rows * columns]);
    vectorised(
        a.len(),
        #[inline(always)]
        || {
            if rows < BLOCK || columns < BLOCK {
                for (at, row) in a.chunks_exact(columns.max(1)).enumerate() {
                    let places = out[at..].iter_mut().step_by(rows);
                    places.zip(row).for_each(|(place, &element)| write(place, element));
                }
                return;
            }
            // The last blocks end where the matrix does: some of their elements are moved a second time.
            let mut down = 0;
            while down < rows {
                let first = down.min(rows - BLOCK);
                let mut across = 0;
                while across < columns {
                    let column = across.min(columns - BLOCK);
                    let row = |at: usize| -> &[T; BLOCK] {
                        let row = a[(first + at) * columns + column..].first_chunk();
                        row.unwrap_or_else(|| unreachable!("blocks are inside"))
                    };
                    // Of a block that is filled with one number first, the compiler would take each one by itself.
                    let mut block = [*row(0); BLOCK];
                    for (at, numbers) in block.iter_mut().enumerate().skip(1) {
                        *numbers = *row(at);
                    }
                    exchange(&mut block);
                    for (at, numbers) in block.iter().enumerate() {
                        let row = out[(column + at) * rows + first..].first_chunk_mut::<BLOCK>();
                        let places = row.unwrap_or_else(|| unreachable!("blocks are inside"));
                        for lane in 0..BLOCK {
                            write(&mut places[lane], numbers[lane]);
                        }
                    }
                    across += BLOCK;
                }
                down += BLOCK;
            }
        },
    );
}

#[inline(always)]
fn square<V, T: Copy + 'static>(
    mut out: ArrayViewMut2<'_, V>,
    a: ArrayView2<'_, T>,
    write: impl Fn(&mut V, T) + Copy,
) {
    let (count, len) = a.dim();
    let mut columns: [&[T]; SIDE] = [&[]; SIDE];
    for (slot, column) in columns.iter_mut().zip(a.axis_iter(Axis(1))) {
        *slot = column.to_slice().unwrap_or_else(|| unreachable!("columns lie in order"));
    }
    let mut rows: [&mut [V]; SIDE] = from_fn(|_| Default::default());
    for (slot, row) in rows.iter_mut().zip(out.axis_iter_mut(Axis(0))) {
        *slot = row.into_slice_memory_order().unwrap_or_else(|| unreachable!("rows lie in order"));
    }
    let (columns, rows) = (&columns[..len], &mut rows[..count]);
    let whole = [count / BLOCK * BLOCK, len / BLOCK * BLOCK];
    for (across, columns) in columns.as_chunks::<BLOCK>().0.iter().enumerate() {
        let mut blocks: [&[[T; BLOCK]]; BLOCK] = [&[]; BLOCK];
        for (blocks, column) in blocks.iter_mut().zip(columns) {
            *blocks = column.as_chunks().0;
        }
        for (down, rows) in rows.as_chunks_mut::<BLOCK>().0.iter_mut().enumerate() {
            let mut block = [blocks[0][down]; BLOCK];
            for (row, column) in block.iter_mut().zip(blocks) {
                *row = column[down];
            }
            exchange(&mut block);
            for (row, numbers) in rows.iter_mut().zip(&block) {
                let places = &mut row[across * BLOCK..][..BLOCK];
                places.iter_mut().zip(numbers).for_each(|(place, &number)| write(place, number));
            }
        }
    }
    for (at, row) in rows.iter_mut().enumerate() {
        let first = if at < whole[0] { whole[1] } else { 0 };
        row[first..].iter_mut().zip(&columns[first..]).for_each(|(place, column)| write(place, column[at]));
    }
}

/// Exchanges rows and columns of a block. The compiler does not find the instructions for this by itself: where every
/// processor has them, they are named for elements of each size.
#[inline(always)]
fn exchange<T: Copy + 'static>(block: &mut Block<T>) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = vectors::Sse2::try_new() {
        let any: &mut dyn Any = block;
        if let Some(block) = any.downcast_mut::<Block<f32>>() {
            return *block = vectors::four_bytes(simd, *block);
        } else if let Some(block) = any.downcast_mut::<Block<i32>>() {
            return *block = vectors::four_bytes(simd, *block);
        } else if let Some(block) = any.downcast_mut::<Block<f64>>() {
            return *block = vectors::eight_bytes(simd, *block);
        } else if let Some(block) = any.downcast_mut::<Block<i64>>() {
            return *block = vectors::eight_bytes(simd, *block);
        } else if let Some(block) = any.downcast_mut::<Block<Complex<f32>>>() {
            return *block = vectors::eight_bytes(simd, *block);
        } else if let Some(block) = any.downcast_mut::<Block<i16>>() {
            return *block = vectors::two_bytes(simd, *block);
        }
    }
    let before = *block;
    for (at, row) in block.iter_mut().enumerate() {
        row.iter_mut().zip(&before).for_each(|(place, column)| *place = column[at]);
    }
}

#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::arch::x86_64::__m128i;

    use pulp::bytemuck::{Pod, cast};
    pub(super) use pulp::core_arch::x86::Sse2;

    use super::{BLOCK, Block};

    /// A row as vectors, of which it fills so many.
    type Rows<const N: usize> = [[__m128i; N]; BLOCK];

    /// Numbers of as many rows as a vector has, with rows and columns exchanged: the elements of the first half of the
    /// rows are shuffled between those of the second, as often as it takes.
    #[inline(always)]
    fn shuffled<const N: usize>(
        mut rows: [__m128i; N],
        low: impl Fn(__m128i, __m128i) -> __m128i,
        high: impl Fn(__m128i, __m128i) -> __m128i,
    ) -> [__m128i; N] {
        let mut width = 1;
        while width < N {
            let before = rows;
            for at in 0..N / 2 {
                let (first, second) = (before[at], before[at + N / 2]);
                (rows[2 * at], rows[2 * at + 1]) = (low(first, second), high(first, second));
            }
            width *= 2;
        }
        rows
    }

    #[inline(always)]
    pub(super) fn two_bytes<T: Pod>(simd: Sse2, block: Block<T>) -> Block<T> {
        let rows: [__m128i; BLOCK] = cast(block);
        cast(shuffled(rows, |a, b| simd._mm_unpacklo_epi16(a, b), |a, b| simd._mm_unpackhi_epi16(a, b)))
    }

    #[inline(always)]
    pub(super) fn four_bytes<T: Pod>(simd: Sse2, block: Block<T>) -> Block<T> {
        let rows: Rows<2> = cast(block);
        cast(squares::<2, 4>(rows, |part| {
            shuffled(part, |a, b| simd._mm_unpacklo_epi32(a, b), |a, b| simd._mm_unpackhi_epi32(a, b))
        }))
    }

    #[inline(always)]
    pub(super) fn eight_bytes<T: Pod>(simd: Sse2, block: Block<T>) -> Block<T> {
        let rows: Rows<4> = cast(block);
        cast(squares::<4, 2>(rows, |part| {
            shuffled(part, |a, b| simd._mm_unpacklo_epi64(a, b), |a, b| simd._mm_unpackhi_epi64(a, b))
        }))
    }

    /// Exchanges rows and columns of a block in squares of `M` rows, of which there are `N` in each direction.
    #[inline(always)]
    fn squares<const N: usize, const M: usize>(
        rows: Rows<N>,
        turned: impl Fn([__m128i; M]) -> [__m128i; M],
    ) -> Rows<N> {
        let mut columns = rows;
        for down in 0..N {
            for across in 0..N {
                let mut part = [rows[0][0]; M];
                for (at, row) in part.iter_mut().enumerate() {
                    *row = rows[down * M + at][across];
                }
                for (at, column) in turned(part).iter().enumerate() {
                    columns[across * M + at][down] = *column;
                }
            }
        }
        columns
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ndarray::Array2;

    /// A matrix of so many rows and columns, turned.
    fn turned<T: Copy + PartialEq + Send + 'static>(rows: usize, columns: usize, number: fn(usize) -> T) {
        let a = Array2::from_shape_fn((columns, rows), |(row, column)| number(row * rows + column));
        let mut out = Array2::from_elem((rows, columns), number(0));
        turn(out.view_mut(), a.t(), |out, a| *out = a, &mut Steps::default());
        assert!(out == a.t(), "{rows} {columns}");
    }

    #[test]
    fn elements_of_every_size_come_to_where_they_belong() {
        for (rows, columns) in [(1, 1), (3, 70), (8, 8), (16, 17), (64, 64), (65, 130), (100, 9)] {
            turned::<u8>(rows, columns, |number| number as u8);
            turned::<i16>(rows, columns, |number| number as i16);
            turned::<i32>(rows, columns, |number| number as i32);
            turned::<f32>(rows, columns, |number| number as f32);
            turned::<i64>(rows, columns, |number| number as i64);
            turned::<f64>(rows, columns, |number| number as f64);
            turned::<Complex<f32>>(rows, columns, |number| Complex::new(number as f32, 7.0));
            turned::<[u64; 2]>(rows, columns, |number| [number as u64, 7]);
        }
    }

    #[test]
    fn rows_of_any_length_become_columns() {
        for (rows, columns) in
            [(0, 3), (3, 0), (1, 9), (9, 1), (7, 8), (8, 8), (64, 16), (64, 37), (13, 11), (70, 100)]
        {
            let a: Vec<f32> = (0..rows * columns).map(|number| number as f32).collect();
            let mut out = vec![-1.0; a.len()];
            turn_rows(&a, [rows, columns], &mut out, |out, a| *out = a);
            let expected = (0..rows * columns).map(|place| a[place % rows * columns + place / rows]);
            assert!(out.iter().copied().eq(expected), "{rows} {columns}");
        }
    }
}

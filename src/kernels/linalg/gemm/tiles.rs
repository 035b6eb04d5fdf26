//! Products of real matrices of moderate size: tiles of rows and columns whose sums stay in registers. The right factor
//! is laid out in panels as wide as a tile, so that it may lie in any way; each sum goes along its row once, in order.

use std::mem::MaybeUninit;

use ndarray::{ArrayView2, Axis};
use pulp::{Arch, Simd, WithSimd};

use crate::kernels::geometry::moves;
use crate::kernels::interrupt;
use crate::kernels::place::Place;
use crate::kernels::wide::{Wide, lanes};

/// Rows of a tile where there are many registers, and where there are few; vectors of its columns.
const ROWS: usize = 8;
const FEW_ROWS: usize = 4;
const ACROSS: usize = 2;

/// From so many registers on there are many.
const REGISTERS: usize = 32;

/// Panels of so many numbers need no memory but the stack's.
const LITTLE: usize = 2048;

/// Rows and columns that are turned together.
const SQUARE: usize = 16;

/// Where the left factor has more columns than so many times its rows, lines of both are multiplied as they lie, if both
/// lie along them: sums of lanes cost less there than panels.
const LONG: usize = 12;
const LINES: usize = 4;

/// Whether a matrix of these rows can be the left factor: not on processors without vectors, and not where its rows
/// are neither lines nor columns of lines.
pub(super) fn takes<T: Wide>(a: ArrayView2<'_, T>) -> bool {
    (lies_along(a, 0) || lies_along(a, 1)) && has_vectors()
}

/// Whether the processor has vectors.
pub(super) fn has_vectors() -> bool {
    struct Vectors;
    impl WithSimd for Vectors {
        type Output = bool;

        fn with_simd<S: Simd>(self, _simd: S) -> bool {
            !S::IS_SCALAR
        }
    }
    Arch::new().dispatch(Vectors)
}

/// Whether neighbours along an axis lie beside each other.
fn lies_along<T>(matrix: ArrayView2<'_, T>, axis: usize) -> bool {
    matrix.len_of(Axis(axis)) == 1 || matrix.strides()[axis] == 1
}

/// Whether lines of both are multiplied as they lie.
pub(super) fn are_lines<T>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>) -> bool {
    a.ncols() > LONG * a.nrows() && lies_along(a, 1) && lies_along(b, 0)
}

/// Writes `a b`, one row after the other.
pub(super) fn product<T: Wide>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
    match are_lines(a, b) {
        true => Arch::new().dispatch(Lines { a, b, out }),
        false => Arch::new().dispatch(Product { a, b, out }),
    }
}

/// A right factor that is laid out in panels once, for many products.
pub(super) struct Laid<T> {
    numbers: Vec<T>,
    depth: usize,
}

impl<T: Wide> Laid<T> {
    pub(super) fn new(b: ArrayView2<'_, T>) -> Laid<T> {
        Arch::new().dispatch(Laying { b })
    }

    /// Writes the products with some rows.
    pub(super) fn product(&self, a: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
        Arch::new().dispatch(LaidProduct { a, panels: Panels::new(&self.numbers, self.depth), out });
    }
}

struct Laying<'a, T> {
    b: ArrayView2<'a, T>,
}

impl<T: Wide> WithSimd for Laying<'_, T> {
    type Output = Laid<T>;

    #[inline(always)]
    fn with_simd<S: Simd>(self, _simd: S) -> Laid<T> {
        let mut numbers = interrupt::filled(laid_len::<T, S>(self.b), T::ZERO);
        lay(self.b, const { ACROSS * lanes::<T, S>() }, &mut numbers);
        Laid { numbers, depth: self.b.nrows() }
    }
}

struct LaidProduct<'a, 'o, T> {
    a: ArrayView2<'a, T>,
    panels: Panels<'a, T>,
    out: &'o mut [MaybeUninit<T>],
}

impl<T: Wide> WithSimd for LaidProduct<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(mut self, simd: S) {
        self.panels.all_rows(simd, self.a, self.out);
    }
}

struct Product<'a, 'o, T> {
    a: ArrayView2<'a, T>,
    b: ArrayView2<'a, T>,
    out: &'o mut [MaybeUninit<T>],
}

impl<T: Wide> WithSimd for Product<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Product { a, b, out } = self;
        let len = laid_len::<T, S>(b);
        let (mut little, mut much) = ([const { MaybeUninit::uninit() }; LITTLE], None);
        let room = match len <= LITTLE {
            true => &mut little[..len],
            false => much.insert(interrupt::filled(len, MaybeUninit::uninit())),
        };
        lay(b, const { ACROSS * lanes::<T, S>() }, room);
        // SAFETY: every number of every panel was written, and `MaybeUninit` has the layout of what it holds.
        let numbers = unsafe { std::slice::from_raw_parts(room.as_ptr().cast(), room.len()) };
        Panels::new(numbers, b.nrows()).all_rows(simd, a, out);
    }
}

/// How many numbers a matrix is laid out in.
fn laid_len<T: Wide, S: Simd>(matrix: ArrayView2<'_, T>) -> usize {
    matrix.nrows() * matrix.ncols().next_multiple_of(const { lanes::<T, S>() })
}

/// Lays a matrix in panels of so many columns, one after the other, and zeros behind the last column.
fn lay<T: Wide, P: Place<T>>(matrix: ArrayView2<'_, T>, width: usize, room: &mut [P]) {
    let (depth, columns) = matrix.dim();
    let padded = room.len() / depth.max(1);
    for first in (0..columns).step_by(width) {
        let (own, width) = (width.min(columns - first), width.min(padded - first));
        let panel = &mut room[first * depth..][..width * depth];
        if matrix.strides()[0] == 1 && columns > 1 {
            match matrix.t().to_slice() {
                Some(numbers) if own == width => {
                    moves::turn(&numbers[first * depth..], [width, depth], panel, |to, number| {
                        to.put(number)
                    });
                }
                _ => turn(matrix, first, own, panel, width),
            }
            continue;
        }
        for (to, row) in panel.chunks_exact_mut(width).zip(matrix.outer_iter()) {
            let (to, behind) = to.split_at_mut(own);
            behind.iter_mut().for_each(|to| to.put(T::ZERO));
            match row.to_slice() {
                Some(row) => {
                    P::copied(to, &row[first..first + own]);
                }
                None => {
                    for (column, to) in to.iter_mut().enumerate() {
                        to.put(row[first + column]);
                    }
                }
            }
        }
    }
}

/// Lays some columns of a matrix that lies column by column in a panel.
fn turn<T: Wide, P: Place<T>>(
    matrix: ArrayView2<'_, T>,
    first: usize,
    columns: usize,
    panel: &mut [P],
    width: usize,
) {
    let depth = matrix.nrows();
    let line = |column: usize| {
        let Some(line) = matrix.column(first + column).to_slice() else {
            unreachable!("columns have stride 1")
        };
        line
    };
    let whole = depth / SQUARE * SQUARE;
    for left in (0..width).step_by(SQUARE) {
        let own = columns.saturating_sub(left).min(SQUARE);
        let breadth = SQUARE.min(width - left);
        for top in (0..whole).step_by(SQUARE) {
            let mut tile = [[T::ZERO; SQUARE]; SQUARE];
            for (column, numbers) in tile.iter_mut().enumerate().take(own) {
                numbers.copy_from_slice(&line(left + column)[top..top + SQUARE]);
            }
            for (row, to) in panel[top * width..].chunks_exact_mut(width).take(SQUARE).enumerate() {
                for (to, numbers) in to[left..left + breadth].iter_mut().zip(&tile) {
                    to.put(numbers[row]);
                }
            }
        }
        for (row, to) in panel.chunks_exact_mut(width).enumerate().skip(whole) {
            for (column, to) in to[left..left + breadth].iter_mut().enumerate() {
                to.put(if column < own { line(left + column)[row] } else { T::ZERO });
            }
        }
    }
}

/// The right factor, and room for rows of the left one.
struct Panels<'a, T> {
    numbers: &'a [T],
    depth: usize,
    turned: Vec<T>,
}

impl<'a, T: Wide> Panels<'a, T> {
    #[inline(always)]
    fn new(numbers: &'a [T], depth: usize) -> Panels<'a, T> {
        Panels { numbers, depth, turned: Vec::new() }
    }

    /// The products of all rows, as many together as there are registers for.
    #[inline(always)]
    fn all_rows<S: Simd>(&mut self, simd: S, a: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
        let (rows, mut row) = (a.nrows(), 0);
        if S::REGISTER_COUNT >= REGISTERS {
            while row + ROWS <= rows {
                self.rows::<S, ROWS>(simd, a, row, out);
                row += ROWS;
            }
        }
        while row + FEW_ROWS <= rows {
            self.rows::<S, FEW_ROWS>(simd, a, row, out);
            row += FEW_ROWS;
        }
        while row < rows {
            self.rows::<S, 1>(simd, a, row, out);
            row += 1;
        }
    }

    /// The products of some rows.
    #[inline(always)]
    fn rows<S: Simd, const R: usize>(
        &mut self,
        simd: S,
        a: ArrayView2<'_, T>,
        row: usize,
        out: &mut [MaybeUninit<T>],
    ) {
        let (lanes, columns, depth) = (const { lanes::<T, S>() }, out.len() / a.nrows(), self.depth);
        let mut lines: [&[T]; R] = [&[]; R];
        let is_turned = a.strides()[1] != 1 && depth > 1;
        if is_turned {
            if self.turned.len() < depth * R {
                self.turned = interrupt::filled(depth * R, T::ZERO);
            }
            for (numbers, column) in self.turned.chunks_exact_mut(R).zip(a.columns()) {
                match column.to_slice() {
                    Some(column) => numbers.copy_from_slice(&column[row..row + R]),
                    None => numbers.iter_mut().zip(column.iter().skip(row)).for_each(|(to, &x)| *to = x),
                }
            }
        } else {
            for (r, line) in lines.iter_mut().enumerate() {
                let Some(numbers) = a.row(row + r).to_slice() else { unreachable!("rows have stride 1") };
                *line = numbers;
            }
        }
        let left = Left { lines, turned: &self.turned[..if is_turned { depth * R } else { 0 }] };
        for column in (0..columns).step_by(ACROSS * lanes) {
            let (panel, width) = (&self.numbers[column * depth..], columns - column);
            let out = &mut out[row * columns + column..];
            if width > lanes {
                let width = width.min(ACROSS * lanes);
                left.tile::<S, ACROSS>(simd, &panel[..ACROSS * lanes * depth], out, [columns, width]);
            } else {
                left.tile::<S, 1>(simd, &panel[..lanes * depth], out, [columns, width]);
            }
        }
    }
}

/// Some rows of the left factor: as they lie, or column by column.
struct Left<'a, T, const R: usize> {
    lines: [&'a [T]; R],
    turned: &'a [T],
}

impl<T: Wide, const R: usize> Left<'_, T, R> {
    /// Their products with a panel, into lines that are so far apart and take so many.
    #[inline(always)]
    fn tile<S: Simd, const V: usize>(
        &self,
        simd: S,
        panel: &[T],
        out: &mut [MaybeUninit<T>],
        [apart, width]: [usize; 2],
    ) {
        // Loops count, and do not zip: what is not inlined here would keep sums in memory.
        #![allow(clippy::needless_range_loop)]
        let lanes = const { lanes::<T, S>() };
        let mut sums = [[T::splat(simd, T::ZERO); V]; R];
        let (vectors, _) = T::vectors::<S>(panel);
        let rows = vectors.as_chunks::<V>().0;
        if self.turned.is_empty() {
            for p in 0..rows.len() {
                let near = rows[p];
                for r in 0..R {
                    let x = T::splat(simd, self.lines[r][p]);
                    for v in 0..V {
                        sums[r][v] = T::times_plus(simd, x, near[v], sums[r][v]);
                    }
                }
            }
        } else {
            let turned = &self.turned.as_chunks::<R>().0[..rows.len()];
            for p in 0..rows.len() {
                let (near, factors) = (rows[p], turned[p]);
                for r in 0..R {
                    let x = T::splat(simd, factors[r]);
                    for v in 0..V {
                        sums[r][v] = T::times_plus(simd, x, near[v], sums[r][v]);
                    }
                }
            }
        }
        for r in 0..R {
            let out = &mut out[r * apart..][..width];
            for v in 0..V {
                let out = &mut out[width.min(v * lanes)..];
                let len = out.len().min(lanes);
                T::put(simd, sums[r][v], &mut out[..len]);
            }
        }
    }
}

/// Factors that both lie along the lines of their products.
struct Lines<'a, 'o, T> {
    a: ArrayView2<'a, T>,
    b: ArrayView2<'a, T>,
    out: &'o mut [MaybeUninit<T>],
}

impl<T: Wide> WithSimd for Lines<'_, '_, T> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Lines { a, b, out } = self;
        let row = |row: usize| {
            let Some(line) = a.row(row).to_slice() else { unreachable!("rows have stride 1") };
            line
        };
        let column = |column: usize| {
            let Some(line) = b.column(column).to_slice() else { unreachable!("columns have stride 1") };
            line
        };
        let (rows, columns) = (a.nrows(), b.ncols());
        for first in (0..columns).step_by(LINES) {
            // What is missing of the last lines is the last one again, whose products nobody takes.
            let right: [&[T]; LINES] = [0, 1, 2, 3].map(|line| column((first + line).min(columns - 1)));
            for top in (0..rows).step_by(LINES) {
                let left: [&[T]; LINES] = [0, 1, 2, 3].map(|line| row((top + line).min(rows - 1)));
                let sums = dots(simd, left, right);
                for (r, sums) in sums.iter().enumerate().take(rows - top) {
                    let out = &mut out[(top + r) * columns + first..];
                    for (out, &sum) in out.iter_mut().zip(sums).take(columns - first) {
                        out.write(sum);
                    }
                }
            }
        }
    }
}

/// The products of lines with each other.
#[inline(always)]
fn dots<T: Wide, S: Simd>(simd: S, left: [&[T]; LINES], right: [&[T]; LINES]) -> [[T; LINES]; LINES] {
    let mut sums = [[T::splat(simd, T::ZERO); LINES]; LINES];
    let depth = left[0].len();
    let mut a: [&[T::Of<S>]; LINES] = [&[]; LINES];
    let mut b: [&[T::Of<S>]; LINES] = [&[]; LINES];
    for line in 0..LINES {
        (a[line], b[line]) =
            (T::vectors::<S>(&left[line][..depth]).0, T::vectors::<S>(&right[line][..depth]).0);
    }
    let count = a[0].len();
    for p in 0..count {
        let mut near = [T::splat(simd, T::ZERO); LINES];
        for line in 0..LINES {
            near[line] = b[line][p];
        }
        for r in 0..LINES {
            let x = a[r][p];
            for line in 0..LINES {
                sums[r][line] = T::times_plus(simd, x, near[line], sums[r][line]);
            }
        }
    }
    let mut found = [[T::ZERO; LINES]; LINES];
    for r in 0..LINES {
        for line in 0..LINES {
            found[r][line] = T::total(simd, sums[r][line]);
        }
    }
    for p in count * const { lanes::<T, S>() }..depth {
        for r in 0..LINES {
            for line in 0..LINES {
                found[r][line] = found[r][line] + left[r][p] * right[line][p];
            }
        }
    }
    found
}

//! Matrix products: real and complex ones through the `gemm` crate, integer ones by a plain loop,
//! small ones of all by a plain loop too. Any strides, so transposed views are not copied.
//!
//! Large products are cut into blocks of rows and columns, of sizes that depend on theirs alone, so the number of
//! threads never shows in the bits.

#![allow(unsafe_code)]

mod narrow;
mod plain;
mod tiles;
mod vector;
mod whole;

pub use vector::dot;

use narrow::narrow;
use plain::{little, plain, square};

use gemm::Parallelism;
use gemm_common::gemm::L2_SLAB;
use ndarray::{Array2, ArrayView2, ArrayView3, ArrayViewMut1, ArrayViewMut2, Axis, CowArray, Ix2};
use std::any::TypeId;
use std::cell::Cell;
use std::mem::MaybeUninit;

use crate::dtype::Ring;
use crate::kernels::geometry::moves;
use crate::kernels::interrupt;
use crate::kernels::parallel::parallel_items;
use crate::kernels::wide::Wide;
use crate::storage::Reserve;

/// Products with at most this many multiplications skip packing.
const SMALL: usize = 5 * 5 * 5;

/// Columns of a block of a product that is shared between threads: about a quarter of what there is, between these. Each
/// block is packed by itself, the right factor at more cost than the left one, so that rows stay together, up to so many;
/// of what has columns for one block only, about half.
const COLUMNS: (usize, usize) = (64, 1024);
const ROWS: (usize, usize) = (64, 1024);

/// Rows and columns that the library multiplies at a time, or multiples of that.
const UNITS: [usize; 2] = [8, 64];

/// Multiplications between which one can give up, some milliseconds, and the columns that are computed
/// together in any case.
const PIECE: usize = 1 << 27;
const FEW_COLUMNS: usize = 128;

/// Multiplications below which a product is not shared between threads, and those of a batch that are worth a turn of
/// one.
const SHARED: usize = 1 << 21;
const TURN: usize = 1 << 20;

/// Multiplications below which products are made in tiles, and those of lines as they lie.
const TILED: usize = 1 << 19;
const LINES: usize = 1 << 23;

/// At most so many bytes does the library keep for each thread.
const OWN: usize = 1 << 23;

/// The library packs at most so many columns of the left factor at a time.
const DEEP: usize = 1 << 10;

/// By so many rows or columns it rounds up at most.
const OVER: usize = 64;

/// What is asked for in blocks smaller than this comes out of larger ones.
const LARGE: usize = 1 << 14;

/// Products of fewer rows than this with a matrix that lies column by column are those of vectors.
const FEW_ROWS: usize = 5;

/// Elements from which on a matrix that lies column by column is laid row by row first, if it is multiplied with fewer
/// rows than so many: `gemm` would do so for as much work as the product is.
const LAID: usize = 1 << 15;
const MANY_ROWS: usize = 64;

/// What is multiplied.
type Factors<'a, T> = (ArrayView2<'a, T>, ArrayView2<'a, T>);

/// A part of a product: rows, columns, and where their products go.
type Part<'a, T> = (ArrayView2<'a, T>, ArrayView2<'a, T>, ArrayViewMut2<'a, MaybeUninit<T>>);

/// `matmul` over what is there.
pub fn matmul_into<T: Ring>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [T]) {
    // SAFETY: `MaybeUninit` has the layout of what it holds, and a product writes nothing but numbers.
    let out = unsafe { std::slice::from_raw_parts_mut(out.as_mut_ptr().cast(), out.len()) };
    matmul(a, b, out);
}

/// Numbers as those of a type, if it is theirs.
fn known<T: Ring, K: Ring>(numbers: &[T]) -> Option<&[K]> {
    // SAFETY: both are one type.
    (TypeId::of::<T>() == TypeId::of::<K>())
        .then(|| unsafe { std::slice::from_raw_parts(numbers.as_ptr().cast(), numbers.len()) })
}

/// Places of numbers as those of a type, if it is theirs.
fn known_mut<T: Ring, K: Ring>(places: &mut [MaybeUninit<T>]) -> Option<&mut [MaybeUninit<K>]> {
    // SAFETY: both are one type.
    (TypeId::of::<T>() == TypeId::of::<K>())
        .then(|| unsafe { std::slice::from_raw_parts_mut(places.as_mut_ptr().cast(), places.len()) })
}

/// A part of a length, of which there are about so many, rounded up to whole units, and then the same for all parts but
/// the last one, which is no less than half of it: what is packed for a part is not worth it for a rest.
fn share(len: usize, parts: usize, (least, most): (usize, usize), unit: usize) -> usize {
    let mut parts = len.div_ceil((len / parts).clamp(least, most));
    loop {
        let part = len.div_ceil(parts).next_multiple_of(unit);
        if parts == 1 || len.is_multiple_of(part) || len % part >= part / 2 {
            return part;
        }
        parts -= 1;
    }
}

/// `out = a b` for matrices of shapes (m, k) and (k, n).
pub fn matmul<T: Ring>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
    let ((m, k), n) = (a.dim(), b.ncols());
    if m * n == 0 {
        return;
    }
    if m == k && k == n && (2..=4).contains(&m) {
        return match m {
            2 => square::<T, 2>(a, b, out),
            3 => square::<T, 3>(a, b, out),
            _ => square::<T, 4>(a, b, out),
        };
    }
    if m * k * n <= SMALL {
        return match (a.to_slice(), b.to_slice()) {
            (Some(a), Some(b)) => little(a, b, n, out),
            _ => plain(a, b, out.chunks_exact_mut(n)),
        };
    }
    if products_of_vectors(a, b, out) || narrow(a, b, out) || in_tiles(a, b, out) {
        return;
    }
    let laid;
    let is_by_columns =
        T::DTYPE.is_float() && k * n >= LAID && m < MANY_ROWS && b.strides()[1] != 1 && b.strides()[0] == 1;
    let b = if m >= FEW_ROWS && is_by_columns {
        laid = moves::gathered(&b.into_dyn());
        ArrayView2::from_shape((k, n), &laid).unwrap_or_else(|_| unreachable!("there are so many numbers"))
    } else {
        b
    };
    let mut rest = ArrayViewMut2::from_shape((m, n), out)
        .unwrap_or_else(|_| unreachable!("there is room for the product"));
    if m * k * n < SHARED {
        return block((a, b, rest));
    }
    let mut columns = share(n, 4, COLUMNS, UNITS[1]);
    let rows = share(m, if columns < n { 1 } else { 2 }, ROWS, UNITS[0]);
    while columns > FEW_COLUMNS && rows.saturating_mul(columns).saturating_mul(k) > PIECE {
        columns = (columns / 2).next_multiple_of(8);
    }
    let mut parts: Vec<Part<'_, T>> = interrupt::room(m.div_ceil(rows) * n.div_ceil(columns));
    for a in a.axis_chunks_iter(Axis(0), rows) {
        let (mut line, below) = rest.split_at(Axis(0), a.nrows());
        rest = below;
        for b in b.axis_chunks_iter(Axis(1), columns) {
            let (out, right) = line.split_at(Axis(1), b.ncols());
            line = right;
            parts.push((a, b, out));
        }
    }
    parallel_items(parts, 1, block);
}

/// A view as one of a type, if its elements are of that.
fn known_view<'a, T: Ring, K: Ring>(view: &ArrayView2<'a, T>) -> Option<ArrayView2<'a, K>> {
    // SAFETY: both are one type, and views may be copied.
    (TypeId::of::<T>() == TypeId::of::<K>()).then(|| unsafe { std::mem::transmute_copy(view) })
}

/// The product in tiles, if there are tiles for it, and says whether it was. Columns are too few where vectors would be
/// nearly empty.
fn in_tiles<T: Ring>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) -> bool {
    let ((m, k), n) = (a.dim(), b.ncols());
    let most = if tiles::are_lines(a, b) { LINES } else { TILED };
    if n < FEW_ROWS.min(m) || m * k * n >= most {
        return false;
    }
    if let (Some(a), Some(b), Some(out)) = (known_view::<T, f32>(&a), known_view(&b), known_mut(out)) {
        return real_in_tiles(a, b, out);
    }
    match (known_view::<T, f64>(&a), known_view(&b), known_mut(out)) {
        (Some(a), Some(b), Some(out)) => real_in_tiles(a, b, out),
        _ => false,
    }
}

/// `in_tiles` of real numbers.
fn real_in_tiles<T: Wide>(a: ArrayView2<'_, T>, b: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) -> bool {
    let takes = tiles::takes(a);
    if takes {
        tiles::product(a, b, out);
    }
    takes
}

/// A right factor of many products with matrices of one shape: what each of them needs of it is made once.
pub struct Repeated<'a, T>(Kept<'a, T>);

enum Kept<'a, T> {
    Laid(tiles::Laid<T>),
    InOrder(CowArray<'a, T, Ix2>),
}

impl<'a, T: Wide> Repeated<'a, T> {
    /// For left factors of so many rows.
    pub fn new(factor: ArrayView2<'a, T>, rows: usize) -> Repeated<'a, T> {
        let work = rows * factor.len();
        Repeated(if rows >= FEW_ROWS && work > SMALL && work < SHARED && tiles::has_vectors() {
            Kept::Laid(tiles::Laid::new(factor))
        } else if factor.is_standard_layout() {
            Kept::InOrder(factor.into())
        } else {
            let laid = Array2::from_shape_vec(factor.dim(), moves::gathered(&factor.into_dyn()));
            Kept::InOrder(laid.unwrap_or_else(|_| unreachable!("there are so many numbers")).into())
        })
    }

    /// `out = a b`, with this as `b`.
    pub fn product(&self, a: ArrayView2<'_, T>, out: &mut [MaybeUninit<T>]) {
        match &self.0 {
            Kept::Laid(laid) => laid.product(a, out),
            Kept::InOrder(factor) => matmul(a, factor.view(), out),
        }
    }
}

/// The products with a matrix of one row or column, or of few rows with one that lies column by column, if they are
/// such.
fn products_of_vectors<T: Ring>(
    a: ArrayView2<'_, T>,
    b: ArrayView2<'_, T>,
    out: &mut [MaybeUninit<T>],
) -> bool {
    let (m, n) = (a.nrows(), b.ncols());
    if n == 1 {
        return vector::times_matrix(b.column(0), a.t(), out);
    }
    let is_few = m < FEW_ROWS && b.strides()[0] == 1;
    (m == 1 || is_few)
        && a.rows()
            .into_iter()
            .zip(out.chunks_exact_mut(n))
            .all(|(row, out)| vector::times_matrix(row, b, out))
}

/// `out[i] = a[i] b[i]` for batches of matrices of shapes (batch, m, k) and (batch, k, n); a batch
/// stride of 0 repeats a matrix.
pub fn batched_matmul<T: Ring>(a: ArrayView3<'_, T>, b: ArrayView3<'_, T>, out: &mut [MaybeUninit<T>]) {
    let (_, m, k) = a.dim();
    let n = b.dim().2;
    if m * n == 0 {
        return;
    }
    let work = (m * k * n).max(1);
    let products = a.outer_iter().zip(b.outer_iter()).zip(out.chunks_exact_mut(m * n));
    let body = |((a, b), out): (Factors<'_, T>, &mut [MaybeUninit<T>])| matmul(a, b, out);
    let grain = TURN.div_ceil(work);
    match products.len() <= grain {
        true => products.for_each(body),
        false => parallel_items(products, grain, body),
    }
}

/// Holds memory for what the library packs of factors: it asks for that itself. It keeps some for each thread besides,
/// which it is made to take here. Unwinds if there is too little.
pub(super) fn reserve<T>(m: usize, k: usize, n: usize) -> Option<Reserve> {
    thread_local!(static HAS_OWN: Cell<bool> = const { Cell::new(false) });
    if !HAS_OWN.get() {
        let _own = interrupt::reserve(OWN);
        L2_SLAB.with(|_| HAS_OWN.set(true));
    }
    let bytes = (m + n + 2 * OVER).saturating_mul(k.min(DEEP)).saturating_mul(size_of::<T>());
    (bytes >= LARGE).then(|| interrupt::reserve(bytes))
}

/// A part on this thread.
fn block<T: Ring>((a, b, mut out): Part<'_, T>) {
    let ((m, k), n) = (a.dim(), b.ncols());
    if !(T::DTYPE.is_float() || T::DTYPE.is_complex()) {
        let out = out.axis_iter_mut(Axis(0)).filter_map(ArrayViewMut1::into_slice);
        return if m >= whole::LEAST_ROWS { whole::tiled(a, b, out) } else { plain(a, b, out) };
    }
    assert!(out.dim() == (m, n) && b.nrows() == k, "the caller has checked the shapes");
    let _packed = reserve::<T>(m, k, n);
    let [out_row, out_column] = [0, 1].map(|axis| out.strides()[axis]);
    let ([a_row, a_column], [b_row, b_column]) =
        ([0, 1].map(|axis| a.strides()[axis]), [0, 1].map(|axis| b.strides()[axis]));
    // SAFETY: the views are readable, and `out` is writable, at every index below their shapes with these strides;
    // nothing else refers to the elements of `out`, it is only written (`read_dst` is false), and `T` is a type that
    // the library knows, of which `MaybeUninit` has the layout.
    unsafe {
        gemm::gemm(
            m,
            n,
            k,
            out.as_mut_ptr().cast::<T>(),
            out_column,
            out_row,
            false,
            a.as_ptr(),
            a_column,
            a_row,
            b.as_ptr(),
            b_column,
            b_row,
            T::ZERO,
            T::ONE,
            false,
            false,
            false,
            Parallelism::None,
        );
    }
}

#[cfg(test)]
mod tests;

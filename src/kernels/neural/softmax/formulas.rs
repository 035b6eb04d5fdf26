//! What is done with one row, and with rows side by side.

use std::mem::{MaybeUninit, take};

use crate::dtype::{Number, Real};
use crate::kernels::interrupt;
use crate::kernels::lanes::{Folding, fold, sums, visit};
use crate::kernels::merge::{Greater, Merge};
use crate::kernels::place::Place;
use crate::kernels::pointwise::math::{Arithmetic, exp, ln};

/// Of rows that lie side by side, so many elements are added one after another, then such sums.
const TOGETHER: usize = 64;

/// Columns of row-major arrays, of which every one is a row by itself.
#[derive(Clone, Copy)]
pub(super) struct Tile<'a, T, const N: usize> {
    pub(super) inputs: [&'a [T]; N],
    /// How many elements a column has.
    pub(super) len: usize,
    /// How far elements of a column are apart.
    pub(super) stride: usize,
}

/// Places of the elements of columns, side by side.
pub(super) type Lines<'l, 'o, V> = &'l mut [&'o mut [V]];

/// A function along rows of `N` arrays.
pub(super) trait Formula<const N: usize>: Copy + Send + Sync {
    /// Whether one number comes of a row, instead of as many as it has.
    const SINGLE: bool = false;

    /// Whether there has to be room for as many numbers beside a row.
    const ROOM: bool = false;

    /// Of a row.
    fn row<A: Arithmetic>(
        self,
        rows: [&[A::Plain]; N],
        room: &mut [A::Plain],
        out: &mut [MaybeUninit<A::Plain>],
    );

    /// Of columns.
    fn columns<A: Arithmetic, V: Place<A::Plain>>(self, tile: Tile<'_, A::Plain, N>, out: Lines<'_, '_, V>);
}

/// eˣ / Σ eˣ, or the logarithm of that.
#[derive(Clone, Copy)]
pub(super) struct Forward {
    pub(super) log: bool,
    /// Whether rows whose elements are all infinitely small become zeros.
    pub(super) safe: bool,
}

/// ln Σ eˣ
#[derive(Clone, Copy)]
pub(super) struct LogSumExp;

/// From a gradient g and the result y: y (g - Σ g y), or g - eʸ Σ g of the logarithm.
#[derive(Clone, Copy)]
pub(super) struct Backward {
    pub(super) log: bool,
}

impl<T: Real, const N: usize> Tile<'_, T, N> {
    /// The elements of the columns at one place.
    #[inline(always)]
    fn line(&self, place: usize, width: usize) -> [&[T]; N] {
        let mut line = self.inputs;
        for line in &mut line {
            *line = &line[place * self.stride..][..width];
        }
        line
    }
}

/// Sums of columns: `add` adds what is at a place.
#[inline(always)]
fn column_sums<T: Real, A: Arithmetic<Plain = T>>(
    len: usize,
    width: usize,
    mut add: impl FnMut(usize, &mut [T]),
) -> Vec<T> {
    let mut total = interrupt::filled(width, T::ZERO);
    let mut recent = interrupt::filled(width, T::ZERO);
    for start in (0..len).step_by(TOGETHER) {
        recent.fill(T::ZERO);
        for place in start..len.min(start + TOGETHER) {
            add(place, &mut recent);
        }
        visit([&recent], &mut total, |total: &mut T, [part]: [A; 1]| *total = (A::new(*total) + part).get());
    }
    total
}

/// The greatest elements of columns.
#[inline(always)]
fn greatest<A: Arithmetic>(tile: Tile<'_, A::Plain, 1>, width: usize) -> Vec<A::Plain> {
    let mut greatest = interrupt::filled(width, <A::Plain as Number>::LOWEST);
    for place in 0..tile.len {
        visit(tile.line(place, width), &mut greatest, |greatest: &mut A::Plain, [x]: [A; 1]| {
            // What is none is found in sums.
            *greatest = Greater.two(*greatest, x.get());
        });
    }
    greatest
}

/// Σ e^(x - shift) of columns.
#[inline(always)]
fn sums_of_powers<A: Arithmetic>(tile: Tile<'_, A::Plain, 1>, shift: &[A::Plain]) -> Vec<A::Plain> {
    column_sums::<A::Plain, A>(
        tile.len,
        shift.len(),
        #[inline(always)]
        |place, total| {
            let [x] = tile.line(place, shift.len());
            visit([x, shift], total, |total: &mut A::Plain, [x, shift]: [A; 2]| {
                *total = (A::new(*total) + exp(x - shift)).get();
            });
        },
    )
}

impl Formula<1> for Forward {
    const ROOM: bool = true;

    #[inline(always)]
    fn row<A: Arithmetic>(
        self,
        [x]: [&[A::Plain]; 1],
        room: &mut [A::Plain],
        out: &mut [MaybeUninit<A::Plain>],
    ) {
        let identity = A::new(<A::Plain as Number>::LOWEST);
        let [shift] = fold([x], Folding { identity, map: |x: [A; 1]| x, merge: Greater });
        // What is infinitely small less nothing stays so, and all of it together is nothing.
        let zero = A::from_f64(0.0);
        let shift = if self.safe && shift == identity { zero } else { shift };
        if self.log {
            let [total] = sums([x], |[x]: [A; 1]| [exp(x - shift)]);
            let log = ln(total);
            visit([x], out, |out: &mut MaybeUninit<A::Plain>, [x]: [A; 1]| {
                out.write(((x - shift) - log).get());
            });
            return;
        }
        visit([x], room, |room: &mut A::Plain, [x]: [A; 1]| *room = exp(x - shift).get());
        let [total] = sums([&*room], |x: [A; 1]| x);
        let is_nothing = self.safe && total == zero;
        let inverse = if is_nothing { zero } else { A::from_f64(1.0) / total };
        visit([&*room], out, |out: &mut MaybeUninit<A::Plain>, [y]: [A; 1]| {
            out.write((y * inverse).get());
        });
    }

    #[inline(always)]
    fn columns<A: Arithmetic, V: Place<A::Plain>>(self, tile: Tile<'_, A::Plain, 1>, out: Lines<'_, '_, V>) {
        let (width, lowest) = (out[0].len(), <A::Plain as Number>::LOWEST);
        let mut shift = greatest::<A>(tile, width);
        if self.safe {
            visit([], &mut shift, |shift: &mut A::Plain, []: [A; 0]| {
                *shift = if *shift == lowest { A::from_f64(0.0).get() } else { *shift };
            });
        }
        if self.log {
            let mut log = sums_of_powers::<A>(tile, &shift);
            visit([], &mut log, |log: &mut A::Plain, []: [A; 0]| *log = ln(A::new(*log)).get());
            for (place, out) in out.iter_mut().enumerate() {
                let [x] = tile.line(place, width);
                visit([x, &shift, &log], out, |out: &mut V, [x, shift, log]: [A; 3]| {
                    out.put(((x - shift) - log).get());
                });
            }
            return;
        }
        let mut room = interrupt::filled(width, A::from_f64(0.0).get());
        let mut lines: Vec<&mut [A::Plain]> = interrupt::room(tile.len);
        let mut total = column_sums::<A::Plain, A>(
            tile.len,
            width,
            #[inline(always)]
            |place, total| {
                let [x] = tile.line(place, width);
                visit([x, &shift], &mut room, |room: &mut A::Plain, [x, shift]: [A; 2]| {
                    *room = exp(x - shift).get();
                });
                visit([&room], total, |total: &mut A::Plain, [y]: [A; 1]| {
                    *total = (A::new(*total) + y).get();
                });
                lines.push(V::copied(take(&mut out[place]), &room));
            },
        );
        let safe = self.safe;
        visit([], &mut total, |total: &mut A::Plain, []: [A; 0]| {
            let is_nothing = safe && *total == A::from_f64(0.0).get();
            *total = if is_nothing { *total } else { (A::from_f64(1.0) / A::new(*total)).get() };
        });
        for line in lines {
            visit([&total], line, |y: &mut A::Plain, [inverse]: [A; 1]| *y = (A::new(*y) * inverse).get());
        }
    }
}

/// An infinite shift would give inf - inf.
#[inline(always)]
pub(super) fn finite<A: Arithmetic>(shift: A) -> A {
    if shift.abs() == A::from_f64(f64::INFINITY) { A::from_f64(0.0) } else { shift }
}

impl Formula<1> for LogSumExp {
    const SINGLE: bool = true;

    #[inline(always)]
    fn row<A: Arithmetic>(
        self,
        [x]: [&[A::Plain]; 1],
        _room: &mut [A::Plain],
        out: &mut [MaybeUninit<A::Plain>],
    ) {
        let identity = A::new(<A::Plain as Number>::LOWEST);
        let [greatest] = fold([x], Folding { identity, map: |x: [A; 1]| x, merge: Greater });
        let shift = finite(greatest);
        let [total] = sums([x], |[x]: [A; 1]| [exp(x - shift)]);
        out[0].write((ln(total) + shift).get());
    }

    #[inline(always)]
    fn columns<A: Arithmetic, V: Place<A::Plain>>(self, tile: Tile<'_, A::Plain, 1>, out: Lines<'_, '_, V>) {
        let mut shift = greatest::<A>(tile, out[0].len());
        visit([], &mut shift, |shift: &mut A::Plain, []: [A; 0]| *shift = finite(A::new(*shift)).get());
        let total = sums_of_powers::<A>(tile, &shift);
        visit([&total, &shift], out[0], |out: &mut V, [total, shift]: [A; 2]| {
            out.put((ln(total) + shift).get());
        });
    }
}

impl Formula<2> for Backward {
    #[inline(always)]
    fn row<A: Arithmetic>(
        self,
        [g, y]: [&[A::Plain]; 2],
        _room: &mut [A::Plain],
        out: &mut [MaybeUninit<A::Plain>],
    ) {
        if self.log {
            let [total] = sums([g], |g: [A; 1]| g);
            visit([g, y], out, |out: &mut MaybeUninit<A::Plain>, [g, y]: [A; 2]| {
                out.write((-exp(y)).times_plus(total, g).get());
            });
            return;
        }
        let [total] = sums([g, y], |[g, y]: [A; 2]| [g * y]);
        visit([g, y], out, |out: &mut MaybeUninit<A::Plain>, [g, y]: [A; 2]| {
            out.write((y * (g - total)).get());
        });
    }

    #[inline(always)]
    fn columns<A: Arithmetic, V: Place<A::Plain>>(self, tile: Tile<'_, A::Plain, 2>, out: Lines<'_, '_, V>) {
        let (width, log) = (out[0].len(), self.log);
        let total = column_sums::<A::Plain, A>(
            tile.len,
            width,
            #[inline(always)]
            |place, total| {
                visit(tile.line(place, width), total, |total: &mut A::Plain, [g, y]: [A; 2]| {
                    let term = if log { g } else { g * y };
                    *total = (A::new(*total) + term).get();
                });
            },
        );
        for (place, out) in out.iter_mut().enumerate() {
            let [g, y] = tile.line(place, width);
            match log {
                true => visit([g, y, &total], out, |out: &mut V, [g, y, total]: [A; 3]| {
                    out.put((-exp(y)).times_plus(total, g).get());
                }),
                false => visit([g, y, &total], out, |out: &mut V, [g, y, total]: [A; 3]| {
                    out.put((y * (g - total)).get());
                }),
            }
        }
    }
}

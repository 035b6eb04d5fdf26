//! Elementwise operations of two operands, computed into memory that is there.

use std::mem::MaybeUninit;

use super::Elementwise2;
use super::numbers::{Beside, Vector};
use crate::dispatch::direct::{Direct, Lies, ROOM, Register, Registers, Side, Source, Target, misfit};
use crate::dtype::{DType, Real, Scalar};
use crate::error::Result;
use crate::kernels::pointwise::chain::Step;
use crate::kernels::pointwise::zip;
use crate::kernels::pointwise::zip::Rows;
use crate::kernels::vector;
use crate::shape::Layout;

/// The operation on floating-point numbers.
pub(super) struct Directly<E>(pub(super) E);

impl<E: Elementwise2> Direct for Directly<E> {
    fn step(&self) -> Option<Step> {
        E::STEP
    }

    fn is_elementwise(&self) -> bool {
        true
    }

    fn takes(&self, operands: &[Lies<'_>], (_, dtype): (&Layout, DType)) -> bool {
        match operands {
            [Lies::Tensor(..), Lies::Tensor(..)] => true,
            [Lies::Tensor(..), Lies::Number(number)] => {
                let has_loop = || self.0.number_loop::<f32>(*number).is_some();
                is_real(*number) && (!self.0.has_number_way(*number, dtype) || has_loop())
            }
            [Lies::Number(number), Lies::Tensor(..)] => is_real(*number),
            _ => false,
        }
    }

    fn takes_registers(&self) -> bool {
        E::FLOATS
    }

    fn in_registers(&self, registers: &Registers<'_>) -> Result<()> {
        let dtype = registers.file.dtype;
        if const { !E::FLOATS } {
            return Err(misfit());
        }
        dispatch!(float dtype, T => registers.write_of_two(|a: Side<'_, T>, b, out| {
            let run = match registers.operands {
                [_, Register::Number(number)] => self.0.number_loop::<T>(*number),
                _ => None,
            };
            match (run, registers.operands) {
                (Some(run), _) => a.through(out, &run),
                (None, [Register::Elements(_), Register::Elements(_)]) => {
                    along(self.0.among(dtype, dtype), a, b, out);
                }
                (None, _) => along(self.0, a, b, out),
            }
        }), else { Err(misfit()) })
    }

    fn compute(&self, sources: &[Source<'_>], target: Target<'_>) -> Result<()> {
        let dtype = target.array.dtype;
        if const { !E::FLOATS } {
            return Err(misfit());
        }
        dispatch!(float dtype, T => {
            let [a, b] = sources else { return Err(misfit()) };
            let (a, b) = (Side::<T>::of(a, target.count)?, Side::<T>::of(b, target.count)?);
            let op = match sources {
                [Source::Array(..), Source::Array(..)] => self.0.among(dtype, dtype),
                _ => self.0,
            };
            if let [_, Source::Number(number)] = sources
                && let Some(run) = self.0.number_loop::<T>(*number)
            {
                target.write_of(sources, |out| a.through(out, &run));
                return Ok(());
            }
            let has_rows = a.length().or(b.length()).is_some();
            target.write_of(sources, |out| if has_rows { by_rows(op, a, b, out) } else { along(op, a, b, out) });
        }, else { return Err(misfit()) });
        Ok(())
    }
}

/// The function of elements in rows. Not inlined: what short rows need room for is not made where there are none.
#[inline(never)]
fn by_rows<T: Real, E: Elementwise2>(op: E, a: Side<'_, T>, b: Side<'_, T>, out: &mut [MaybeUninit<T>]) {
    let (mut long_a, mut long_b) = ([T::ZERO; ROOM], [T::ZERO; ROOM]);
    let goes_along = a.goes_along() || b.goes_along();
    let length = a.length().or(b.length()).unwrap_or(out.len()).max(1);
    if goes_along && length <= SHORT {
        return by_short_rows(op, a, b, out, length);
    }
    let (a, b) = match goes_along {
        true => (a, b),
        false => (a.lengthened(out.len(), &mut long_a), b.lengthened(out.len(), &mut long_b)),
    };
    let length = a.length().or(b.length()).unwrap_or(out.len()).max(1);
    for (index, out) in out.chunks_mut(length).enumerate() {
        along(op, a.row(index, length, out.len()), b.row(index, length, out.len()), out);
    }
}

/// Rows with one element beside all of theirs that are too short for loops of their own.
const SHORT: usize = 16;

/// The function of elements in such rows, many at a time.
#[inline(never)]
fn by_short_rows<T: Real, E: Elementwise2>(
    op: E,
    a: Side<'_, T>,
    b: Side<'_, T>,
    out: &mut [MaybeUninit<T>],
    length: usize,
) {
    let (mut long_a, mut long_b) = ([T::ZERO; ROOM], [T::ZERO; ROOM]);
    let (mut near_a, mut near_b) = ([T::ZERO; ROOM], [T::ZERO; ROOM]);
    let rows = (out.len().min(ROOM) / length).max(1);
    let (a, b) = (a.lengthened(out.len(), &mut long_a), b.lengthened(out.len(), &mut long_b));
    for (index, out) in out.chunks_mut(rows * length).enumerate() {
        let (at, count) = ((index * rows, length), out.len());
        along(op, a.spread(at, count, &mut near_a), b.spread(at, count, &mut near_b), out);
    }
}

fn is_real(number: Scalar) -> bool {
    !matches!(number, Scalar::Complex(_))
}

/// The function of elements in a row, or of one of them again and again. Not inlined: once for all who call it.
#[inline(never)]
fn along<T: Real, E: Elementwise2>(op: E, a: Side<'_, T>, b: Side<'_, T>, out: &mut [MaybeUninit<T>]) {
    match (a, b) {
        (Side::Each(a), Side::Each(b)) => match const { E::VECTOR.has::<T>() } {
            true => vector::map(a, [b], out, Vector(op)),
            false => zip::zip_rows(a.len(), Rows::one(a), Rows::one(b), out, op.loops()),
        },
        (Side::Each(a), Side::All(b)) => match const { E::VECTOR.has::<T>() } {
            true => vector::map(a, [], out, Beside::<E, false>(op, b.to_f64())),
            false => zip::zip_beside(a.len(), Rows::one(a), Rows::one(&[b]), out, op.loops()),
        },
        (Side::All(a), Side::Each(b)) => match const { E::VECTOR.has::<T>() } {
            true => vector::map(b, [], out, Beside::<E, true>(op, a.to_f64())),
            false => zip::zip_behind(b.len(), Rows::one(&[a]), Rows::one(b), out, op.loops()),
        },
        // One for all: the same for each.
        (Side::All(a), Side::All(b)) => {
            let mut found = [MaybeUninit::uninit()];
            along(op, Side::Each(&[a]), Side::Each(&[b]), &mut found);
            out.fill(found[0]);
        }
        // Rows are taken apart before.
        (a, b) => {
            along(op, a.row(0, out.len(), out.len()), b.row(0, out.len(), out.len()), out);
        }
    }
}

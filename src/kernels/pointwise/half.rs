//! Numbers of half types on their way to single precision and back, a thousand at a time, and calculations between the two
//! ways, while the numbers are in the nearest memory.
use std::mem::MaybeUninit;

use crate::dtype::{BFloat16, DType, Half};
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply::GRAIN;
use crate::kernels::simd::vectorised;

/// Numbers that are worked on before the next ones are looked at.
const CHUNK: usize = 1024;

/// Numbers of a half type, given as what lies in memory, in single precision.
fn widen_chunk(dtype: DType, bits: &[i16], out: &mut [f32]) {
    vectorised(
        bits.len(),
        #[inline(always)] // A loop is vectorised in one piece only.
        || match dtype {
            DType::Float16 => out.iter_mut().zip(bits).for_each(
                #[inline(always)]
                |(out, bits)| *out = Half::from_bits(bits.cast_unsigned()).to_f32(),
            ),
            _ => out.iter_mut().zip(bits).for_each(
                #[inline(always)]
                |(out, bits)| *out = BFloat16::from_bits(bits.cast_unsigned()).to_f32(),
            ),
        },
    );
}

/// Numbers in single precision as those of a half type.
fn narrow_chunk(dtype: DType, numbers: &[f32], out: &mut [MaybeUninit<i16>]) {
    vectorised(
        numbers.len(),
        #[inline(always)]
        || match dtype {
            DType::Float16 => out.iter_mut().zip(numbers).for_each(
                #[inline(always)]
                |(out, &number)| {
                    out.write(Half::from_f32(number).to_bits().cast_signed());
                },
            ),
            _ => out.iter_mut().zip(numbers).for_each(
                #[inline(always)]
                |(out, &number)| {
                    out.write(BFloat16::from_f32(number).to_bits().cast_signed());
                },
            ),
        },
    );
}

/// `out[i] = a[i]` in single precision
pub fn widen(dtype: DType, a: &[i16], out: &mut [MaybeUninit<f32>]) {
    parallel_parts(out, GRAIN, |start, part| {
        let mut room = [0.0; CHUNK];
        for (out, a) in part.chunks_mut(CHUNK).zip(a[start..].chunks(CHUNK)) {
            let room = &mut room[..out.len()];
            widen_chunk(dtype, &a[..out.len()], room);
            out.write_copy_of_slice(room);
        }
    });
}

/// `out[i] = a[i]` as a number of a half type
pub fn narrow(dtype: DType, a: &[f32], out: &mut [MaybeUninit<i16>]) {
    parallel_parts(out, GRAIN, |start, part| {
        for (out, a) in part.chunks_mut(CHUNK).zip(a[start..].chunks(CHUNK)) {
            narrow_chunk(dtype, &a[..out.len()], out);
        }
    });
}

/// What `change` makes of numbers of a half type, which it is given in single precision, a few at a time, with as many
/// others beside them, if there are others.
pub fn through(
    dtype: DType,
    a: &[i16],
    others: Option<&[i16]>,
    out: &mut [MaybeUninit<i16>],
    change: &(dyn Fn(&mut [f32], &[f32]) + Sync),
) {
    parallel_parts(out, GRAIN, |start, part| {
        let (mut room, mut beside) = ([0.0; CHUNK], [0.0; CHUNK]);
        for (index, out) in part.chunks_mut(CHUNK).enumerate() {
            let range = start + index * CHUNK..start + index * CHUNK + out.len();
            let (room, beside) = (&mut room[..out.len()], &mut beside[..out.len()]);
            widen_chunk(dtype, &a[range.clone()], room);
            if let Some(others) = others {
                widen_chunk(dtype, &others[range], beside);
            }
            change(room, beside);
            narrow_chunk(dtype, room, out);
        }
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    #[test]
    fn every_number_is_what_it_is_by_itself() {
        let bits: Vec<i16> = (0..=u16::MAX).map(u16::cast_signed).collect();
        for (dtype, single) in [
            (DType::Float16, (|bits| Half::from_bits(bits).to_f32()) as fn(u16) -> f32),
            (DType::BFloat16, |bits| BFloat16::from_bits(bits).to_f32()),
        ] {
            let wide = written(bits.len(), |out| widen(dtype, &bits, out));
            let back = written(bits.len(), |out| narrow(dtype, &wide, out));
            let twice = written(bits.len(), |out| {
                through(dtype, &bits, Some(&bits), out, &|a, b| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += b)
                });
            });
            let twice = written(bits.len(), |out| widen(dtype, &twice, out));
            for (at, &bits) in bits.iter().enumerate() {
                let number = single(bits.cast_unsigned());
                if number.is_nan() {
                    assert!(wide[at].is_nan() && twice[at].is_nan());
                    continue;
                }
                assert_eq!(wide[at].to_bits(), number.to_bits());
                assert_eq!(back[at], bits);
                let sum = number + number;
                assert!(twice[at] == sum || twice[at].is_infinite() && sum.abs() > 65_504.0, "{number}");
            }
        }
    }

    #[test]
    fn numbers_between_two_go_to_the_nearer_one() {
        let numbers: Vec<f32> = (0..300_000u32).map(|at| f32::from_bits(at * 14_000 + 7)).collect();
        let found = written(numbers.len(), |out| narrow(DType::Float16, &numbers, out));
        for (found, &number) in found.iter().zip(&numbers) {
            let expected = Half::from_f32(number);
            assert!(number.is_nan() || found.cast_unsigned() == expected.to_bits(), "{number}");
        }
    }
}

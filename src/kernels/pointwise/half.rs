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
fn widen_chunk<V>(dtype: DType, bits: &[i16], out: &mut [V], put: impl Fn(&mut V, f32) + Copy) {
    match dtype {
        #[cfg(target_arch = "x86_64")]
        DType::Float16 if let Some(simd) = vectors::Vectors::try_new() => {
            vectors::widen(simd, bits, out, put)
        }
        DType::Float16 => {
            each(bits, out, move |out, bits| put(out, Half::from_bits(bits.cast_unsigned()).to_f32()))
        }
        _ => each(bits, out, move |out, bits| put(out, BFloat16::from_bits(bits.cast_unsigned()).to_f32())),
    }
}

/// Numbers in single precision as those of a half type.
fn narrow_chunk(dtype: DType, numbers: &[f32], out: &mut [MaybeUninit<i16>]) {
    match dtype {
        #[cfg(target_arch = "x86_64")]
        DType::Float16 if let Some(simd) = vectors::Vectors::try_new() => vectors::narrow(simd, numbers, out),
        DType::Float16 => each(numbers, out, |out, number| {
            out.write(Half::from_f32(number).to_bits().cast_signed());
        }),
        _ => each(numbers, out, |out, number| {
            out.write(BFloat16::from_f32(number).to_bits().cast_signed());
        }),
    }
}

/// Calls `visit` with all numbers and their places, by vectors as wide as there are: numbers of different sizes are
/// shuffled less often between such.
fn each<A: Copy, V>(numbers: &[A], out: &mut [V], visit: impl Fn(&mut V, A) + Copy) {
    #[cfg(target_arch = "x86_64")]
    if let Some(simd) = vectors::Vectors::try_new() {
        return simd.vectorize(
            #[inline(always)]
            || each_in_turn(numbers, out, visit),
        );
    }
    vectorised(
        numbers.len(),
        #[inline(always)]
        || each_in_turn(numbers, out, visit),
    );
}

#[inline(always)] // A loop is vectorised in one piece only.
fn each_in_turn<A: Copy, V>(numbers: &[A], out: &mut [V], visit: impl Fn(&mut V, A)) {
    out.iter_mut().zip(numbers).for_each(
        #[inline(always)]
        |(out, &number)| visit(out, number),
    );
}

/// The instructions that convert sixteen numbers of half precision at once, of processors that have them.
#[cfg(target_arch = "x86_64")]
mod vectors {
    use std::mem::MaybeUninit;

    use pulp::bytemuck::cast;
    pub(super) use pulp::x86::V4 as Vectors;

    /// Numbers that are converted at once.
    const LANES: usize = 16;

    /// To the nearest number, of two the one whose last bit is zero.
    const NEAREST: i32 = 0;

    pub(super) fn widen<V>(simd: Vectors, bits: &[i16], out: &mut [V], put: impl Fn(&mut V, f32) + Copy) {
        simd.vectorize(
            #[inline(always)]
            || {
                in_blocks(
                    bits,
                    out,
                    #[inline(always)]
                    |bits| cast::<_, [f32; LANES]>(simd.avx512f._mm512_cvtph_ps(cast(bits))),
                    put,
                );
            },
        );
    }

    pub(super) fn narrow(simd: Vectors, numbers: &[f32], out: &mut [MaybeUninit<i16>]) {
        simd.vectorize(
            #[inline(always)]
            || {
                in_blocks(
                    numbers,
                    out,
                    #[inline(always)]
                    |numbers| cast::<_, [i16; LANES]>(simd.avx512f._mm512_cvtps_ph::<NEAREST>(cast(numbers))),
                    #[inline(always)]
                    |out, bits| {
                        out.write(bits);
                    },
                );
            },
        );
    }

    pub(super) fn zip(
        simd: Vectors,
        numbers: [&[i16]; 2],
        out: &mut [MaybeUninit<i16>],
        f: impl Fn(f32, f32) -> f32 + Copy,
    ) {
        simd.vectorize(
            #[inline(always)]
            || {
                pairs(
                    numbers,
                    out,
                    #[inline(always)]
                    |bits| cast::<_, [f32; LANES]>(simd.avx512f._mm512_cvtph_ps(cast(bits))),
                    #[inline(always)]
                    |numbers| cast(simd.avx512f._mm512_cvtps_ph::<NEAREST>(cast(numbers))),
                    f,
                );
            },
        );
    }

    #[inline(always)]
    fn pair(
        a: [i16; LANES],
        b: [i16; LANES],
        widen: &impl Fn([i16; LANES]) -> [f32; LANES],
        narrow: &impl Fn([f32; LANES]) -> [i16; LANES],
        f: impl Fn(f32, f32) -> f32,
    ) -> [i16; LANES] {
        let (mut a, b) = (widen(a), widen(b));
        a.iter_mut().zip(b).for_each(
            #[inline(always)]
            |(a, b)| *a = f(*a, b),
        );
        narrow(a)
    }

    #[inline(always)]
    fn pairs(
        numbers: [&[i16]; 2],
        out: &mut [MaybeUninit<i16>],
        widen: impl Fn([i16; LANES]) -> [f32; LANES],
        narrow: impl Fn([f32; LANES]) -> [i16; LANES],
        f: impl Fn(f32, f32) -> f32 + Copy,
    ) {
        let [(a, a_rest), (b, b_rest)] = numbers.map(|numbers| numbers.as_chunks::<LANES>());
        let (places, left) = out.as_chunks_mut::<LANES>();
        for (places, (a, b)) in places.iter_mut().zip(a.iter().zip(b)) {
            *places = pair(*a, *b, &widen, &narrow, f).map(MaybeUninit::new);
        }
        if !left.is_empty() {
            let mut last = [[0; LANES]; 2];
            last[0][..left.len()].copy_from_slice(a_rest);
            last[1][..left.len()].copy_from_slice(b_rest);
            let [a, b] = last;
            left.iter_mut().zip(pair(a, b, &widen, &narrow, f)).for_each(|(place, bits)| {
                place.write(bits);
            });
        }
    }

    /// What is left over is filled up.
    #[inline(always)]
    fn in_blocks<A: Copy + Default, B, V>(
        numbers: &[A],
        out: &mut [V],
        block: impl Fn([A; LANES]) -> [B; LANES],
        put: impl Fn(&mut V, B) + Copy,
    ) {
        let (blocks, rest) = numbers.as_chunks::<LANES>();
        let (places, left) = out.as_chunks_mut::<LANES>();
        for (places, numbers) in places.iter_mut().zip(blocks) {
            places.iter_mut().zip(block(*numbers)).for_each(
                #[inline(always)]
                |(place, number)| put(place, number),
            );
        }
        if !rest.is_empty() {
            let mut last = [A::default(); LANES];
            last[..rest.len()].copy_from_slice(rest);
            left.iter_mut().zip(block(last)).for_each(|(place, number)| put(place, number));
        }
    }
}

/// `out[i] = a[i]` in single precision
pub fn widen(dtype: DType, a: &[i16], out: &mut [MaybeUninit<f32>]) {
    parallel_parts(out, GRAIN, |start, part| {
        let len = part.len();
        widen_chunk(
            dtype,
            &a[start..start + len],
            part,
            #[inline(always)]
            |out, number| {
                out.write(number);
            },
        );
    });
}

/// `out[i] = a[i]` as a number of a half type
pub fn narrow(dtype: DType, a: &[f32], out: &mut [MaybeUninit<i16>]) {
    parallel_parts(out, GRAIN, |start, part| narrow_chunk(dtype, &a[start..start + part.len()], part));
}

/// `out[i] = f(a[i], b[i])`, of numbers of a half type in single precision. Says whether it was done, which takes a type
/// and a processor that converts many of it at once.
pub fn zip(
    dtype: DType,
    a: &[i16],
    b: &[i16],
    out: &mut [MaybeUninit<i16>],
    f: impl Fn(f32, f32) -> f32 + Copy + Sync,
) -> bool {
    #[cfg(target_arch = "x86_64")]
    if let (DType::Float16, Some(simd)) = (dtype, vectors::Vectors::try_new()) {
        parallel_parts(out, GRAIN, |start, part| {
            let range = start..start + part.len();
            vectors::zip(simd, [&a[range.clone()], &b[range]], part, f);
        });
        return true;
    }
    let _ = (dtype, a, b, out, f);
    false
}

/// Makes other numbers of some in single precision, a few at a time, with as many others beside them, if there are others.
/// It says whether it wrote to the third of what it is given, or over the first.
pub type Change<'a> = dyn Fn(&mut [f32], &[f32], &mut [f32]) -> bool + Sync + 'a;

/// What `change` makes of numbers of a half type.
pub fn through(
    dtype: DType,
    a: &[i16],
    others: Option<&[i16]>,
    out: &mut [MaybeUninit<i16>],
    change: &Change<'_>,
) {
    parallel_parts(out, GRAIN, |start, part| {
        let (mut room, mut beside, mut made) = ([0.0; CHUNK], [0.0; CHUNK], [0.0; CHUNK]);
        for (index, out) in part.chunks_mut(CHUNK).enumerate() {
            let range = start + index * CHUNK..start + index * CHUNK + out.len();
            let (room, beside) = (&mut room[..out.len()], &mut beside[..out.len()]);
            let put = |out: &mut f32, number| *out = number;
            widen_chunk(dtype, &a[range.clone()], room, put);
            if let Some(others) = others {
                widen_chunk(dtype, &others[range], beside, put);
            }
            let made = &mut made[..out.len()];
            let is_elsewhere = change(room, beside, made);
            narrow_chunk(dtype, if is_elsewhere { made } else { room }, out);
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
                through(dtype, &bits, Some(&bits), out, &|a, b, made| {
                    a.iter_mut().zip(b).for_each(|(a, b)| *a += b);
                    made.copy_from_slice(a);
                    true
                });
            });
            let in_place = written(bits.len(), |out| {
                through(dtype, &bits, None, out, &|a, _, _| {
                    a.iter_mut().for_each(|a| *a += *a);
                    false
                });
            });
            assert!(in_place == twice);
            let zipped = written(bits.len() - 3, |out| {
                if !zip(dtype, &bits[3..], &bits[3..], out, |a, b| a + b) {
                    out.write_copy_of_slice(&twice[3..]);
                }
            });
            let both = twice[3..].iter().zip(&zipped);
            let is_none = |bits: i16| {
                bits.cast_unsigned() & 0x7fff > if dtype == DType::Float16 { 0x7c00 } else { 0x7f80 }
            };
            assert!(both.into_iter().all(|(&a, &b)| a == b || is_none(a) && is_none(b)));
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

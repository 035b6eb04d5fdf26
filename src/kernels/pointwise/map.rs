//! Elementwise kernels of one argument: a function of every element, filling, and conversion
//! between element types. Functions of two and three arguments are in `zip`.

use std::mem::MaybeUninit;

use crate::dtype::Element;
use crate::kernels::blocks;
use crate::kernels::geometry::strided::Strided;
use crate::kernels::parallel::parallel_parts;
use crate::kernels::pointwise::apply;
use crate::kernels::simd::vectorised;

/// `out[i] = f(a[i])`
#[inline]
pub fn map_slice<A: Copy + Sync, U: Copy + Send>(
    a: &[A],
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A) -> U + Copy + Sync,
) {
    apply::each_slice_1(out, a, move |out, a| {
        out.write(f(a));
    });
}

/// `out[i] = f(a[i])`
pub fn map<A: Copy + Send + Sync + 'static, U: Copy + Send>(
    a: &Strided<'_, A>,
    out: &mut [MaybeUninit<U>],
    f: impl Fn(A) -> U + Copy + Sync,
) {
    blocks::each_1(out, a, move |out, a| {
        out.write(f(a));
    });
}

/// What is done with elements and the room for what becomes of them.
pub type Visit<'a, A, U> = dyn Fn(&[A], &mut [MaybeUninit<U>]) + Sync + 'a;

/// Calls `visit` with elements of a view and room for what becomes of them, until all have had their turn.
pub fn each_block<A: Copy + Send + Sync + 'static, U: Send>(
    a: &Strided<'_, A>,
    out: &mut [MaybeUninit<U>],
    visit: &Visit<'_, A, U>,
) {
    blocks::each_block(out, a, &|out, a| visit(a, out));
}

/// `a[i] = f(a[i])`
#[inline]
pub fn map_slice_in_place<A: Copy + Send>(a: &mut [A], f: impl Fn(A) -> A + Copy + Sync) {
    apply::each_slice(a, move |a| *a = f(*a));
}

/// `out[i] = value`
pub fn fill_slice<U: Copy + Send + Sync>(out: &mut [MaybeUninit<U>], value: U) {
    apply::each_slice(out, move |out| {
        out.write(value);
    });
}

/// `out[i] = start + i * step`, every element from its own index, so that rounding does not add up.
pub fn fill_with_index<U: Send>(out: &mut [MaybeUninit<U>], f: impl Fn(usize) -> U + Copy + Sync) {
    parallel_parts(out, apply::GRAIN, |start, part| {
        vectorised(
            part.len(),
            #[inline(always)]
            || {
                let own = f;
                part.iter_mut().enumerate().for_each(|(index, out)| {
                    out.write(own(start + index));
                });
            },
        );
    });
}

/// `fill_with_index` where the index is wanted as a number: it is converted in pieces so short that several are at once.
pub fn fill_with_position<U: Send>(out: &mut [MaybeUninit<U>], f: impl Fn(f64) -> U + Copy + Sync) {
    /// Elements of a piece.
    const PIECE: usize = 1024;
    parallel_parts(out, apply::GRAIN, |start, part| {
        for (piece, out) in part.chunks_mut(PIECE).enumerate() {
            let first = (start + piece * PIECE) as f64;
            vectorised(
                out.len(),
                #[inline(always)]
                || {
                    let own = f;
                    (0i32..).zip(out).for_each(|(index, out)| {
                        out.write(own(first + f64::from(index)));
                    });
                },
            );
        }
    });
}

/// The elements of a view in row-major order, converted to another type.
pub fn copy<A: Element, U: Element>(a: &Strided<'_, A>, out: &mut [MaybeUninit<U>]) {
    map(a, out, A::convert);
}

/// What has ones as its last bits, and room for as many below it as above.
const LARGE: f64 = 1.5 * (1u64 << 52) as f64;

/// Numbers that are looked at before they are converted.
const CHUNK: usize = 1024;

/// Converts numbers in chunks: by `quick` those of which all are `near`, since few processors convert several numbers
/// between integers of eight bytes and others at once.
#[inline]
fn in_chunks<A: Element, U: Element>(
    a: &[A],
    out: &mut [MaybeUninit<U>],
    is_near: impl Fn(A) -> bool + Copy + Sync,
    quick: impl Fn(A) -> U + Copy + Sync,
) {
    parallel_parts(out, apply::GRAIN, |start, part| {
        for (out, a) in part.chunks_mut(CHUNK).zip(a[start..].chunks(CHUNK)) {
            vectorised(
                out.len(),
                #[inline(always)]
                || {
                    let pairs = out.iter_mut().zip(a);
                    if a.iter().fold(true, |all, &x| all & is_near(x)) {
                        pairs.for_each(|(out, &x)| {
                            out.write(quick(x));
                        });
                    } else {
                        pairs.for_each(|(out, x)| {
                            out.write(x.convert());
                        });
                    }
                },
            );
        }
    });
}

/// Floating-point numbers as integers, without what is behind the point. Numbers that are not too large are added to
/// one so large that its last bits count ones.
pub fn truncated<A: Element, U: Element>(a: &[A], out: &mut [MaybeUninit<U>]) {
    // Types of fewer bytes take what is beyond 32 bits in a way of their own.
    let bound = if size_of::<U>() == 8 { 2.0_f64.powi(50) } else { 2.0_f64.powi(31) };
    in_chunks(
        a,
        out,
        #[inline(always)]
        move |x| x.to_f64().abs() < bound,
        #[inline(always)]
        |x| {
            let bits = (x.to_f64().trunc() + LARGE).to_bits();
            U::from_i64(bits.wrapping_sub(LARGE.to_bits()).cast_signed())
        },
    );
}

/// Integers of eight bytes as floating-point numbers: the other way round.
pub fn floated<U: Element>(a: &[i64], out: &mut [MaybeUninit<U>]) {
    in_chunks(
        a,
        out,
        #[inline(always)]
        |x| x.wrapping_add(1 << 50) as u64 <= 1 << 51,
        #[inline(always)]
        |x| U::from_f64(f64::from_bits(LARGE.to_bits().wrapping_add_signed(x)) - LARGE),
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dtype::Bool;
    use crate::kernels::testing::{at_thread_counts, strided, written};
    use ndarray::{Array, ArrayD, ArrayViewD, Axis, IxDyn};

    fn numbers(shape: &[usize]) -> ArrayD<f32> {
        let len: usize = shape.iter().product();
        let values = (0..len).map(|index| (index % 1013) as f32 * 0.37 - 55.0).collect();
        ArrayD::from_shape_vec(shape, values).unwrap()
    }

    /// What `map` writes of a view of an array.
    fn mapped(
        view: &ArrayViewD<'_, f32>,
        array: &ArrayD<f32>,
        f: impl Fn(f32) -> f32 + Copy + Sync,
    ) -> Vec<f32> {
        let elements = array.as_slice_memory_order().unwrap();
        written(view.len(), |out| map(&strided(view, elements), out, f))
    }

    #[test]
    fn every_layout_maps_like_the_naive_loop() {
        let mut layouts = 0;
        for shape in [&[][..], &[0], &[5], &[3, 4], &[2, 0, 3], &[40, 50, 3], &[300, 301], &[70_000, 2]] {
            let a = numbers(shape);
            let mut views = vec![a.view(), a.t(), a.t().permuted_axes((0..shape.len()).collect::<Vec<_>>())];
            if let Some(axis) = (0..shape.len()).find(|&axis| shape[axis] > 1) {
                let mut every_other = a.view();
                every_other.slice_axis_inplace(Axis(axis), ndarray::Slice::from(1..).step_by(2));
                views.push(every_other);
            }
            for view in views {
                let expected: Vec<f32> = view.iter().map(|x| x * 2.0 + 1.0).collect();
                assert_eq!(mapped(&view, &a, |x| x * 2.0 + 1.0), expected, "{view:?}");
                layouts += 1;
            }
        }
        assert!(layouts > 16);
    }

    #[test]
    fn broadcast_dimensions_repeat_their_element() {
        let column = numbers(&[300, 1]);
        let wide = column.broadcast(IxDyn(&[300, 400])).unwrap();
        let expected: Vec<f32> = wide.iter().map(|x| x + 1.0).collect();
        assert_eq!(mapped(&wide, &column, |x| x + 1.0), expected);
    }

    #[test]
    fn the_bits_are_the_same_at_any_number_of_threads() {
        let a = numbers(&[700, 333]);
        let [one, two, four] =
            at_thread_counts(|| (mapped(&a.view(), &a, f32::sin), mapped(&a.t(), &a, f32::sin)));
        assert_eq!(one, two);
        assert_eq!(one, four);
    }

    #[test]
    fn copies_convert_between_types() {
        let a = Array::from_vec(vec![-1.5f64, 9.0, 0.0, 9.0, 300.7, 9.0, f64::NAN]).into_dyn();
        let elements = a.as_slice().unwrap();
        let every_other = strided(&a.slice_each_axis(|_| ndarray::Slice::from(..).step_by(2)), elements);
        assert_eq!(written(4, |out| copy::<_, u8>(&every_other, out)), [255, 0, 44, 0]);
        let truths = written(4, |out| copy::<_, Bool>(&every_other, out));
        assert_eq!(truths.iter().map(|x| x.get()).collect::<Vec<_>>(), [true, false, true, true]);
    }

    #[test]
    fn numbers_lose_what_is_behind_the_point_however_large_others_are() {
        let mut numbers: Vec<f64> = (-2000..2000).map(|number| f64::from(number) * 0.37).collect();
        for other in [None, Some(1e15), Some(-9.3e18), Some(f64::NAN)] {
            numbers.extend(other);
            let expected: Vec<i64> = numbers.iter().map(|x| x.to_i64()).collect();
            assert_eq!(written::<i64>(numbers.len(), |out| truncated(&numbers, out)), expected);
            let expected: Vec<u8> = numbers.iter().map(|x| x.convert()).collect();
            assert_eq!(written::<u8>(numbers.len(), |out| truncated(&numbers, out)), expected);
        }
    }

    #[test]
    fn integers_become_the_nearest_numbers_however_large_others_are() {
        let mut integers: Vec<i64> =
            (-2000..2000).map(|integer| integer * 0x1234_5678_9abc % (1 << 50)).collect();
        for other in [None, Some(i64::MAX), Some(i64::MIN), Some((1 << 50) + 1)] {
            integers.extend(other);
            let expected: Vec<f64> = integers.iter().map(|&x| x as f64).collect();
            assert_eq!(written::<f64>(integers.len(), |out| floated(&integers, out)), expected);
            let expected: Vec<f32> = integers.iter().map(|&x| x as f32).collect();
            assert_eq!(written::<f32>(integers.len(), |out| floated(&integers, out)), expected);
        }
    }

    #[test]
    fn indexed_filling_starts_at_zero_and_goes_on_across_chunks() {
        let out = written(150_000, |out| fill_with_index(out, |index| index));
        assert!(out.iter().enumerate().all(|(index, &value)| index == value));
    }
}

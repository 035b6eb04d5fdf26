//! Chains of operations of elements and a number each, such as x · 2 + 1 - 3: what one of them gives, the next one takes
//! from a register.

use std::mem::MaybeUninit;

use crate::dtype::Real;
use crate::kernels::simd::vectorised;

/// What an operation of an element and a number does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// x + c
    Add,
    /// x - c
    Subtract,
    /// x c
    Multiply,
}

/// A step with its number.
#[derive(Clone, Copy, Debug)]
pub struct Link<T> {
    is_product: bool,
    number: T,
}

impl<T: Real> Link<T> {
    /// The step with this number. To subtract a number is to add the other one, to the bit.
    pub fn new(step: Step, number: T) -> Link<T> {
        match step {
            Step::Add => Link { is_product: false, number },
            Step::Subtract => Link { is_product: false, number: -number },
            Step::Multiply => Link { is_product: true, number },
        }
    }

    /// x · 1, which is x.
    fn nothing() -> Link<T> {
        Link { is_product: true, number: T::ONE }
    }
}

/// Elements that stay in the nearest memory from one few steps to the next.
const BLOCK: usize = 1024;

/// Steps that are done at once.
const FEW: usize = 3;

/// `out[i]` = what all steps make of `a[i]`, one after the other
pub fn chain<T: Real>(a: &[T], links: &[Link<T>], out: &mut [MaybeUninit<T>]) {
    let (whole, others) = links.as_chunks();
    let mut rest = [Link::nothing(); FEW];
    rest[..others.len()].copy_from_slice(others);
    vectorised(
        a.len() * links.len(),
        #[inline(always)]
        || {
            for (out, a) in out.chunks_mut(BLOCK).zip(a.chunks(BLOCK)) {
                let near = out.write_copy_of_slice(a);
                for links in whole.iter().chain((!others.is_empty()).then_some(&rest)) {
                    few(links, near);
                }
            }
        },
    );
}

/// A few steps, by a loop that knows which these are.
#[inline(always)] // A loop is vectorised in one piece only.
fn few<T: Real>(links: &[Link<T>; FEW], elements: &mut [T]) {
    let numbers = links.map(|link| link.number);
    let which = links.iter().rev().fold(0, |bits, link| bits << 1 | u8::from(link.is_product));
    macro_rules! among {
        ($($bits:literal)*) => {
            match which {
                $($bits => steps::<T, $bits>(numbers, elements),)*
                _ => unreachable!("there is a bit for each"),
            }
        };
    }
    among!(0 1 2 3 4 5 6 7)
}

/// The steps of which the bits say whether they are products.
#[inline(always)]
fn steps<T: Real, const PRODUCTS: u8>(numbers: [T; FEW], elements: &mut [T]) {
    for x in elements {
        for (step, &number) in numbers.iter().enumerate() {
            *x = if PRODUCTS >> step & 1 == 1 { *x * number } else { *x + number };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;

    #[test]
    fn a_chain_gives_the_bits_of_its_steps() {
        let steps = [Step::Multiply, Step::Add, Step::Subtract, Step::Multiply, Step::Add, Step::Add];
        for count in [1, 2, 3, 4, 5, 9, 64] {
            for len in [1, 5, 256, 257, 1000] {
                let a: Vec<f32> = (0..len).map(|index| index as f32 * 0.37 - 20.0).collect();
                let chosen =
                    (0..count).map(|at| (steps[(at * at + len) % steps.len()], 0.3 + at as f32 * 0.11));
                let chosen: Vec<(Step, f32)> = chosen.collect();
                let links: Vec<Link<f32>> =
                    chosen.iter().map(|&(step, number)| Link::new(step, number)).collect();
                let expected = a.iter().map(|&x| {
                    chosen.iter().fold(x, |x, &(step, number)| match step {
                        Step::Add => x + number,
                        Step::Subtract => x - number,
                        Step::Multiply => x * number,
                    })
                });
                let expected: Vec<u32> = expected.map(f32::to_bits).collect();
                let found = written(len, |out| chain(&a, &links, out));
                assert_eq!(found.into_iter().map(f32::to_bits).collect::<Vec<u32>>(), expected);
            }
        }
    }

    #[test]
    fn zeros_keep_their_signs_and_infinities_stay() {
        let a = [0.0, -0.0, f64::INFINITY, f64::NAN];
        let links = [Link::new(Step::Subtract, 0.0), Link::new(Step::Multiply, 1.0)];
        let found = written(4, |out| chain(&a, &links, out));
        assert_eq!(found[0].to_bits(), 0.0_f64.to_bits());
        assert_eq!(found[1].to_bits(), (-0.0_f64).to_bits());
        assert_eq!(found[2], f64::INFINITY);
        assert!(found[3].is_nan());
    }
}

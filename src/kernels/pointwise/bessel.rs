//! Functions of Bessel and Airy that have no derivatives here.

use std::f64::consts::{FRAC_PI_4, PI};

use crate::dtype::Real;
use crate::kernels::pointwise::math;
use crate::kernels::pointwise::math::Arithmetic;
use crate::kernels::vector::Function;

/// J₀ or J₁, or Y₀ or Y₁
#[derive(Clone, Copy)]
pub struct Oscillating<const IS_SECOND: bool> {
    /// Whether it is that of order 1.
    pub is_first: bool,
}

impl<const IS_SECOND: bool> Function<0> for Oscillating<IS_SECOND> {
    const SLOW: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        math::bessel::<A, IS_SECOND>(x, self.is_first)
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T, []: [T; 0]) -> bool {
        math::is_many_turns(x)
    }

    fn far<T: Real>(&self, x: T, []: [T; 0]) -> T {
        let function = match (IS_SECOND, self.is_first) {
            (false, false) => libm::j0,
            (false, true) => libm::j1,
            (true, false) => libm::y0,
            (true, true) => libm::y1,
        };
        // Of a wave nothing is known at its end.
        if x.is_infinite() { T::from_f64(f64::NAN) } else { T::from_f64(function(x.to_f64())) }
    }
}

/// K₀ or K₁, times exp(x) if it is scaled
#[derive(Clone, Copy)]
pub struct SecondKind {
    /// Whether it is K₁.
    pub is_first: bool,
    /// Whether it is scaled.
    pub is_scaled: bool,
}

impl Function<0> for SecondKind {
    const SLOW: bool = true;
    const RARE: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        math::second(x, self.is_first, self.is_scaled)
    }
}

/// sin(x)/x
#[derive(Clone, Copy)]
pub struct Spherical;

impl Function<0> for Spherical {
    const SLOW: bool = true;
    const RARE: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        let y = math::sin(x) / x;
        if x == A::from_f64(0.0) { A::from_f64(1.0) } else { y }
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T, []: [T; 0]) -> bool {
        math::is_many_turns(x)
    }

    fn far<T: Real>(&self, x: T, []: [T; 0]) -> T {
        if x.is_infinite() { T::ZERO } else { x.sin() / x }
    }
}

/// Ai(x)
#[derive(Clone, Copy)]
pub struct Airy;

impl Function<0> for Airy {
    const SLOW: bool = true;
    const RARE: bool = true;

    #[inline(always)] // A loop is vectorised in one piece only.
    fn at<A: Arithmetic>(&self, x: A, []: [A; 0]) -> A {
        math::airy(x)
    }

    const HAS_FAR: bool = true;

    #[inline(always)]
    fn is_far<T: Real>(&self, x: T, []: [T; 0]) -> bool {
        x < T::from_f64(-1e6)
    }

    fn far<T: Real>(&self, x: T, []: [T; 0]) -> T {
        T::from_f64(wave(x.to_f64()))
    }
}

/// Ai(x) so far on the left that nothing is left of the series but its first term.
fn wave(x: f64) -> f64 {
    if x == f64::NEG_INFINITY {
        return f64::NAN;
    }
    let angle = x.abs().powf(1.5) / 1.5;
    (angle + FRAC_PI_4).sin() / (PI.sqrt() * x.abs().powf(0.25))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernels::testing::written;
    use crate::kernels::vector;

    /// Values of both kinds, by order.
    const KNOWN: [[(f64, f64); 10]; 4] = [
        [
            (-30.0, -0.08636798358104021),
            (-3.0, -0.26005195490193345),
            (0.0, 1.0),
            (1e-08, 1.0),
            (2.404825557695773, -6.10876525973673e-17),
            (5.5, -0.006843869417819197),
            (7.99, 0.17399001312793258),
            (8.01, 0.16929736911054297),
            (1000.5, 0.01948655998713014),
            (2000000000.0, 1.6637792150871032e-05),
        ],
        [
            (-30.0, 0.11875106261662294),
            (-3.0, -0.3390589585259365),
            (0.0, 0.0),
            (1e-08, 5e-09),
            (3.8317059702075125, -6.149807356994906e-17),
            (7.0, -0.004682823482345833),
            (7.99, 0.23320071425350178),
            (8.01, 0.236047103630834),
            (1000.5, 0.016027715373203338),
            (2000000000.0, 6.441564917144879e-06),
        ],
        [
            (1e-300, -439.8351636227653),
            (1e-08, -11.80077387717953),
            (0.5, -0.44451873350670656),
            (0.9, 0.005628306635205559),
            (3.0, 0.3768500100127904),
            (5.5, -0.339480592881911),
            (7.99, 0.22192874178576452),
            (8.01, 0.22508990929357914),
            (1000.5, 0.016017974964604328),
            (2000000000.0, 6.441564912985431e-06),
        ],
        [
            (1e-300, -6.366197723675813e+299),
            (1e-08, -63661977.236758195),
            (0.5, -1.471472392670243),
            (2.2, 0.0014877892897633682),
            (3.0, 0.3246744247918),
            (5.5, -0.023758238956389618),
            (7.99, -0.16048695141166464),
            (8.01, -0.15562145403809824),
            (1000.5, -0.019478557437521776),
            (2000000000.0, -1.663779214926064e-05),
        ],
    ];

    fn close(f: impl Function<0>, bound: f64, known: &[(f64, f64)]) {
        let (x, expected): (Vec<f64>, Vec<f64>) = known.iter().copied().unzip();
        let found = written(x.len(), |out| vector::map(&x, [], out, f));
        for ((x, found), expected) in x.iter().zip(found).zip(expected) {
            assert!((found - expected).abs() <= bound * expected.abs(), "{x}: {found} {expected}");
        }
    }

    #[test]
    fn known_values_are_met() {
        let of = |is_first, is_scaled| SecondKind { is_first, is_scaled };
        close(
            of(false, false),
            4e-15,
            &[
                (1e-300, 690.8914594138721),
                (1e-08, 18.536612259610777),
                (0.3, 1.3724600605442974),
                (0.99, 0.42709503097965784),
                (1.0, 0.42102443824070834),
                (1.01, 0.415056144085075),
                (2.0, 0.11389387274953344),
                (7.5, 0.00024917761635611437),
                (40.0, 8.392861100099567e-19),
                (600.0, 1.3558285309948523e-262),
            ],
        );
        close(
            of(true, false),
            4e-15,
            &[
                (1e-300, 9.999999999999999e+299),
                (1e-08, 99999999.9999999),
                (0.3, 3.055992033457325),
                (0.99, 0.6122489779992295),
                (1.0, 0.6019072301972346),
                (1.01, 0.5917881779729701),
                (2.0, 0.13986588181652243),
                (7.5, 0.0002652973901252895),
                (40.0, 8.497131954861039e-19),
                (600.0, 1.356957918112806e-262),
            ],
        );
        close(
            of(false, true),
            4e-15,
            &[
                (1e-300, 690.8914594138721),
                (1e-08, 18.536612444976903),
                (0.3, 1.8526273007720142),
                (0.99, 1.1494128703415314),
                (1.0, 1.144463079806895),
                (1.01, 1.1395785704889894),
                (2.0, 0.8415682150707714),
                (7.5, 0.4505236991049157),
                (40.0, 0.19755558495729816),
                (600.0, 0.05115568572023596),
            ],
        );
        close(
            of(true, true),
            4e-15,
            &[
                (1e-300, 9.999999999999999e+299),
                (1e-08, 100000000.99999991),
                (0.3, 4.12515776224447),
                (0.99, 1.6477055552521314),
                (1.0, 1.6361534862632583),
                (1.01, 1.6248142221175983),
                (2.0, 1.0334768470686886),
                (7.5, 0.4796689337910206),
                (40.0, 0.20000996725443349),
                (600.0, 0.05119829772547244),
            ],
        );
        let first = |is_first| Oscillating::<false> { is_first };
        let second = |is_first| Oscillating::<true> { is_first };
        close(first(false), 2e-14, &KNOWN[0]);
        close(first(true), 2e-14, &KNOWN[1]);
        close(second(false), 1e-12, &KNOWN[2]);
        close(second(true), 1e-12, &KNOWN[3]);
        close(
            Airy,
            2e-13,
            &[
                (-40.0, -0.04593392343795725),
                (-20.5, -0.04462568039701191),
                (-6.0, -0.3291451736298231),
                (-3.3, -0.41718093737455014),
                (-3.1, -0.4043822223909783),
                (-2.0, 0.22740742820168558),
                (-1.0, 0.5355608832923521),
                (0.0, 0.3550280538878172),
                (0.5, 0.23169360648083348),
                (1.49, 0.07272871072199458),
                (1.51, 0.07078104569099344),
                (3.0, 0.006591139357460719),
                (10.0, 1.1047532552898686e-10),
                (90.0, 5.715163408001596e-249),
            ],
        );
        close(
            Spherical,
            4e-15,
            &[
                (-7.0, 0.09385522838839844),
                (1e-09, 1.0),
                (0.5, 0.958851077208406),
                (3.0, 0.04704000268662241),
                (1000.5, 0.0009947765688208031),
            ],
        );
    }

    #[test]
    fn ends_are_what_they_should_be() {
        let (nan, infinity) = (f64::NAN, f64::INFINITY);
        let ends = [0.0, infinity, -1.0, nan];
        for is_scaled in [false, true] {
            let of =
                |is_first| written(4, |out| vector::map(&ends, [], out, SecondKind { is_first, is_scaled }));
            for found in [of(false), of(true)] {
                assert!(found[0] == infinity && found[1] == 0.0 && found[2].is_nan() && found[3].is_nan());
            }
        }
        let ends = [-0.0, infinity, -infinity, -1.0, nan];
        let first =
            |is_first| written(5, |out| vector::map(&ends, [], out, Oscillating::<false> { is_first }));
        let (even, odd) = (first(false), first(true));
        assert!(even[0] == 1.0 && odd[0] == 0.0 && odd[0].is_sign_negative());
        assert!([even, odd].iter().all(|found| [1, 2, 4].iter().all(|&end| found[end].is_nan())));
        for is_first in [false, true] {
            let found = written(5, |out| vector::map(&ends, [], out, Oscillating::<true> { is_first }));
            assert!(found[0] == -infinity && found[1..].iter().all(|found| found.is_nan()));
        }
        let found = written(4, |out| vector::map(&[0.0, infinity, 1e12, nan], [], out, Spherical));
        assert!(found[0] == 1.0 && found[1] == 0.0 && found[2].abs() < 1e-12 && found[3].is_nan());
        let found = written(3, |out| vector::map(&[-1e8, infinity, nan], [], out, Airy));
        assert!(found[0].abs() < 1e-2 && found[1].is_nan() && found[2].is_nan());
    }
}

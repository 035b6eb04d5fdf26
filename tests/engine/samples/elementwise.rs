//! Samples of elementwise operations: those of the engine's two tables by themselves, the others one
//! by one.

use rushlight::dispatch::binary;
use rushlight::dtype::Scalar;
use rushlight::ops;
use rushlight::ops::Operand;
use rushlight::ops::pointwise::arithmetic;
use rushlight::ops::pointwise::division::Rounding;
use rushlight::ops::pointwise::{clamp, compare, division, power, representation, rounding, select};
use rushlight::{Result, Tensor};

use super::{Sample, positive, sample, signed};

/// Numbers at which the function of that name is smooth.
fn argument(name: &str, shape: &[usize]) -> Tensor {
    let x = positive(shape);
    match name {
        "acos" | "asin" | "atanh" | "erfinv" => ops::mul(&x, 0.5),
        "acosh" => ops::add(&x, 1),
        "abs" | "relu" | "sign" | "sgn" | "tanh" | "sigmoid" | "erf" | "sin" => return signed(shape),
        _ => Ok(x),
    }
    .unwrap()
}

/// Half of `argument`, so that it is nowhere equal to another argument.
fn half(shape: &[usize]) -> Tensor {
    ops::mul(&positive(shape), 0.77).unwrap()
}

/// The samples.
pub fn samples() -> Vec<Sample> {
    let mut samples = Vec::new();
    for entry in ops::elementwise() {
        for shape in [&[][..], &[0], &[2, 3]] {
            let x = argument(entry.name, shape);
            samples.push(sample(entry.name, vec![x], |x| (entry.function)(&x[0])));
        }
        if ["acosh", "asinh", "atanh"].contains(&entry.name) {
            continue; // In place they have no derivative, as in torch.
        }
        samples.push(sample(entry.name, vec![argument(entry.name, &[3])], |x| {
            let y = ops::mul(&x[0], 1)?;
            (entry.in_place)(&y)?;
            ops::mul(&y, &y)
        }));
    }
    for entry in ops::elementwise2() {
        for (left, right) in [(&[][..], &[][..]), (&[2, 3], &[2, 3]), (&[2, 3], &[3]), (&[2, 1], &[0])] {
            samples.push(sample(entry.name, vec![positive(left), half(right)], |x| {
                (entry.function)((&x[0]).into(), (&x[1]).into())
            }));
        }
        let number = Operand::from(1.3);
        samples.push(sample(entry.name, vec![positive(&[2])], move |x| {
            (entry.function)((&x[0]).into(), number)
        }));
        samples.push(sample(entry.name, vec![positive(&[2])], move |x| {
            (entry.function)(number, (&x[0]).into())
        }));
        samples.push(sample(entry.name, vec![positive(&[2, 3]), half(&[3])], |x| {
            let y = ops::mul(&x[0], 1)?;
            (entry.in_place)(&y, (&x[1]).into())?;
            ops::mul(&y, &y)
        }));
    }
    for exponent in [-2.0, -1.0, -0.5, 0.0, 0.5, 1.0, 2.0, 3.0, 2.5] {
        samples.push(sample("pow", vec![positive(&[4])], move |x| ops::pow(&x[0], exponent)));
    }
    for alpha in [Scalar::Float(2.5), Scalar::Int(-3)] {
        samples.push(sample("add", vec![signed(&[2, 3]), signed(&[3])], move |x| {
            binary::apply(arithmetic::Add { alpha }, (&x[0]).into(), (&x[1]).into())
        }));
        samples.push(sample("sub", vec![signed(&[2, 3]), signed(&[3])], move |x| {
            binary::apply(arithmetic::Sub { alpha }, (&x[0]).into(), (&x[1]).into())
        }));
        samples.push(sample("rsub", vec![signed(&[2, 3]), signed(&[3])], move |x| {
            binary::apply(arithmetic::Rsub { alpha }, (&x[0]).into(), (&x[1]).into())
        }));
    }
    samples.extend(rounded());
    samples.extend(chosen());
    samples.extend(bounded());
    samples
}

fn rounded() -> Vec<Sample> {
    vec![
        sample("square", vec![signed(&[2, 3])], |x| power::square(&x[0])),
        sample("round_decimals", vec![positive(&[3])], |x| rounding::round_decimals(&x[0], 1)),
        sample("round_decimals", vec![positive(&[3])], |x| rounding::round_decimals(&x[0], -1)),
        sample("div_rounded", vec![positive(&[2, 3]), half(&[3])], |x| {
            division::div_rounded(&x[0], &x[1], Rounding::Floor)
        }),
        sample("div_rounded", vec![positive(&[3]), half(&[2, 1])], |x| {
            division::div_rounded(&x[0], &x[1], Rounding::Trunc)
        }),
    ]
}

/// Truth values of a shape, some of each.
fn mask(shape: &[usize]) -> Tensor {
    compare::gt(&signed(shape), 0).unwrap()
}

fn chosen() -> Vec<Sample> {
    let pick = |condition: &'static [usize], a: &[usize], b: &[usize]| {
        sample("where", vec![signed(a), half(b)], move |x| select::where_(&mask(condition), &x[0], &x[1]))
    };
    vec![
        pick(&[2, 3], &[2, 3], &[2, 3]),
        pick(&[3], &[2, 1], &[1, 3]),
        pick(&[4], &[], &[]),
        pick(&[], &[2], &[1]),
        pick(&[0], &[1], &[0]),
        sample("frexp", vec![signed(&[2, 3])], |x| Ok(representation::frexp(&x[0])?.0)),
        sample("frexp", vec![signed(&[])], |x| Ok(representation::frexp(&x[0])?.0)),
        sample("where", vec![signed(&[3])], |x| select::where_(&mask(&[2, 3]), &x[0], 2.5)),
        sample("where", vec![signed(&[3])], |x| select::where_(&mask(&[2, 3]), 2.5, &x[0])),
        sample("masked_fill", vec![signed(&[2, 3])], |x| select::masked_fill(&x[0], &mask(&[3]), 2.5)),
        sample("masked_fill", vec![signed(&[3])], |x| select::masked_fill(&x[0], &mask(&[2, 1]), 2.5)),
        sample("masked_fill", vec![signed(&[2, 3]), positive(&[])], |x| {
            select::masked_fill(&x[0], &mask(&[3]), &x[1])
        }),
        sample("masked_fill", vec![signed(&[2, 3]), positive(&[])], |x| {
            let y = ops::mul(&x[0], 2)?;
            select::masked_fill_(&y, &mask(&[3]), &x[1])?;
            ops::mul(&y, &y)
        }),
    ]
}

fn bounded() -> Vec<Sample> {
    fn between(x: &[Tensor]) -> Result<Tensor> {
        clamp::clamp(&x[0], Some((&x[1]).into()), Some((&x[2]).into()))
    }
    let low = |shape: &[usize]| ops::mul(&positive(shape), 0.9).unwrap();
    let high = |shape: &[usize]| ops::add(&half(shape), 0.031).unwrap();
    vec![
        sample("clamp", vec![signed(&[2, 3])], |x| clamp::clamp(&x[0], Some(0.5.into()), Some(1.01.into()))),
        sample("clamp", vec![signed(&[2, 3])], |x| clamp::clamp(&x[0], None, Some(0.31.into()))),
        sample("clamp", vec![signed(&[2, 3])], |x| clamp::clamp_min(&x[0], 0.31)),
        sample("clamp", vec![signed(&[])], |x| clamp::clamp_max(&x[0], 0.31)),
        sample("clamp", vec![signed(&[2, 3]), low(&[3]), high(&[2, 1])], between),
        sample("clamp", vec![signed(&[3]), low(&[]), high(&[2, 3])], between),
        sample("clamp", vec![signed(&[0]), low(&[1]), high(&[2, 1])], between),
        sample("clamp", vec![signed(&[2, 3]), half(&[3])], |x| clamp::clamp_min(&x[0], &x[1])),
        sample("clamp", vec![signed(&[2, 3]), half(&[3])], |x| clamp::clamp_max(&x[0], &x[1])),
        sample("clamp", vec![signed(&[2, 3]), half(&[3])], |x| {
            let y = ops::mul(&x[0], 1)?;
            clamp::clamp_(&y, Some(0.2.into()), Some((&x[1]).into()))?;
            ops::mul(&y, &y)
        }),
    ]
}

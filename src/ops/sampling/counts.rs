//! Tensors of counts and waiting times, drawn with means, probabilities and shapes that other tensors hold.

use smallvec::SmallVec;

use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::{Operand, Value};
use crate::dispatch::{batch, long_work};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::graph::UNDERIVED;
use crate::kernels::interrupt;
use crate::kernels::random::{Generator as Numbers, counts, gammas};
use crate::ops::creation::copy;
use crate::ops::geometry::{expand, join, part};
use crate::ops::sampling::generator::{Generator, given};
use crate::ops::sampling::random::{MANY, apart, drawn_from};
use crate::schema::{Entry, IntoReply, function};
use crate::shape::{self, SharedLayout};
use crate::tensor::{Array, Tensor};

/// A number for every element, drawn in order.
fn drawn(
    inputs: [&Array; 2],
    generator: Option<&Generator>,
    draw: fn(&mut Numbers, f64, f64) -> f64,
) -> Result<Array> {
    let sizes = shape::broadcast(inputs[0].layout.shape(), inputs[1].layout.shape())?;
    let dtype = inputs[0].dtype;
    let mut drawn = Array::zeroed(&SharedLayout::contiguous(&sizes)?, dtype.wide())?;
    let seen = |x: &Array| x.widened()?.expanded(&sizes);
    let (first, second) = (seen(inputs[0])?, seen(inputs[1])?);
    let generator = given(generator);
    long_work::patiently(50 * drawn.layout.numel() as u64, || {
        dispatch!(float dtype.wide(), T => {
            let (first, second) = (first.view::<T>(), second.view::<T>());
            let mut pairs = first.iter().zip(second.iter());
            for piece in drawn.owned::<T>().chunks_mut(MANY) {
                // As elsewhere, nobody waits for the generator while the host is asked.
                interrupt::unwind_if_due();
                let mut generator = generator.lock();
                for (out, (a, b)) in piece.iter_mut().zip(&mut pairs) {
                    *out = T::from_f64(draw(&mut generator, a.to_f64(), b.to_f64()));
                }
            }
        }, else { unreachable!("the type was asked for") });
        Ok(())
    })?;
    copy::rounded(drawn, dtype)
}

/// What is drawn of tensors by `draw`, which is an operation of a record by this name where there is one.
fn shown(
    name: &'static str,
    inputs: &[&Tensor],
    generator: Option<&Generator>,
    draw: fn(&[&Tensor], Option<&Generator>) -> Result<Array>,
) -> Result<Array> {
    if recording::is_on() {
        let operands: SmallVec<[Operand<'_>; 2]> = inputs.iter().map(|&input| input.into()).collect();
        let own = generator.cloned();
        let again = move |operands: &[Value]| {
            draw(&intercept::tensors(operands), own.as_ref()).map(Tensor::from_array)
        };
        if let Some(found) = intercept::of_subclass(name, &operands, again) {
            return Ok(found?.array());
        }
    }
    draw(inputs, generator)
}

/// Counts with the means that a tensor holds.
pub fn poisson(means: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    if batch::is_mapping() {
        return batch::drawn_from(means, &|means| poisson(means, generator));
    }
    let y = shown("poisson", &[means], generator, arrivals)?;
    drawn_from(&[means], y, "PoissonBackward0")
}

/// Refuses types whose numbers are no floating-point numbers that are calculated with.
fn check_kernel(dtype: DType, operation: &'static str) -> Result<()> {
    match dtype {
        DType::Float32 | DType::Float64 => Ok(()),
        dtype if dtype.is_half() => Ok(()),
        dtype => Err(Error::NotImplementedFor { operation, dtype }.into()),
    }
}

fn arrivals(means: &[&Tensor], generator: Option<&Generator>) -> Result<Array> {
    let array = means[0].array();
    if array.dtype.is_float() && means[0].to_vec::<f64>()?.iter().any(|&mean| mean < 0.0 || mean.is_nan()) {
        return Err(Error::PoissonRate {}.into());
    }
    check_kernel(array.dtype, "poisson_cpu")?;
    drawn([&array, &array], generator, |generator, mean, _| counts::poisson(generator, mean))
}

/// How many of so many happen, with the probabilities that another tensor holds.
pub fn binomial(count: &Tensor, probability: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    for (argument, x) in [("count", count), ("prob", probability)] {
        if !x.dtype().is_float() {
            return Err(Error::BinomialDType { argument, dtype: x.dtype() }.into());
        }
    }
    let (expected, found): (DType, DType) = (count.dtype(), probability.dtype());
    if expected != found {
        return Err(Error::BinomialDTypes { expected, found }.into());
    }
    check_kernel(expected, "binomial_cpu")?;
    if batch::is_mapping() {
        let shape = shape::broadcast(count.layout().shape(), probability.layout().shape())?;
        let [counts, chances] = [count, probability].map(|x| expand::expand(x, &shape::signed(&shape)));
        let both = join::stack(&[&counts?, &chances?], -1)?.detach();
        let y = batch::drawn_from(&both, &|both| {
            binomial(&part::select(both, -1, 0)?, &part::select(both, -1, 1)?, generator)
        })?;
        return apart(&[count, probability], y, UNDERIVED);
    }
    let y = shown("binomial", &[count, probability], generator, |inputs, generator| {
        drawn([&inputs[0].array(), &inputs[1].array()], generator, counts::binomial)
    })?;
    drawn_from(&[count, probability], y, UNDERIVED)
}

/// Waiting times at a rate of one, for as many as a tensor holds. Autograd does not follow.
pub fn gamma(concentration: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    if batch::is_mapping() {
        return batch::drawn_from(concentration, &|concentration| gamma(concentration, generator));
    }
    let y = shown("_standard_gamma", &[concentration], generator, |inputs, generator| {
        let array = inputs[0].array();
        check_kernel(array.dtype, "gamma_cpu")?;
        let draw = match array.dtype.wide() {
            DType::Float32 => |generator: &mut Numbers, shape, _| gammas::gamma::<f32>(generator, shape),
            _ => |generator: &mut Numbers, shape, _| gammas::gamma::<f64>(generator, shape),
        };
        drawn([&array, &array], generator, draw)
    })?;
    Ok(Tensor::from_array(y))
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "poisson",
        &["(Tensor input, Generator? generator=None)"],
        "Samples from Poisson distributions with the given rates.",
        |a| poisson(a.tensor(0)?, a.generator(1).as_ref()).reply(),
    ),
    function(
        "binomial",
        &["(Tensor count, Tensor prob, Generator? generator=None)"],
        "Samples from binomial distributions with the given counts and probabilities.",
        |a| binomial(a.tensor(0)?, a.tensor(1)?, a.generator(2).as_ref()).reply(),
    ),
    function(
        "_draw_gamma",
        &["(Tensor concentration, Generator? generator=None)"],
        "Samples from gamma distributions of rate one with the given concentrations.",
        |a| gamma(a.tensor(0)?, a.generator(1).as_ref()).reply(),
    ),
];

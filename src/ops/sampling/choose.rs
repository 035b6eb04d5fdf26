//! Random choices: indices that are picked.

use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Value;
use crate::dispatch::{batch, long_work};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::following;
use crate::kernels::interrupt;
use crate::kernels::random::{fill_choices, fill_exponential, no_weight, shares};
use crate::kernels::sorting::sort;
use crate::ops::creation::copy;
use crate::ops::geometry::reshape;
use crate::ops::sampling::generator::given;
use crate::ops::sampling::random::{Generator, MANY, in_pieces};
use crate::schema::{Entry, IntoReply, OutPolicy, Shape, Types, both};
use crate::storage;
use crate::tensor::{Array, Tensor};

/// Indices of the last dimension, as likely as their weights, which need not sum to one.
pub fn multinomial(
    weights: &Tensor,
    count: i64,
    replacement: bool,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    if batch::is_mapping() {
        return of_samples(weights, count, replacement, generator);
    }
    if recording::is_on() {
        let generator = generator.cloned();
        let compute = move |operands: &[Value]| {
            chosen(intercept::first(operands), count, replacement, generator.as_ref())
        };
        if let Some(found) = intercept::of_subclass("multinomial", &[weights.into()], compute) {
            return found;
        }
    }
    let work = (weights.numel() as u64).saturating_add(count.max(0) as u64).saturating_mul(20);
    long_work::patiently(work, || chosen(weights, count, replacement, generator))
}

fn chosen(weights: &Tensor, count: i64, replacement: bool, generator: Option<&Generator>) -> Result<Tensor> {
    let (layout, dtype) = (weights.layout(), weights.dtype());
    if !dtype.is_float() {
        return Err(Error::ChoiceDType { dtype }.into());
    }
    let (rows, len) = match *layout.shape() {
        [len] => (1, len),
        [rows, len] => (rows, len),
        _ => return Err(Error::ChoiceDimensions {}.into()),
    };
    if count <= 0 {
        return Err(Error::ChoiceCount {}.into());
    }
    if !replacement && count as u64 > len as u64 {
        return Err(Error::ChoiceExhausted {}.into());
    }
    // A single choice is made without replacement, which comes to the same.
    let repeated = replacement && count > 1;
    let shape = if layout.ndim() == 1 { vec![count] } else { vec![rows as i64, count] };
    let mut result = Array::uninit_shape(&crate::shape::checked_shape(&shape)?, DType::Int64)?;
    dispatch!(float dtype.wide(), T => {
        following::leaves("the elements of a tensor");
        let array = weights.array();
        let converted = copy::as_type(&array, dtype.wide())?;
        let ordered = copy::in_order(&converted)?;
        let weights = ordered.slice::<T>().unwrap_or_default();
        if let Some(weight) = no_weight(weights) {
            return Err(match repeated {
                true if weight > 0.0 => Error::ChoiceInfinite {}.into(),
                true => Error::ChoiceNegative {}.into(),
                false => Error::ChoiceWeights {}.into(),
            });
        }
        if (0..rows).any(|row| weights[row * len..][..len].iter().all(|weight| *weight == 0.0)) {
            return Err(Error::ChoiceSum {}.into());
        }
        let generator = given(generator);
        if repeated {
            let mut chosen = storage::filled(result.layout.numel(), 0)?;
            let rows = weights.chunks_exact(len).zip(chosen.chunks_exact_mut(count as usize));
            for (weights, out) in rows {
                let shares = shares(weights);
                for piece in out.chunks_mut(MANY) {
                    // Nobody waits for the generator while the host is asked.
                    interrupt::unwind_if_due();
                    fill_choices(&mut generator.lock(), piece, &shares);
                }
            }
            return Ok(Tensor::from_array(Array::from_slice(result.layout.shape(), &chosen)?));
        }
        // Waiting times whose rates are the weights: the first to come are chosen.
        let mut times = Array::zeroed(&layout, dtype.wide())?;
        in_pieces(generator, &times, |generator, piece| {
            piece.overwrite_slice::<T>([], |times| fill_exponential(generator, times, 1.0));
            Ok(())
        })?;
        times.owned::<T>().iter_mut().zip(weights).for_each(|(time, weight)| *time = weight / *time);
        sort::argsort(times.view::<T>(), layout.ndim() - 1, count as usize, true, result.fresh());
    }, else { unreachable!("integers were refused") });
    Ok(Tensor::from_array(result))
}

/// `multinomial` of many samples: all rows at once, whatever mappings they are of.
fn of_samples(
    weights: &Tensor,
    count: i64,
    replacement: bool,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    let rank = weights.ndim();
    batch::drawn_from(weights, &|weights| {
        let layout = weights.layout();
        if layout.ndim() <= 2 || !(1..=2).contains(&rank) {
            return multinomial(weights, count, replacement, generator);
        }
        let mut shape = layout.shape().to_vec();
        let rows: usize = shape[..shape.len() - 1].iter().product();
        let flat = reshape::reshape_to(weights, &[rows, shape[shape.len() - 1]])?;
        let chosen = multinomial(&flat, count, replacement, generator)?;
        if let Some(last) = shape.last_mut() {
            *last = count.max(0) as usize;
        }
        reshape::reshape_to(&chosen, &shape)
    })
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "multinomial",
        &[
            "(Tensor input, SymInt num_samples, bool replacement=False, *, Generator? generator=None, Tensor out=None)",
        ],
        "Samples indices of the last dimension in proportion to the weights that it holds.",
        |a| {
            let generator = a.generator(3);
            multinomial(a.tensor(0)?, a.int(1)?, a.boolean(2), generator.as_ref()).reply()
        },
    ).written(&OutPolicy::PLAIN.unrecorded().shaped(Shape::Silent).typed(Types::Drawn).drawn(|_| true))
    .operators(&[("-", "multinomial")]),
];

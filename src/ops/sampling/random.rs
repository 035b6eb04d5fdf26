//! Random tensors: fresh ones, and tensors overwritten with random numbers. No input has a say in
//! what is drawn, so gradients end here, in zeros.

mod entries;
mod fresh;

use crate::dispatch::apply;
use crate::dispatch::default_dtype;
use crate::ops;
use crate::ops::geometry::expand;
use crate::schema::{
    Arguments, Entry, IntoReply, OutPolicy, Reply, Shape, Types, UnbatchedTarget, both, function, method,
};
use crate::tensor::{Mapping, Randomness};
pub use entries::ENTRIES;
pub use fresh::FRESH;
use smallvec::{SmallVec, smallvec};

use crate::dispatch::in_place::Write;
use crate::dispatch::modes::recording;
use crate::dispatch::record::trace;
use crate::dispatch::{batch, long_work};
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::graph::UNDERIVED;
use crate::graph::observe::profile;
use crate::graph::observe::profile::Label;
use crate::graph::{At, Attributes, Gradients, Rule, Shown, mode};
use crate::kernels::interrupt;
use crate::kernels::random::{self as kernels, fill_bernoulli, fill_bernoulli_each, permute};
use crate::ops::conjugate;
use crate::ops::creation::{cast, copy, create};
pub use crate::ops::sampling::distribution::Distribution;
pub use crate::ops::sampling::generator::Generator;
use crate::ops::sampling::generator::given;
use crate::shape::{self, Layout, SharedLayout};
use crate::tensor::{Array, Tensor};

/// y is drawn
///
/// dy = 0, x̄ = 0 for whatever had a say in how
struct Drawn {
    name: &'static str,
    /// The sizes of the inputs, by torch's names.
    sizes: Attributes,
}

impl Rule for Drawn {
    fn name(&self) -> &str {
        self.name
    }

    fn shown(&self) -> Attributes {
        self.sizes.clone()
    }

    fn vjp(&self, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let g = apply::single(gradients);
        (0..at.node.edges().len()).map(|_| create::zeros_like(g).map(Some)).collect()
    }

    fn jvp(&self, at: &At<'_>, _tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let form = at.node.form(0);
        let layout = SharedLayout::new(form.layout.fresh());
        Ok(smallvec![Some(Tensor::from_array(Array::zeroed(&layout, form.dtype)?))])
    }
}

/// A tensor of what was drawn with what the inputs hold.
pub(crate) fn drawn_from(inputs: &[&Tensor], y: Array, name: &'static str) -> Result<Tensor> {
    apart(inputs, Tensor::from_array(y), name)
}

/// A tensor that counts as made of the inputs, and does not move with them.
pub(crate) fn apart(inputs: &[&Tensor], y: Tensor, name: &'static str) -> Result<Tensor> {
    trace(inputs, std::slice::from_ref(&y), |_| Drawn { name, sizes: Attributes::new() })?;
    Ok(y)
}

/// A copy that does not move with the tensor.
pub fn detach_copy(x: &Tensor) -> Result<Tensor> {
    apart(&[x], cast::clone_contiguous(&x.detach())?, UNDERIVED)
}

/// A fresh tensor, every element drawn.
pub fn draw(
    shape: &[i64],
    dtype: DType,
    distribution: &Distribution,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    batch::creation(shape, &|shape| {
        let tensor = create::empty(shape, dtype)?;
        let _profiled = profile::begin(Label::Operation(distribution.node(), true), || {
            smallvec![Some(profile::shape(&tensor))]
        });
        fill_fresh(&tensor, distribution, generator)?;
        Ok(tensor)
    })
}

/// A fresh tensor of the shape of `x` and in the order of its memory, every element drawn.
pub fn draw_like(
    x: &Tensor,
    dtype: DType,
    distribution: &Distribution,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    let of_all = |x: &Tensor| draw_like(x, dtype, distribution, generator);
    if let Some(found) = batch::drawn_like(x, &of_all) {
        return found;
    }
    if batch::is_mapping() {
        return draw(&shape::signed(x.layout().shape()), dtype, distribution, generator);
    }
    let tensor = create::full_like(x, 0i64.into(), dtype)?;
    fill_fresh(&tensor, distribution, generator)?;
    Ok(tensor)
}

/// Draws the elements of a tensor that nobody else has seen.
fn fill_fresh(x: &Tensor, distribution: &Distribution, generator: Option<&Generator>) -> Result<()> {
    match recording::is_on() {
        true => {
            let (distribution, name) = (distribution.clone(), distribution.node());
            match generator.cloned() {
                None => recording::overwriting_of(name, &[x], &[], &[], distribution),
                Some(generator) => recording::overwriting(name, &[x], &[], move |targets, _| {
                    fill(&targets[0].array(), &distribution, Some(&generator))
                }),
            }
        }
        false => fill_patiently(&x.array(), distribution, generator),
    }
}

/// Overwrites every element with one drawn.
pub fn draw_(x: &Tensor, distribution: &Distribution, generator: Option<&Generator>) -> Result<()> {
    let (own, generator) = (distribution.clone(), generator.cloned());
    overwrite(x, &[x], None, distribution.node(), move |target, _| fill(target, &own, generator.as_ref()))
}

/// Overwrites `x` by `fill`, which is given the numbers of another tensor if it needs any, and records that, with `inputs`
/// as what had a say; `x` is the first.
fn overwrite(
    x: &Tensor,
    inputs: &[&Tensor],
    other: Option<&Tensor>,
    name: &'static str,
    fill: impl Fn(&Array, Option<&Array>) -> Result<()> + Send + Sync + 'static,
) -> Result<()> {
    let write = Write::begin(inputs)?;
    let read = other.map(Tensor::array);
    let read = read.as_ref();
    match batch::is_mapping() {
        true => batch::overdraw(x, &|x| fill(&x.array(), read))?,
        false if recording::is_on() && !x.is_pending() => {
            let others: SmallVec<[&Tensor; 1]> = other.into_iter().collect();
            recording::overwriting(name, &[x], &others, move |targets, others| {
                fill(&targets[0].array(), others.first().map(|other| other.array()).as_ref())
            })?;
        }
        false if x.is_pending() => {
            let drawn = x.array();
            fill(&drawn, read)?;
            copy::write(&x.memory(), &drawn)?;
        }
        false => fill(&x.array(), read)?,
    }
    write.finish(|_| Drawn { name, sizes: Attributes::new() })
}

/// Draws the elements of an array in the order in which they lie in memory.
pub(super) fn fill(target: &Array, distribution: &Distribution, generator: Option<&Generator>) -> Result<()> {
    if target.dtype.is_complex()
        && let Some(distribution) = distribution.of_parts()
    {
        return fill(&conjugate::as_parts(target)?, &distribution, generator);
    }
    distribution.check(target.dtype)?;
    let generator = given(generator);
    if target.layout.is_contiguous() {
        return in_pieces(generator, target, |generator, piece| distribution.draw(generator, piece, true));
    }
    let target = in_order(target);
    let drawn = Array::zeroed(&SharedLayout::new(target.layout.fresh()), target.dtype)?;
    in_pieces(generator, &drawn, |generator, piece| distribution.draw(generator, piece, false))?;
    copy::write(&target, &drawn)
}

/// `fill` of memory that nobody else has seen yet, and that may stay half drawn.
fn fill_patiently(target: &Array, distribution: &Distribution, generator: Option<&Generator>) -> Result<()> {
    long_work::patiently(8 * target.layout.numel() as u64, || fill(target, distribution, generator))
}

/// Draws the elements of a row-major array piece by piece. The host may be asked, and draw itself, only while nobody
/// waits for the generator. Normal numbers come in blocks of sixteen, and the last of them is made of the last sixteen
/// elements: pieces are whole blocks, and the last is not the shortest.
pub(super) fn in_pieces(
    generator: &Generator,
    out: &Array,
    draw: impl Fn(&mut kernels::Generator, &Array) -> Result<()>,
) -> Result<()> {
    let (len, offset) = (out.layout.numel(), out.layout.offset());
    if len < 2 * MANY {
        return draw(&mut generator.lock(), out);
    }
    let pieces = len / MANY;
    for piece in 0..pieces {
        interrupt::unwind_if_due();
        let start = piece * MANY;
        let count = if piece + 1 == pieces { len - start } else { MANY };
        let window = Layout::strided(smallvec![count], smallvec![1], offset + start)?;
        draw(&mut generator.lock(), &out.with_layout(window))?;
    }
    Ok(())
}

/// The array with its dimensions in the order of their strides.
fn in_order(array: &Array) -> Array {
    let dense = array.layout.packed();
    let mut order: Vec<usize> = (0..dense.ndim()).collect();
    order.sort_by_key(|&dim| std::cmp::Reverse(dense.strides()[dim]));
    array.with_layout(array.layout.permuted(order.into_iter()))
}

/// Uniform numbers of [0, 1).
pub fn rand(shape: &[i64], dtype: DType, generator: Option<&Generator>) -> Result<Tensor> {
    draw(shape, dtype, &Distribution::Uniform { low: 0.0, high: 1.0 }, generator)
}

/// Normally distributed numbers around zero, with a standard deviation of one.
pub fn randn(shape: &[i64], dtype: DType, generator: Option<&Generator>) -> Result<Tensor> {
    draw(shape, dtype, &Distribution::Normal { mean: 0.0, std: 1.0 }, generator)
}

/// Numbers that are drawn, or exchanged, at a time.
pub(super) const MANY: usize = 1 << 14;

/// The numbers below its length in random order.
fn permuted<T: Element>(generator: &Generator, out: &mut [T]) {
    out.iter_mut().zip(0..).for_each(|(out, number)| *out = T::from_i64(number));
    for start in (0..out.len()).step_by(MANY) {
        // The host may be asked, and draw itself, only while nobody waits for the generator.
        interrupt::unwind_if_due();
        permute(&mut generator.lock(), out, start..out.len().min(start + MANY));
    }
}

/// The integers below `n` in random order.
pub fn randperm(n: i64, dtype: DType, generator: Option<&Generator>) -> Result<Tensor> {
    if batch::is_mapping() {
        return batch::each_drawn(&|| randperm(n, dtype, generator));
    }
    let is_recorded = recording::is_on();
    let permutation = match is_recorded {
        true => create::zeros(&[n], dtype.wide())?,
        false => create::empty(&[n], dtype.wide())?,
    };
    match dtype {
        dtype if dtype == DType::Bool || dtype.is_stored() && !dtype.is_half() => {
            return Err(Error::NotImplementedFor { operation: "randperm", dtype }.into());
        }
        DType::Float16 if n > (1 << 11) + 1 => {
            return Err(Error::PermutationLength { most: "2049", dtype }.into());
        }
        DType::Float32 if n > (1 << 24) + 1 => {
            return Err(Error::PermutationLength { most: "2^24+1", dtype }.into());
        }
        DType::Float64 if n > (1 << 53) + 1 => {
            return Err(Error::PermutationLength { most: "2^53+1", dtype }.into());
        }
        dtype if !dtype.is_differentiable() && i128::from(n) - 1 > *create::integers(dtype).end() => {
            return Err(Error::ValueOverflow { name: dtype.name_in_c() }.into());
        }
        _ => {}
    }
    let permute = move |array: &Array, generator: Option<&Generator>| -> Result<()> {
        dispatch!(ordered array.dtype, T => array.overwrite_slice::<T>([], |places| permuted(given(generator), places)), else {
            return Err(Error::NotImplementedFor { operation: "randperm", dtype }.into())
        });
        Ok(())
    };
    let array = permutation.array();
    match is_recorded {
        true => {
            let generator = generator.cloned();
            recording::overwriting("randperm", &[&permutation], &[], move |targets, _| {
                permute(&targets[0].array(), generator.as_ref())
            })?;
        }
        false => long_work::patiently(n as u64, || permute(&array, generator))?,
    }
    if dtype.is_stored() { copy::rounded(array, dtype).map(Tensor::from_array) } else { Ok(permutation) }
}

/// Normally distributed numbers, each with a mean and a standard deviation of its own. One of the
/// two may be a number.
pub fn normal(
    mean: ops::Operand<'_>,
    std: ops::Operand<'_>,
    generator: Option<&Generator>,
) -> Result<Tensor> {
    use crate::ops::Operand;
    let (like, name, inputs): (&Tensor, _, SmallVec<[&Tensor; 2]>) = match (mean, std) {
        (Operand::Tensor(mean), Operand::Scalar(_)) => (mean, "NormalBackward1", smallvec![mean]),
        (Operand::Scalar(_), Operand::Tensor(std)) => (std, "NormalBackward2", smallvec![std]),
        (Operand::Tensor(mean), Operand::Tensor(std)) => (mean, "NormalBackward3", smallvec![mean, std]),
        (Operand::Scalar(mean), Operand::Scalar(std)) => {
            let distribution = Distribution::Normal { mean: mean.to_f64(), std: std.to_f64() };
            return draw(&[], default_dtype::get(), &distribution, generator);
        }
    };
    let y = {
        let _off = mode::GradModeGuard::off();
        let spread = match std {
            Operand::Scalar(std) => std.to_f64(),
            Operand::Tensor(std) => {
                recording::checked(name, &[std], |std| {
                    match std[0].to_vec::<f64>()?.iter().any(|&std| std < 0.0) {
                        true => Err(Error::NormalDeviations {}.into()),
                        false => Ok(()),
                    }
                })?;
                1.0
            }
        };
        let standard = Distribution::Normal { mean: 0.0, std: spread };
        let common = match (mean, std) {
            (Operand::Tensor(mean), Operand::Tensor(std)) => {
                Some(shape::broadcast(mean.layout().shape(), std.layout().shape())?)
            }
            _ => None,
        };
        if batch::is_mapping() {
            batch::refuse_same(&inputs)?;
            let shape = common.unwrap_or_else(|| like.layout().shape().into());
            let drawn = draw(&shape::signed(&shape), like.dtype(), &standard, generator)?;
            let spread = if let Operand::Tensor(std) = std { ops::mul(&drawn, std)? } else { drawn };
            return ops::add(&spread, mean);
        }
        let shape = common.unwrap_or_else(|| like.layout().shape().into());
        let y = draw(&shape::signed(&shape), like.dtype(), &standard, generator)?;
        if let Operand::Tensor(std) = std {
            ops::mul_(&y, std)?;
        }
        ops::add_(&y, mean)?;
        y
    };
    let sizes = || {
        let named = [("mean_sym_sizes", mean), ("std_sym_sizes", std)];
        let size = |(name, given): (&'static str, ops::Operand<'_>)| {
            Some((name, Shown::from(given.tensor()?.layout().shape())))
        };
        named.into_iter().filter_map(size).collect()
    };
    trace(&inputs, std::slice::from_ref(&y), |_| Drawn { name, sizes: sizes() })?;
    Ok(y)
}

/// Ones and zeros, each one with a probability of its own.
pub fn bernoulli(probabilities: &Tensor, generator: Option<&Generator>) -> Result<Tensor> {
    if batch::is_mapping() {
        let y = batch::drawn_from(probabilities, &|p| bernoulli(p, generator))?;
        return Ok(y);
    }
    let y = create::zeros(&shape::signed(probabilities.layout().shape()), probabilities.dtype())?;
    match recording::is_on() {
        true => {
            let generator = generator.cloned();
            recording::overwriting("BernoulliBackward0", &[&y], &[probabilities], move |targets, others| {
                fill_each(&targets[0].array(), &others[0].array(), generator.as_ref())
            })?;
        }
        false => long_work::patiently(8 * y.numel() as u64, || {
            fill_each(&y.array(), &probabilities.array(), generator)
        })?,
    }
    apart(&[probabilities], y, "BernoulliBackward0")
}

/// Ones and zeros like the elements of `x`, all with one probability.
pub fn bernoulli_like(x: &Tensor, probability: f64, generator: Option<&Generator>) -> Result<Tensor> {
    batch::refuse_same(&[x])?;
    let distribution = Distribution::Bernoulli { probability };
    let y = draw(&shape::signed(x.layout().shape()), x.dtype(), &distribution, generator)?;
    apart(&[x], y, UNDERIVED)
}

/// Overwrites every element with a one or a zero, with a probability of its own.
pub fn bernoulli_(x: &Tensor, probabilities: &Tensor, generator: Option<&Generator>) -> Result<()> {
    if batch::is_mapping() {
        batch::refuse_shared(x)?;
        let each = expand::expand_as(probabilities, x)?;
        return cast::copy_(x, &bernoulli(&each, generator)?);
    }
    let each = probabilities.array();
    let shape = x.layout();
    if !shape::is_expandable(each.layout.shape(), shape.shape()) {
        shape::broadcast(shape.shape(), each.layout.shape())?;
        let (output, broadcast) = (shape.shape().to_vec(), each.layout.shape().to_vec());
        return Err(Error::OutputShape { output, broadcast }.into());
    }
    let (each, generator) = (Tensor::from_array(each.expanded(shape.shape())?), generator.cloned());
    overwrite(x, &[x, probabilities], Some(&each), "BernoulliBackward1", move |target, each| match each {
        Some(each) => fill_each(target, each, generator.as_ref()),
        None => Ok(()),
    })
}

fn fill_each(target: &Array, probabilities: &Array, generator: Option<&Generator>) -> Result<()> {
    const OWN: &str = "bernoulli_tensor_cpu_self_";
    let dtype = probabilities.dtype;
    let refused = |operation, dtype| Err(Error::NotImplementedFor { operation, dtype }.into());
    if target.dtype.is_stored() && !target.dtype.is_half() {
        return refused(OWN, target.dtype);
    }
    let probabilities = probabilities.widened()?;
    let same = probabilities.repeated_element();
    // With one probability for all, elements are drawn as they lie in memory.
    let target = &same.map_or_else(|| target.clone(), |_| in_order(target));
    let mut drawn = Array::zeroed(&SharedLayout::new(target.layout.fresh()), target.dtype.wide())?;
    dispatch!(float dtype.wide(), P => {
        let each = probabilities.view::<P>();
        let is_probability = |number: &P| (0.0..=1.0).contains(number);
        let are = match same {
            Some(_) => each.first().is_none_or(is_probability),
            None => each.iter().all(is_probability),
        };
        if !are {
            return Err(Error::Probability {}.into());
        }
        let generator = given(generator);
        let mut each = each.iter().copied();
        dispatch!(ordered drawn.dtype, T => for piece in drawn.owned::<T>().chunks_mut(MANY) {
            // As elsewhere, nobody waits for the generator while the host is asked.
            interrupt::unwind_if_due();
            let mut generator = generator.lock();
            match same.filter(|_| dtype == DType::Float64) {
                Some(same) => fill_bernoulli(&mut generator, piece, same.to_f64()),
                None => fill_bernoulli_each(&mut generator, piece, &mut each),
            }
        }, else {
            return refused(OWN, target.dtype)
        });
    }, else {
        return refused(if dtype.is_complex() { OWN } else { "bernoulli_tensor_cpu_p_" }, dtype)
    });
    copy::write(target, &drawn)
}

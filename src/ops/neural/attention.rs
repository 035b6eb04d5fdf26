//! Attention: values, weighed by how well their keys answer each query.

mod numbers;

use crate::schema::{Entry, IntoReply, inner};
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::memory;
use crate::dispatch::apply::{Arrays, Keep, Op, apply, single, two};
use crate::dispatch::batch;
use crate::dispatch::batch::{Answer, Call};
use crate::dispatch::composites::on_tensors;
use crate::dispatch::long_work;
use crate::dispatch::modes::{intercept, recording};
use crate::dispatch::operand::Value;
use crate::dispatch::record::records;
use crate::dtype::{DType, Element};
use crate::error::Result;
use crate::graph::mode::{self, GradModeGuard};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor};
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::permute::{mT, transpose};
use crate::ops::geometry::reshape::reshape_to;
use crate::ops::geometry::{expand, squeeze, triangle};
use crate::ops::linalg::matmul::matmul;
use crate::ops::neural::softmax::{safe_softmax, softmax_gradient};
use crate::ops::pointwise::{compare, logical, select};
use crate::ops::reduction::extremes_over::amax;
use crate::ops::reduction::reduce;
use crate::ops::{add, log, mul, sub};
use crate::shape::signed;
use crate::tensor::{Array, Tensor};

use numbers::Heads;

/// How keys answer queries.
#[derive(Clone, Copy)]
pub struct Answering {
    /// What the products are multiplied by; one over the root of a key's size goes without saying.
    pub scale: Option<f64>,
    /// Whether no query sees a key behind its own place.
    pub is_causal: bool,
}

impl Answering {
    fn scale(self, q: &Tensor) -> f64 {
        self.scale.unwrap_or_else(|| 1.0 / (size(q, -1) as f64).sqrt())
    }

    /// S = scale · q kᵀ + mask, with half of the scale on each side, where it keeps numbers small
    pub fn scores(self, q: &Tensor, k: &Tensor, mask: Option<&Tensor>) -> Result<Tensor> {
        let scale = self.scale(q);
        let half = scale.abs().sqrt();
        let scores = matmul(&mul(q, half.copysign(scale))?, &mul(&transpose(k, -2, -1)?, half)?)?;
        let before = match self.is_causal {
            true => {
                let sizes = [size(q, -2) as i64, size(k, -2) as i64];
                Some(triangle::tril(&create::full(&sizes, true.into(), DType::Bool)?, 0)?)
            }
            false => None,
        };
        let masks = [before.as_ref(), mask].into_iter().flatten();
        masks.map(|mask| added(mask, q.dtype())).try_fold(scores, |scores, mask| add(&scores, &mask?))
    }
}

/// A mask as what is added to scores: nothing where it holds, and what leaves no weight elsewhere.
fn added(mask: &Tensor, dtype: DType) -> Result<Tensor> {
    if mask.dtype() != DType::Bool {
        return Ok(mask.clone());
    }
    let hidden = logical::not(mask)?;
    select::masked_fill(&create::zeros(&signed(mask.layout().shape()), dtype)?, &hidden, f64::NEG_INFINITY)
}

/// The size of a dimension that is counted from the end.
fn size(x: &Tensor, dim: isize) -> usize {
    x.layout().shape()[x.ndim().wrapping_add_signed(dim)]
}

/// y = W v with the weights W = softmax(S), and ln Σ eˢ, which has no derivative. No weights are kept.
///
/// v̄ = Wᵀ ȳ, S̄ = W (W̄ - Σ W̄ W) with W̄ = ȳ vᵀ, q̄ = scale · S̄ k, k̄ = scale · S̄ᵀ q,
/// ẏ = W v̇ + Ẇ v with Ẇ = W (Ṡ - Σ Ṡ W), Ṡ = scale · (q̇ kᵀ + q k̇ᵀ)
#[derive(Clone)]
struct Attention {
    answering: Answering,
}

/// Queries, keys, values and a mask.
type Operands<'a> = (&'a Tensor, Tensor, Tensor, Option<&'a Tensor>);

/// The inputs, with keys and values for every head of queries: heads may share them.
fn operands_of<'a>(inputs: &[&'a Tensor]) -> Result<Operands<'a>> {
    let heads = size(inputs[0], -3);
    Ok((inputs[0], for_heads(inputs[1], heads)?, for_heads(inputs[2], heads)?, inputs.get(3).copied()))
}

fn for_heads(x: &Tensor, heads: usize) -> Result<Tensor> {
    let &[samples, own, length, size] = x.layout().shape() else { return Ok(x.clone()) };
    if own == heads {
        return Ok(x.clone());
    }
    let shared = expand::expand(&squeeze::unsqueeze(x, 2)?, &[-1, -1, (heads / own) as i64, -1, -1])?;
    reshape_to(&shared, &[samples, heads, length, size])
}

/// The gradient of what `for_heads` made of `x`.
fn of_heads(gradient: Tensor, x: &Tensor) -> Result<Tensor> {
    let &[samples, own, length, size] = x.layout().shape() else { return Ok(gradient) };
    match self::size(&gradient, -3) / own {
        1 => Ok(gradient),
        shared => {
            let apart = reshape_to(&gradient, &[samples, own, shared, length, size])?;
            reduce::sum(&apart, Some(&[2]), false, None)
        }
    }
}

impl Attention {
    /// The result, and the scores and weights on the way to it.
    fn parts(&self, inputs: &[&Tensor]) -> Result<[Tensor; 3]> {
        let (q, k, v, mask) = operands_of(inputs)?;
        let scores = self.answering.scores(q, &k, mask)?;
        let weights = safe_softmax(&scores, -1, None)?;
        Ok([matmul(&weights, &v)?, scores, weights])
    }

    /// Queries, keys and values, and the weights, which no graph keeps.
    fn weighed(&self, inputs: &[&Tensor]) -> Result<([Tensor; 3], Tensor)> {
        let (q, k, v, mask) = operands_of(inputs)?;
        let weights = safe_softmax(&self.answering.scores(q, &k, mask)?, -1, None)?;
        Ok(([q.clone(), k, v], weights))
    }

    /// The gradients of queries, keys and values that are wanted, of the inputs.
    fn gradients(&self, inputs: &[&Tensor], g: &Tensor, wanted: [bool; 3]) -> Result<Gradients> {
        let ([q, k, v], weights) = self.weighed(inputs)?;
        let to_v = match wanted[2] {
            true => Some(of_heads(matmul(&mT(&weights)?, g)?, inputs[2])?),
            false => None,
        };
        if !(wanted[0] || wanted[1]) {
            return Ok(smallvec![None, None, to_v]);
        }
        let to_scores = softmax_gradient(&matmul(g, &mT(&v)?)?, &weights, 3)?;
        let scale = self.answering.scale(&q);
        let to_q = || mul(&matmul(&to_scores, &k)?, scale);
        let to_k = || of_heads(matmul(&mT(&to_scores)?, &mul(&q, scale)?)?, inputs[1]);
        Ok(smallvec![wanted[0].then(to_q).transpose()?, wanted[1].then(to_k).transpose()?, to_v])
    }

    /// All three gradients, as one operation that somebody is shown.
    #[cold]
    fn shown_gradients(
        &self,
        saved: &Saved,
        at: &At<'_>,
        inputs: &[&Tensor],
        g: &Tensor,
    ) -> Result<Gradients> {
        let outputs: Vec<Tensor> =
            saved[4..].iter().flatten().map(|output| at.load(output)).collect::<Result<_>>()?;
        let operands: Vec<&Tensor> =
            [g].into_iter().chain(inputs[..3].iter().copied()).chain(&outputs).collect();
        let (own, mask) = (self.clone(), inputs.get(3).map(|&mask| mask.clone()));
        let beside = mask.iter().cloned().collect();
        let compute = move |operands: &[Value]| {
            let mut inputs = intercept::tensors(&operands[1..4]);
            inputs.extend(&mask);
            let found = own.gradients(&inputs, intercept::first(operands), [true; 3])?;
            Ok(found.into_iter().flatten().collect())
        };
        let shown = Op::shown(self, saved);
        let found = intercept::several(
            "_scaled_dot_product_flash_attention_for_cpu_backward",
            shown,
            &operands,
            beside,
            3,
            compute,
        )?;
        Ok(found.into_iter().map(Some).collect())
    }

    /// The result and ln Σ eˢ, both in order, if the arrays are numbers that are calculated with; `None` has the
    /// operations do it that this consists of.
    fn at_once(&self, inputs: &[&Tensor]) -> Result<Option<[Array; 2]>> {
        let (arrays, scale) = (self.arrays(inputs)?, self.answering.scale(inputs[0]));
        dispatch!(float arrays[0].dtype, T => {
            let heads = Heads::<T>::of(&arrays, scale, self.answering.is_causal);
            heads.map(|heads| heads.weighed()).transpose()
        }, else { Ok(None) })
    }

    /// The gradients that are wanted, which are not recorded in a graph.
    fn gradients_as_one(
        &self,
        inputs: &[&Tensor],
        g: &Tensor,
        logs: &Tensor,
        wanted: [bool; 3],
    ) -> Result<Gradients> {
        let given: SmallVec<[&Tensor; 6]> = [g, logs].into_iter().chain(inputs.iter().copied()).collect();
        let (own, count) = (self.clone(), wanted.into_iter().filter(|&wanted| wanted).count());
        let found = recording::as_one(Op::name(self), &given, count, move |given| {
            let (g, logs, inputs) = (given[0], given[1], &given[2..]);
            let found = match own.gradients_at_once(inputs, g, logs, wanted)? {
                Some(found) => found,
                None => own.gradients(inputs, g, wanted)?,
            };
            Ok(found.into_iter().flatten().collect())
        })?;
        let mut found = found.into_iter();
        Ok(wanted.into_iter().map(|wanted| if wanted { found.next() } else { None }).collect())
    }

    /// The same by kernels, from ln Σ eˢ, if they take such numbers.
    fn gradients_at_once(
        &self,
        inputs: &[&Tensor],
        g: &Tensor,
        logs: &Tensor,
        wanted: [bool; 3],
    ) -> Result<Option<Gradients>> {
        let (arrays, scale) = (self.arrays(inputs)?, self.answering.scale(inputs[0]));
        let (g, logs) = (g.array(), copy::in_order(&logs.array())?.into_owned());
        let found = dispatch!(float arrays[0].dtype, T => {
            let heads = Heads::<T>::of(&arrays, scale, self.answering.is_causal);
            match (heads, logs.slice::<T>()) {
                (Some(heads), Some(logs)) if g.dtype == T::DTYPE => {
                    Some(heads.gradients(&g, logs, wanted)?)
                }
                _ => None,
            }
        }, else { None });
        let kept = |(found, wanted): (Array, bool)| wanted.then(|| Tensor::from_array(found));
        Ok(found.map(|found| found.into_iter().zip(wanted).map(kept).collect()))
    }

    /// The inputs as numbers, a mask in the shape of the scores.
    fn arrays(&self, inputs: &[&Tensor]) -> Result<SmallVec<[Array; 4]>> {
        let mut arrays: SmallVec<[Array; 4]> = inputs[..3].iter().map(|input| input.array()).collect();
        if let Some(mask) = inputs.get(3) {
            let [q, k] = [0, 1].map(|index| arrays[index].layout.clone());
            let shape = [&q.shape()[..q.ndim() - 1], &k.shape()[k.ndim() - 2..k.ndim() - 1]].concat();
            arrays.push(mask.array().expanded(&shape)?);
        }
        Ok(arrays)
    }

    /// The inputs as they were when they were kept.
    fn load(saved: &Saved, at: &At<'_>) -> Result<SmallVec<[Tensor; 4]>> {
        saved[..4].iter().flatten().map(|input| at.load(input)).collect()
    }
}

/// The result, in memory as the queries are.
fn laid_as(y: Tensor, q: &Tensor) -> Result<Tensor> {
    cast::clone_like(&y, &q.layout())
}

/// ln Σ eˢ from the scores and weights of each query: of its greatest score e^(s - ln Σ eˢ) is the weight. A
/// query that sees no key counts as one with a sum of one.
fn log_sum(scores: &Tensor, weights: &Tensor) -> Result<Tensor> {
    let greatest = amax(scores, &[-1], false)?;
    let sum = sub(&greatest, &log(&amax(weights, &[-1], false)?)?)?;
    select::masked_fill(&sum, &compare::eq(&greatest, f64::NEG_INFINITY)?, 0.0)
}

/// The inputs, then both outputs.
type Saved = [Option<SavedTensor>; 6];

impl Op for Attention {
    type Saved = Saved;
    const SAVED: &'static [&'static str] = &["query", "key", "value", "attn_mask", "output", "logsumexp"];

    fn name(&self) -> &'static str {
        "ScaledDotProductFlashAttentionForCpuBackward0"
    }

    fn shown(&self, _saved: &Saved) -> Attributes {
        let Answering { scale, is_causal } = self.answering;
        shown! { dropout_p: 0.0, is_causal: is_causal, scale: scale }
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        2
    }

    fn inputs(&self) -> Option<Inputs> {
        Some((0..3).map(Some).collect())
    }

    fn effort(&self, inputs: &[Array]) -> u64 {
        let keys = inputs[1].layout.shape().iter().rev().nth(1).copied().unwrap_or(1);
        // Two products of matrices, of which a core does some fifty steps in a nanosecond.
        inputs[0].layout.numel() as u64 * keys as u64 / 25
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        on_tensors(inputs, |inputs| {
            let _off = GradModeGuard::off();
            if let Some([y, logs]) = self.at_once(inputs)? {
                let y = laid_as(Tensor::from_array(y), inputs[0])?.array();
                return Ok(smallvec![Tensor::from_array(y), Tensor::from_array(logs)]);
            }
            let plain: SmallVec<[Tensor; 4]> = inputs.iter().map(|input| input.detach()).collect();
            let [y, scores, weights] = self.parts(&plain.iter().collect::<SmallVec<[&Tensor; 4]>>())?;
            let y = laid_as(y, inputs[0])?.array();
            Ok(smallvec![Tensor::from_array(y), Tensor::from_array(log_sum(&scores, &weights)?.array())])
        })
    }

    fn save(&self, keep: &Keep<'_>) -> Saved {
        let input = |index| keep.input_if(index < keep.count(), index);
        [input(0), input(1), input(2), input(3), Some(keep.output(0)), Some(keep.constant(1))]
    }

    fn vjp(&self, saved: &Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let inputs = Self::load(saved, at)?;
        let inputs: SmallVec<[&Tensor; 4]> = inputs.iter().collect();
        let g = single(gradients);
        let is_mapped = batch::highest(inputs.iter().copied().chain([g])).is_some();
        let is_shown = intercept::is_active() && !recording::is_on();
        if is_shown && !at.tracking && !is_mapped {
            return self.shown_gradients(saved, at, &inputs, g);
        }
        let wanted = [0, 1, 2].map(|index| at.needs(index));
        if let Some(logs) = &saved[5]
            && recording::is_undivided(&inputs)
            && recording::is_undivided(&[g])
        {
            return self.gradients_as_one(&inputs, g, &at.load(logs)?, wanted);
        }
        self.gradients(&inputs, g, wanted)
    }

    fn jvp(&self, saved: &Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let inputs = Self::load(saved, at)?;
        let inputs: SmallVec<[&Tensor; 4]> = inputs.iter().collect();
        let ([q, k, v], weights) = self.weighed(&inputs)?;
        let heads = size(&q, -3);
        let moved = |index: usize| match &tangents[index] {
            Some(tangent) => for_heads(tangent, heads),
            None => create::zeros_like(inputs[index]).and_then(|zeros| for_heads(&zeros, heads)),
        };
        let scores = add(&matmul(&moved(0)?, &mT(&k)?)?, &matmul(&q, &mT(&moved(1)?)?)?)?;
        let turned = softmax_gradient(&mul(&scores, self.answering.scale(&q))?, &weights, 3)?;
        Ok(smallvec![Some(add(&matmul(&turned, &v)?, &matmul(&weights, &moved(2)?)?)?), None])
    }

    fn batch(&self, _call: &Call<'_>) -> Result<Answer> {
        unreachable!("of batched tensors the operations are called that it consists of")
    }
}

/// Attention of samples with several heads, recorded as one operation, which gives a mask no gradient. Heads
/// of queries may share keys and values. For many samples at once it is the operations that it consists of.
pub fn attention([q, k, v]: [&Tensor; 3], mask: Option<&Tensor>, answering: Answering) -> Result<Tensor> {
    let operation = Attention { answering };
    let mask = mask.map(|mask| added(mask, q.dtype())).transpose()?;
    let mut inputs: SmallVec<[&Tensor; 4]> = smallvec![q, k, v];
    inputs.extend(&mask);
    let is_mapped = batch::highest(inputs.iter().copied()).is_some();
    // What only a graph keeps is not computed for nobody.
    if is_mapped || !mode::special() && !records(&inputs) {
        if !is_mapped
            && let Some([y, _]) =
                long_work::patiently(operation.effort(&memory(&inputs)), || operation.at_once(&inputs))?
        {
            return laid_as(Tensor::from_array(y), q);
        }
        let [y, ..] = operation.parts(&inputs)?;
        return if is_mapped { Ok(y) } else { laid_as(y, q) };
    }
    Ok(two(apply(operation, &inputs)?).0)
}

const ATTENTION: &[&str] =
    &["(Tensor query, Tensor key, Tensor value, Tensor? attn_mask, bool is_causal, float? scale)"];

const SCORES: &[&str] = &["(Tensor query, Tensor key, Tensor? attn_mask, bool is_causal, float? scale)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner("attention", ATTENTION, "Scaled dot-product attention of a batch with several heads, as one operation.", |a| {
        let answering = Answering { is_causal: a.boolean(4), scale: a.optional_float(5)? };
        attention([a.tensor(0)?, a.tensor(1)?, a.tensor(2)?], a.optional_tensor(3), answering).reply()
    })
    .operators(&[("ScaledDotProductFlashAttentionForCpuBackward0", "_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)")]),
    inner("attention_scores", SCORES, "The weights of scaled dot-product attention.", |a| {
        let answering = Answering { is_causal: a.boolean(3), scale: a.optional_float(4)? };
        answering.scores(a.tensor(0)?, a.tensor(1)?, a.optional_tensor(2)).reply()
    }),
];

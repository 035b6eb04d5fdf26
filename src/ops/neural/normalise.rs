//! Normalisation: elements less their mean, over their deviation, times a weight, plus a bias. Over which
//! elements mean and deviation are taken is what `layers` differ in.

mod entries;
mod layers;
mod numbers;

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use smallvec::{SmallVec, smallvec};

use crate::dispatch::apply::{Arrays, Keep, Op, apply, single};
use crate::dispatch::batch::{Answer, Call, Samples};
use crate::dispatch::composites::on_tensors;
use crate::dispatch::modes::recording;
use crate::dispatch::{accumulate, memory_order};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, Inputs, SavedTensor, Shown};
use crate::ops::creation::{cast, create};
use crate::ops::geometry::reshape;
use crate::ops::reduction::reduce;
use crate::ops::{add, mul, rsqrt, sub};
use crate::shape;
use crate::tensor::{Array, Tensor};
pub use entries::ENTRIES;
pub use layers::{Running, batch_norm, group_norm, layer_norm, rms_norm};
pub(in crate::ops) use numbers::ROWS as GRADIENTS;

/// Which layer it is: that decides what its node shows, and how its results lie.
#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Batch,
    Group,
    Layer,
}

/// With μ and r = 1/√(σ² + ε) of the elements along `dims` of x seen as `groups`: x̂ = (x - μ) r,
/// y = x̂ w + b
///
/// With h = ȳ w: x̄ = r (h - mean h - x̂ mean(h x̂)), w̄ = Σ ȳ x̂, b̄ = Σ ȳ; and x̄ = r h where μ and r were
/// given.
#[derive(Clone)]
struct Normalise {
    kind: Kind,
    /// The shape in which dimensions are those that share a mean, or not.
    groups: Vec<i64>,
    dims: Vec<i64>,
    /// The shape in which weight and bias are seen, broadcast to that of x.
    affine: Vec<i64>,
    /// Their own shape.
    parameter: Vec<i64>,
    weighted: bool,
    biased: bool,
    eps: f64,
    /// Mean and variance that were given, in the shape of `groups`.
    given: Option<(Tensor, Tensor)>,
    /// Mean and variance so far, which the node shows.
    running: [Option<Tensor>; 2],
}

impl Normalise {
    fn mean(&self, x: &Tensor) -> Result<Tensor> {
        reduce::mean(x, Some(&self.dims), true, None)
    }

    /// x̂ in the shape of the groups, and r.
    fn standard(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let x = reshape::reshape(x, &self.groups)?;
        let (centred, variance) = match &self.given {
            Some((mean, variance)) => (sub(&x, mean)?, variance.clone()),
            None => {
                let centred = sub(&x, &self.mean(&x)?)?;
                let variance = self.mean(&mul(&centred, &centred)?)?;
                (centred, variance)
            }
        };
        let scale = rsqrt(&add(&variance, self.eps)?)?;
        Ok((mul(&centred, &scale)?, scale))
    }

    /// The elements normalised, by operations, in order.
    fn composed(&self, x: &Tensor, weight: Option<&Tensor>, bias: Option<&Tensor>) -> Result<Array> {
        let (standard, _) = self.standard(x)?;
        let mut y = reshape::reshape(&standard, &shape::signed(x.layout().shape()))?;
        if let Some(weight) = weight {
            y = mul(&y, &self.seen(weight)?)?;
        }
        if let Some(bias) = bias {
            y = add(&y, &self.seen(bias)?)?;
        }
        memory_order::in_order(y.array())
    }

    fn seen(&self, affine: &Tensor) -> Result<Tensor> {
        reshape::reshape(affine, &self.affine)
    }

    /// r (h - mean h - x̂ mean(h x̂)): what h becomes on its way to x, and x's tangent on its way to x̂.
    fn pass(&self, h: &Tensor, standard: &Tensor, scale: &Tensor) -> Result<Tensor> {
        let shape = shape::signed(h.layout().shape());
        let h = reshape::reshape(h, &self.groups)?;
        let passed = match self.given {
            Some(_) => h,
            None => {
                let along = mul(standard, &self.mean(&mul(&h, standard)?)?)?;
                sub(&sub(&h, &self.mean(&h)?)?, &along)?
            }
        };
        reshape::reshape(&mul(&passed, scale)?, &shape)
    }

    /// The sum of a gradient over what shares an element of the weight, in the weight's own shape.
    fn gathered(&self, gradient: &Tensor, like: &[usize]) -> Result<Tensor> {
        let affine: Vec<usize> = self.affine.iter().map(|&size| size as usize).collect();
        let lead = gradient.ndim() - affine.len();
        let mut whole = vec![1; lead];
        whole.extend(affine);
        let sum = accumulate::sum_to(gradient, &whole)?;
        reshape::reshape(&sum, &shape::signed(like))
    }

    /// The gradients that are needed of x, of the weight and of the bias.
    fn gradients(
        &self,
        x: &Tensor,
        weight: Option<&Tensor>,
        g: &Tensor,
        needs: &dyn Fn(usize) -> bool,
    ) -> Result<Gradients> {
        let (standard, scale) = self.standard(x)?;
        let mut result: Gradients = SmallVec::new();
        result.push(match needs(0) {
            true => {
                let h = weight.as_ref().map_or(Ok(g.clone()), |weight| mul(g, &self.seen(weight)?))?;
                Some(self.pass(&h, &standard, &scale)?)
            }
            false => None,
        });
        if let Some(weight) = weight {
            let flat = reshape::reshape(&standard, &shape::signed(x.layout().shape()))?;
            let toward = || self.gathered(&mul(g, &flat)?, weight.layout().shape());
            result.push(needs(1).then(toward).transpose()?);
        }
        if self.biased {
            let shape: Vec<usize> = self.parameter.iter().map(|&size| size as usize).collect();
            result.push(needs(result.len()).then(|| self.gathered(g, &shape)).transpose()?);
        }
        Ok(result)
    }

    /// A gradient in order, or if it is that of images as these lie.
    fn laid_out(&self, index: usize, gradient: Option<Tensor>, x: &Tensor) -> Result<Option<Tensor>> {
        let images = index == 0 && self.kind != Kind::Layer;
        let laid_out = |one: Tensor| match images {
            true => memory_order::gradient_as_images(one, &x.layout(), memory_order::spatial(&x.layout())),
            false => {
                let layout = one.layout().fresh();
                memory_order::gradient_as_images(one, &layout, 2)
            }
        };
        gradient.map(laid_out).transpose()
    }
}

impl Op for Normalise {
    type Saved = [Option<SavedTensor>; 5];
    const SAVED: &'static [&'static str] = &["input", "weight", "", "running_mean", "running_var"];

    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Batch => "NativeBatchNormBackward0",
            Kind::Group => "NativeGroupNormBackward0",
            Kind::Layer => "NativeLayerNormBackward0",
        }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Batch => Self::SAVED,
            Kind::Group => &["input", "weight", "", "", ""],
            Kind::Layer => &["input", "weight", "bias", "", ""],
        }
    }

    fn inputs(&self) -> Option<Inputs> {
        let bias = 1 + usize::from(self.weighted);
        Some(smallvec![Some(0), self.weighted.then_some(1), self.biased.then_some(bias)])
    }

    fn shown(&self, saved: &Self::Saved) -> Attributes {
        let x = saved[0].as_ref().map(|x| x.layout());
        let mut shown = match (self.kind, x.as_ref().map(|x| x.shape())) {
            (Kind::Batch, _) => shown! { eps: self.eps, training: self.given.is_none() },
            (Kind::Group, Some([samples, channels, rest @ ..])) => shown! {
                N: *samples,
                C: *channels,
                HxW: rest.iter().product::<usize>(),
                group: self.groups.get(1).copied().unwrap_or(1),
                eps: self.eps,
            },
            (Kind::Layer, _) => shown! { normalized_shape: &*self.parameter },
            (Kind::Group, _) => Attributes::new(),
        };
        shown.extend([("result1", Shown::Computed), ("result2", Shown::Computed)]);
        shown
    }

    /// The mean, or one over the deviation, as torch's function of that name gives it.
    fn compute(&self, name: &str, saved: &Self::Saved, at: &At<'_>) -> Result<Tensor> {
        let Some(x) = &saved[0] else { unreachable!("the input is kept") };
        let x = at.load(x)?;
        if self.given.is_some() {
            return create::empty(&[0], x.dtype());
        }
        let found = match name {
            "result1" => self.mean(&reshape::reshape(&x, &self.groups)?)?,
            _ => self.standard(&x)?.1,
        };
        match self.kind {
            Kind::Batch => reshape::reshape(&found, &[-1]),
            Kind::Group => Ok(at.output(&reshape::reshape(&found, &self.groups[..2])?, 0)),
            Kind::Layer => Ok(found),
        }
    }

    fn rounding(&self, inputs: &[Array]) -> Option<DType> {
        inputs.first().map(|x| x.dtype)
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let weight = self.weighted.then_some(1);
        let bias = self.biased.then_some(1 + usize::from(self.weighted));
        let y = match self.numbers([Some(0), weight, bias].map(|index| index.map(|index| &inputs[index])))? {
            Some(y) => smallvec![y],
            None => on_tensors(inputs, |inputs| {
                let [weight, bias] = [weight, bias].map(|index| index.map(|index| inputs[index]));
                Ok(smallvec![Tensor::from_array(self.composed(inputs[0], weight, bias)?)])
            })?,
        };
        let images = self.kind != Kind::Layer;
        let x = &inputs[0].layout;
        let laid = |y| match images {
            true if x.numel() == 0 => memory_order::like(y, x), // That is a copy.
            true => memory_order::as_images(y, x, memory_order::spatial(x)),
            false => Ok(y),
        };
        y.into_iter().map(laid).collect()
    }

    fn is_together(&self) -> bool {
        self.kind != Kind::Group
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        let bias = self.biased && self.kind == Kind::Layer;
        let running = |held: &Option<Tensor>| held.as_ref().map(SavedTensor::constant);
        let [mean, variance] = &self.running;
        [
            Some(keep.input(0)),
            keep.input_if(self.weighted, 1),
            keep.input_if(bias, 1 + usize::from(self.weighted)),
            running(mean),
            running(variance),
        ]
    }

    fn vjp(
        &self,
        [x, weight, _, running @ ..]: &Self::Saved,
        at: &At<'_>,
        gradients: &Gradients,
    ) -> Result<Gradients> {
        // Gradients may not need their numbers, but refuse ones that the program has written.
        at.check(running.iter().flatten())?;
        // As exact as the forward.
        let wide = |saved: &SavedTensor| cast::widened(&at.load(saved)?);
        let load = |saved: &Option<SavedTensor>| saved.as_ref().map(wide).transpose();
        let (Some(x), weight, g) = (load(x)?, load(weight)?, &cast::widened(single(gradients))?) else {
            unreachable!("the input is kept")
        };
        let needs = |index| at.needs(index);
        let given: SmallVec<[&Tensor; 3]> = [&x, g].into_iter().chain(&weight).collect();
        let found = match recording::is_undivided(&given) {
            true => self.gradients_as_one(&given, &needs)?,
            false => self.gradients(&x, weight.as_ref(), g, &needs)?,
        };
        found.into_iter().enumerate().map(|(index, one)| self.laid_out(index, one, &x)).collect()
    }

    fn jvp(
        &self,
        [x, weight, ..]: &Self::Saved,
        at: &At<'_>,
        tangents: &[Option<Tensor>],
    ) -> Result<Gradients> {
        let wide = |saved: &SavedTensor| cast::widened(&at.load(saved)?);
        let load = |saved: &Option<SavedTensor>| saved.as_ref().map(wide).transpose();
        let (Some(x), weight) = (load(x)?, load(weight)?) else { unreachable!("the input is kept") };
        let (standard, scale) = self.standard(&x)?;
        let shape = shape::signed(x.layout().shape());
        let mut total = create::zeros(&shape, x.dtype())?;
        if let Some(t) = &tangents[0] {
            let moved = self.pass(t, &standard, &scale)?;
            let moved =
                weight.as_ref().map_or(Ok(moved.clone()), |weight| mul(&moved, &self.seen(weight)?))?;
            total = add(&total, &moved)?;
        }
        let mut next = 1;
        if self.weighted {
            if let Some(t) = &tangents[next] {
                total = add(&total, &mul(&reshape::reshape(&standard, &shape)?, &self.seen(t)?)?)?;
            }
            next += 1;
        }
        if let Some(t) = tangents.get(next).and_then(Option::as_ref) {
            total = add(&total, &self.seen(t)?)?;
        }
        Ok(smallvec![Some(total)])
    }

    fn held(&self) -> SmallVec<[Tensor; 1]> {
        self.given.iter().flat_map(|(mean, variance)| [mean.clone(), variance.clone()]).collect()
    }

    fn with_held(&self, held: &[Tensor]) -> Result<Self> {
        let given = match held {
            [mean, variance] => Some((mean.clone(), variance.clone())),
            _ => None,
        };
        Ok(Normalise { given, ..self.clone() })
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        let (x, parameters) = call.inputs.split_at(1);
        let mut many = Normalise { running: [None, None], ..self.clone() };
        many.groups.insert(0, call.size as i64);
        many.dims = self.dims.iter().map(|&dim| if dim < 0 { dim } else { dim + 1 }).collect();
        let mut inputs: SmallVec<[Tensor; 3]> = smallvec![x[0].front(call.size)?];
        // Parameters that all samples share are broadcast as they are.
        if parameters.iter().any(|parameter| parameter.dim.is_some()) {
            many.parameter.insert(0, call.size as i64);
            let missing = x[0].rank() - self.affine.len();
            many.affine
                .splice(0..0, std::iter::once(call.size as i64).chain(std::iter::repeat_n(1, missing)));
            inputs.extend(parameters.iter().map(|one| one.front(call.size)).collect::<Result<Vec<_>>>()?);
        } else {
            inputs.extend(parameters.iter().map(|one| one.value.clone()));
        }
        let rank = self.groups.len();
        let held: SmallVec<[Tensor; 2]> =
            call.held.iter().map(|one| one.aligned(rank)).collect::<Result<_>>()?;
        let outputs = apply(many.with_held(&held)?, &inputs.iter().collect::<SmallVec<[&Tensor; 3]>>())?;
        Ok(outputs.into_iter().map(Samples::first).collect())
    }
}

/// A weight and a bias, each of which may be left out.
#[derive(Clone, Copy, Default)]
pub struct Affine<'a> {
    /// What results are multiplied by.
    pub weight: Option<&'a Tensor>,
    /// What is added to them.
    pub bias: Option<&'a Tensor>,
}

fn run(mut op: Normalise, x: &Tensor, affine: Affine<'_>, operation: &'static str) -> Result<Tensor> {
    if !x.dtype().is_float() {
        return Err(Error::NotImplementedFor { operation, dtype: x.dtype() }.into());
    }
    let [mean, variance] = &op.running;
    check_types(x.dtype(), [affine.weight, affine.bias, mean.as_ref(), variance.as_ref()])?;
    op.weighted = affine.weight.is_some();
    op.biased = affine.bias.is_some();
    let mut inputs: SmallVec<[&Tensor; 3]> = smallvec![x];
    inputs.extend(affine.weight);
    inputs.extend(affine.bias);
    apply(op, &inputs)?.pop().map_or_else(|| unreachable!("the operation has one output"), Ok)
}

/// Whether the parameters are of the type of the input; beside half types they may be of single precision.
fn check_types(dtype: DType, parameters: [Option<&Tensor>; 4]) -> Result<()> {
    let mut types = parameters.into_iter().flatten().map(Tensor::dtype);
    let Some(first) = types.next() else { return Ok(()) };
    if first == dtype {
        return match types.find(|&other| other != dtype) {
            Some(got) => Err(Error::ScalarTypeExpected { expected: dtype, got }.into()),
            None => Ok(()),
        };
    }
    if first != DType::Float32 || types.any(|other| other != DType::Float32) {
        return Err(Error::NormaliseDType {}.into());
    }
    if dtype.is_half() { Ok(()) } else { Err(Error::NormaliseMixed {}.into()) }
}

plain! {
    enum Kind { Batch, Group, Layer }
}

plain! {
    struct Normalise { kind, groups, dims, affine, parameter, weighted, biased, eps, given, running }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Normalise>("normalise")];

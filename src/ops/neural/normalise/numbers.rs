//! Normalisation of numbers that nothing is recorded of: by kernels that do it all at once, where they take what is
//! asked for.

use smallvec::SmallVec;

use super::{Kind, Normalise};
use crate::dispatch::apply::{Op, Outputs};
use crate::dispatch::direct::misfit;
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Portable, Row, plain};
use crate::dispatch::modes::recording;
use crate::dispatch::operand::Value;
use crate::dtype::DType;
use crate::error::Result;
use crate::graph::Gradients;
use crate::kernels::neural::normalise as kernels;
use crate::kernels::neural::normalise::{Columns, Places, Rows, Runs};
use crate::ops::creation::copy;
use crate::tensor::{Array, Tensor};

/// Runs that are shorter are not worth a loop each, but of few elements.
const SHORTEST: usize = 32;
/// So few that what is counted is the number of operations.
const FEW: usize = 4096;

/// Whether a kernel that goes through runs of this length of such elements is the quicker way.
fn is_worthy(len: usize, x: &[usize]) -> bool {
    len >= SHORTEST || x.iter().product::<usize>() <= FEW
}

/// How elements that lie in order share means and weights.
#[derive(Clone, Copy)]
enum Geometry {
    /// Rows of so many have a mean, and each of their elements a weight.
    Rows { len: usize },
    /// See `kernels::normalise::Runs`.
    Runs { len: usize, channels: usize, together: Option<usize> },
    /// Rows whose columns have a mean and a weight each.
    Columns { count: usize },
}

impl Geometry {
    /// That of channels, which are the second dimension.
    fn of_channels(x: &[usize]) -> Option<Geometry> {
        let (channels, len) = (*x.get(1)?, x[2..].iter().product());
        if x.contains(&0) {
            return None;
        }
        match len {
            1 => Some(Geometry::Columns { count: channels }),
            len => is_worthy(len, x).then_some(Geometry::Runs { len, channels, together: None }),
        }
    }
}

/// The arrays in order, if all are of one type; an array that is not there stays so.
fn in_order<const N: usize>(arrays: [Option<&Array>; N]) -> Result<Option<[Option<Array>; N]>> {
    let mut types = arrays.iter().flatten().map(|array| array.dtype);
    let first = types.next();
    if types.any(|dtype| Some(dtype) != first) {
        return Ok(None);
    }
    let mut ordered = [const { None }; N];
    for (ordered, array) in ordered.iter_mut().zip(arrays) {
        *ordered = array.map(copy::in_order).transpose()?.map(std::borrow::Cow::into_owned);
    }
    Ok(Some(ordered))
}

/// Elements in order, as a slice.
macro_rules! slice {
    ($array:expr, $T:ty) => {
        $array.as_ref().and_then(|array: &Array| array.slice::<$T>())
    };
}

impl Normalise {
    /// How elements of this shape share means and weights; `None` if no kernel knows that.
    fn geometry(&self, x: &[usize]) -> Option<Geometry> {
        if x.contains(&0) {
            return None;
        }
        let size = |sizes: &[i64]| sizes.iter().map(|&size| size as usize).product::<usize>();
        let weights = size(&self.affine);
        // Samples may have weights of their own.
        let of_all = self.affine.len() < x.len();
        match (self.kind, &self.groups[..]) {
            (Kind::Layer, groups) => {
                let len = size(&groups[groups.len() - self.dims.len()..]);
                (weights == len).then_some(Geometry::Rows { len })
            }
            (Kind::Group, &[.., groups, size]) if of_all => {
                let together = weights / groups as usize;
                let len = size as usize / together;
                is_worthy(len, x).then_some(Geometry::Runs {
                    len,
                    channels: weights,
                    together: Some(together),
                })
            }
            (Kind::Batch, _) if self.affine.len() + 1 == x.len() => Geometry::of_channels(x),
            _ => None,
        }
    }

    /// The mean and variance that were given.
    fn given(&self) -> [Option<Array>; 2] {
        let [mean, variance] = match &self.given {
            Some((mean, variance)) => [Some(mean), Some(variance)],
            None => [None, None],
        };
        [mean.map(Tensor::array), variance.map(Tensor::array)]
    }

    /// The elements normalised, in order.
    pub(super) fn numbers(&self, [x, weight, bias]: [Option<&Array>; 3]) -> Result<Option<Array>> {
        let Some(geometry) = x.and_then(|x| self.geometry(x.layout.shape())) else { return Ok(None) };
        let [mean, variance] = self.given();
        let Some([x, weight, bias, mean, variance]) =
            in_order([x, weight, bias, mean.as_ref(), variance.as_ref()])?
        else {
            return Ok(None);
        };
        let Some(array) = &x else { return Ok(None) };
        let mut y = Array::uninit(&array.layout, array.dtype)?;
        dispatch!(float array.dtype, T => {
            let (Some(x), weight, bias) = (slice!(x, T), slice!(weight, T), slice!(bias, T)) else {
                return Ok(None);
            };
            let given = slice!(mean, T).zip(slice!(variance, T)).map(<[&[T]; 2]>::from);
            match geometry {
                Geometry::Rows { len } => {
                    kernels::rows(Rows { x, len, eps: self.eps, weight }, bias, y.fresh());
                }
                Geometry::Runs { len, channels, together } => {
                    let runs = Runs { x, len, channels, together, eps: self.eps, weight, given };
                    kernels::runs(runs, bias, y.fresh());
                }
                Geometry::Columns { count } => {
                    kernels::columns(Columns { x, count, eps: self.eps, weight, given }, bias, y.fresh());
                }
            }
        }, else { return Ok(None) });
        Ok(Some(y))
    }

    /// The gradients that are needed of x, ȳ and perhaps the weight, none of which is recorded in a graph.
    pub(super) fn gradients_as_one(
        &self,
        given: &[&Tensor],
        needs: &dyn Fn(usize) -> bool,
    ) -> Result<Gradients> {
        let parameters = usize::from(self.weighted) + usize::from(self.biased);
        let wanted: SmallVec<[bool; 3]> = (0..=parameters).map(needs).collect();
        let count = wanted.iter().filter(|&&wanted| wanted).count();
        let own = OfInputs { of: self.clone(), wanted: wanted.clone() };
        let found = recording::as_one_of(self.name(), given, count, own)?;
        let mut found = found.into_iter();
        Ok(wanted.into_iter().map(|wanted| if wanted { found.next() } else { None }).collect())
    }

    /// The same by kernels, if there are such.
    fn gradients_at_once(
        &self,
        [x, weight, g]: [Option<&Tensor>; 3],
        needs: &dyn Fn(usize) -> bool,
    ) -> Result<Option<Gradients>> {
        let [x, weight, g] = [x, weight, g].map(|tensor| tensor.map(Tensor::array));
        let geometry = x.as_ref().and_then(|x| self.geometry(x.layout.shape()));
        let Some(geometry) = geometry else { return Ok(None) };
        let [mean, variance] = self.given();
        let all = [x.as_ref(), weight.as_ref(), g.as_ref(), mean.as_ref(), variance.as_ref()];
        let Some([x, weight, g, mean, variance]) = in_order(all)? else { return Ok(None) };
        let Some(array) = &x else { return Ok(None) };
        let parameter: Vec<usize> = self.parameter.iter().map(|&size| size as usize).collect();
        let behind = 1 + usize::from(self.weighted);
        let fresh = |wanted: bool, shape: &[usize]| {
            wanted.then(|| Array::uninit_shape(shape, array.dtype)).transpose()
        };
        let mut found = [
            fresh(needs(0), array.layout.shape())?,
            fresh(self.weighted && needs(1), &parameter)?,
            fresh(self.biased && needs(behind), &parameter)?,
        ];
        dispatch!(float array.dtype, T => {
            let (Some(x), weight, Some(g)) = (slice!(x, T), slice!(weight, T), slice!(g, T)) else {
                return Ok(None);
            };
            let places: Places<'_, T> = found.each_mut().map(|array| array.as_mut().map(Array::fresh));
            let given = slice!(mean, T).zip(slice!(variance, T)).map(<[&[T]; 2]>::from);
            match geometry {
                Geometry::Rows { len } => {
                    kernels::rows_backward(Rows { x, len, eps: self.eps, weight }, g, places);
                }
                Geometry::Runs { len, channels, together } => {
                    let runs = Runs { x, len, channels, together, eps: self.eps, weight, given };
                    kernels::runs_backward(runs, g, places);
                }
                Geometry::Columns { count } => {
                    let columns = Columns { x, count, eps: self.eps, weight, given };
                    kernels::columns_backward(columns, g, places);
                }
            }
        }, else { return Ok(None) });
        let [input, to_weight, to_bias] = found.map(|array| array.map(Tensor::from_array));
        let weight = self.weighted.then_some(to_weight);
        let bias = self.biased.then_some(to_bias);
        Ok(Some([Some(input), weight, bias].into_iter().flatten().collect()))
    }
}

/// The mean and the variance of each channel, the second dimension, in one type; the latter with one less than their
/// number as its divisor.
pub(super) fn of_channels(x: &Tensor) -> Result<Option<[Tensor; 2]>> {
    if Geometry::of_channels(x.layout().shape()).is_none() {
        return Ok(None);
    }
    if !recording::is_undivided(&[x]) || !matches!(x.dtype(), DType::Float32 | DType::Float64) {
        return Ok(None);
    }
    let found = recording::as_one_of("NativeBatchNormBackward0", &[x], 2, OfChannels)?;
    Ok(<[Tensor; 2]>::try_from(found.into_vec()).ok())
}

/// `of_channels` as a recorded operation.
#[derive(Clone)]
struct OfChannels;

impl Portable for OfChannels {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let x = intercept::only(operands)?.array();
        let geometry = Geometry::of_channels(x.layout.shape()).ok_or_else(misfit)?;
        Ok(moments(geometry, &x)?.into_iter().collect())
    }
}

/// The gradients that are wanted, of input, gradient and perhaps weight, as a recorded operation.
#[derive(Clone)]
struct OfInputs {
    of: Normalise,
    wanted: SmallVec<[bool; 3]>,
}

impl Portable for OfInputs {
    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let given = intercept::tensors(operands);
        let [x, g, rest @ ..] = &given[..] else { return Err(misfit()) };
        let (weight, needs) = (rest.first().copied(), |index: usize| self.wanted[index]);
        let found = match self.of.gradients_at_once([Some(x), weight, Some(g)], &needs)? {
            Some(found) => found,
            None => self.of.gradients(x, weight, g, &needs)?,
        };
        Ok(found.into_iter().flatten().collect())
    }
}

/// `of_channels` of numbers.
fn moments(geometry: Geometry, x: &Array) -> Result<[Tensor; 2]> {
    let channels = match geometry {
        Geometry::Runs { channels, .. } | Geometry::Columns { count: channels } => channels,
        Geometry::Rows { .. } => unreachable!("channels have runs or columns"),
    };
    let ordered = copy::in_order(x)?;
    let mut found = [Array::uninit_shape(&[channels], x.dtype)?, Array::uninit_shape(&[channels], x.dtype)?];
    dispatch!(float x.dtype, T => {
        let Some(x) = ordered.slice::<T>() else { unreachable!("it lies in order") };
        let (places, weight, given, eps) = (found.each_mut().map(Array::fresh), None, None, 0.0);
        match geometry {
            Geometry::Runs { len, together, .. } => {
                kernels::runs_moments(Runs { x, len, channels, together, eps, weight, given }, places);
            }
            _ => kernels::columns_moments(Columns { x, count: channels, eps, weight, given }, places),
        }
    }, else { unreachable!("the type was asked for") });
    Ok(found.map(Tensor::from_array))
}

plain! {
    struct OfChannels {}
    struct OfInputs { of, wanted }
}

/// How these are written as plain data.
pub(crate) const ROWS: &[Row] =
    &[Row::of::<OfChannels>("moments of channels"), Row::of::<OfInputs>("normalise gradients")];

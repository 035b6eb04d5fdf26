//! Images in other sizes: the nearest element, lines or cubic curves between neighbours, or smooth means
//! of all that a place covers.

use crate::schema::{Arguments, Entry, IntoReply, Operator, Reply, inner};
use std::f64::consts::PI;

use smallvec::{SmallVec, smallvec};

use super::resample::{self, Axis, Called, Resample};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::Shown;
use crate::graph::shown::shown;
use crate::kernels::neural::taps::Taps;
use crate::tensor::Tensor;

/// How elements of another size are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Between {
    /// The element at the start of the place.
    Nearest,
    /// The element in the middle of the place.
    NearestExact,
    /// A weighted mean of the two neighbours; with the corners on top of each other, or the edges.
    Linear {
        /// Whether corners fall on corners.
        align_corners: bool,
    },
    /// The cubic through the four neighbours.
    Cubic {
        /// Whether corners fall on corners.
        align_corners: bool,
    },
    /// A weighted mean of all that the place covers in the smaller image.
    Smooth {
        /// Whose weights they are.
        filter: Filter,
        /// Whether corners fall on corners.
        align_corners: bool,
    },
}

impl Between {
    /// Whether corners fall on corners, where that can be chosen.
    fn align_corners(self) -> Option<bool> {
        match self {
            Between::Nearest | Between::NearestExact => None,
            Between::Linear { align_corners }
            | Between::Cubic { align_corners }
            | Between::Smooth { align_corners, .. } => Some(align_corners),
        }
    }

    /// What torch calls the operation when it refuses a type.
    fn operation(self, dimensions: usize) -> &'static str {
        match self {
            Between::Linear { .. } if dimensions != 2 => "compute_indices_weights_linear",
            Between::Linear { .. } => "upsample_bilinear2d_channels_last",
            Between::Cubic { .. } => "compute_indices_weights_cubic",
            Between::Smooth { .. } => "compute_index_ranges_weights",
            Between::Nearest | Between::NearestExact => "upsample_nearest2d_channels_last",
        }
    }

    /// What torch calls it over so many dimensions.
    fn called(self, dimensions: usize) -> Called {
        let [forth, back] = self.nodes(dimensions);
        [self.operation(dimensions), forth, back]
    }

    /// torch's names of the nodes of the operation over so many dimensions, and of its gradient.
    fn nodes(self, dimensions: usize) -> [&'static str; 2] {
        match (self, dimensions) {
            (Between::Nearest, 1) => ["UpsampleNearest1DBackward0", "UpsampleNearest1DBackwardBackward0"],
            (Between::Nearest, 2) => ["UpsampleNearest2DBackward0", "UpsampleNearest2DBackwardBackward0"],
            (Between::Nearest, _) => ["UpsampleNearest3DBackward0", "UpsampleNearest3DBackwardBackward0"],
            (Between::NearestExact, 1) => {
                ["UpsampleNearestExact1DBackward0", "UpsampleNearestExact1DBackwardBackward0"]
            }
            (Between::NearestExact, 2) => {
                ["UpsampleNearestExact2DBackward0", "UpsampleNearestExact2DBackwardBackward0"]
            }
            (Between::NearestExact, _) => {
                ["UpsampleNearestExact3DBackward0", "UpsampleNearestExact3DBackwardBackward0"]
            }
            (Between::Linear { .. }, 1) => ["UpsampleLinear1DBackward0", "UpsampleLinear1DBackwardBackward0"],
            (Between::Linear { .. }, 2) => {
                ["UpsampleBilinear2DBackward0", "UpsampleBilinear2DBackwardBackward0"]
            }
            (Between::Linear { .. }, _) => {
                ["UpsampleTrilinear3DBackward0", "UpsampleTrilinear3DBackwardBackward0"]
            }
            (Between::Cubic { .. }, _) => {
                ["UpsampleBicubic2DBackward0", "UpsampleBicubic2DBackwardBackward0"]
            }
            (Between::Smooth { filter: Filter::Line, .. }, _) => {
                ["UpsampleBilinear2DAaBackward0", "UpsampleBilinear2DAaBackwardBackward0"]
            }
            (Between::Smooth { filter: Filter::Cubic, .. }, _) => {
                ["UpsampleBicubic2DAaBackward0", "UpsampleBicubic2DAaBackwardBackward0"]
            }
            (Between::Smooth { filter: Filter::Lanczos, .. }, _) => {
                ["UpsampleLanczos2DAaBackward0", "UpsampleLanczos2DAaBackwardBackward0"]
            }
        }
    }
}

/// All that images of another size are called.
pub(super) fn all_called() -> impl Iterator<Item = Called> {
    let align_corners = false;
    let smooth = |filter| Between::Smooth { filter, align_corners };
    let all = [
        Between::Nearest,
        Between::NearestExact,
        Between::Linear { align_corners },
        Between::Cubic { align_corners },
        smooth(Filter::Line),
        smooth(Filter::Cubic),
        smooth(Filter::Lanczos),
    ];
    all.into_iter().flat_map(|between| (1..=3).map(move |count| between.called(count)))
}

/// The weights of a smooth mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// They fall as lines do.
    Line,
    /// They fall as a cubic.
    Cubic,
    /// They are those of a sine divided by its argument, under a window like it.
    Lanczos,
}

impl Filter {
    /// How far it reaches.
    fn reach(self) -> f64 {
        match self {
            Filter::Line => 1.0,
            Filter::Cubic => 2.0,
            Filter::Lanczos => 3.0,
        }
    }

    fn weight(self, x: f64) -> f64 {
        let sinc = |x: f64| if x == 0.0 { 1.0 } else { (x * PI).sin() / (x * PI) };
        match self {
            Filter::Line => (1.0 - x.abs()).max(0.0),
            Filter::Cubic => cubic(x, -0.5),
            Filter::Lanczos if x.abs() < 3.0 => sinc(x) * sinc(x / 3.0),
            Filter::Lanczos => 0.0,
        }
    }
}

/// What a neighbour counts whose distance is `x`, by a cubic that falls by `slope` at distance one.
fn cubic(x: f64, slope: f64) -> f64 {
    match x.abs() {
        x if x <= 1.0 => ((slope + 2.0) * x - (slope + 3.0)) * x * x + 1.0,
        x if x < 2.0 => ((slope * x - 5.0 * slope) * x + 8.0 * slope) * x - 4.0 * slope,
        _ => 0.0,
    }
}

/// The inputs of an output whose place covers `scale` elements, or the neighbours of it if that is less.
fn smooth(place: usize, size: usize, scale: f64, filter: Filter) -> impl Iterator<Item = (usize, f64)> {
    let stretch = scale.max(1.0);
    let (centre, support) = (scale * (place as f64 + 0.5), filter.reach() * stretch);
    let first = (centre - support + 0.5).max(0.0) as usize;
    let end = ((centre + support + 0.5).max(0.0) as usize).min(size);
    let weight = move |at: usize| filter.weight((at as f64 - centre + 0.5) / stretch);
    let total: f64 = (first..end).map(weight).sum();
    (first..end).map(move |at| (at, weight(at) / total))
}

/// Inputs and their weights.
type Nearby = SmallVec<[(usize, f64); 4]>;

/// The inputs of the output at `place`, where they are few however large the image is. `scale` is the input's
/// size over the output's.
fn nearby(between: Between, place: usize, size: usize, count: usize, scale: f64) -> Nearby {
    let last = size.saturating_sub(1);
    let one = |at: f64| smallvec![((at.max(0.0) as usize).min(last), 1.0)];
    let at = place as f64;
    let source = |align_corners: bool| match align_corners {
        true if count > 1 => at * (last as f64 / (count - 1) as f64),
        true => 0.0,
        false => (at + 0.5) * scale - 0.5,
    };
    match between {
        Between::Nearest => one((at * scale).floor()),
        Between::NearestExact => one(((at + 0.5) * scale).floor()),
        Between::Linear { align_corners } => {
            let source = source(align_corners).max(0.0);
            let low = (source.floor() as usize).min(last);
            let share = source - low as f64;
            let high = (low + 1).min(last);
            smallvec![(low, 1.0 - share), (high, share)]
        }
        Between::Cubic { align_corners } => {
            let source = source(align_corners);
            let low = source.floor();
            let tap = |step: i64| {
                let at = low as i64 + step;
                (at.clamp(0, last as i64) as usize, cubic(source - low - step as f64, -0.75))
            };
            (-1..=2).map(tap).collect()
        }
        Between::Smooth { .. } => unreachable!("these are as many as the image is larger"),
    }
}

/// The inputs of all outputs of a dimension.
fn taps(between: Between, size: usize, count: usize, scale: f64) -> Result<Taps> {
    let Between::Smooth { filter, align_corners } = between else {
        return Taps::new(count, |place| nearby(between, place, size, count, scale).into_iter());
    };
    let scale = match align_corners {
        true if count > 1 => size.saturating_sub(1) as f64 / (count - 1) as f64,
        true => 0.0,
        false => scale,
    };
    Taps::new(count, |place| smooth(place, size, scale, filter))
}

/// The last dimensions in other sizes. A scale that is given stands for the quotient of the sizes.
pub fn upsample(x: &Tensor, sizes: &[i64], scales: &[Option<f64>], between: Between) -> Result<Tensor> {
    let layout = x.layout();
    let lead = layout.ndim().saturating_sub(sizes.len());
    let inputs = &layout.shape()[lead..];
    if inputs.contains(&0) || sizes.iter().any(|&size| size <= 0) {
        let input = inputs.iter().map(|&size| size as i64).collect();
        if let (&[input], &[output]) = (inputs, sizes) {
            return Err(Error::UpsampleLine { input, output }.into());
        }
        return Err(Error::UpsampleSizes { input, output: sizes.to_vec() }.into());
    }
    if lead > 1 && layout.shape()[1] == 0 {
        return Err(Error::UpsampleNothing { shape: layout.shape().to_vec(), ndim: layout.ndim() }.into());
    }
    let axes = sizes.iter().zip(inputs).enumerate().map(|(dim, (&count, &size))| {
        let given = scales.get(dim).copied().flatten().filter(|&scale| scale > 0.0);
        let scale = given.map_or(size as f64 / count as f64, f64::recip);
        let taps = taps(between, size, count as usize, scale)?;
        Ok(Axis { behind: layout.ndim() - 1 - lead - dim, size, taps })
    });
    let mut given = shown! { output_size: sizes, self_sym_sizes: &*layout };
    let scale_names: &[&'static str] = match sizes.len() {
        1 => &["scales"],
        2 => &["scales_h", "scales_w"],
        _ => &["scales_d", "scales_h", "scales_w"],
    };
    let scale = |dim: usize| Shown::from(scales.get(dim).copied().flatten());
    given.extend(scale_names.iter().enumerate().map(|(dim, name)| (*name, scale(dim))));
    given.extend(between.align_corners().map(|aligned| ("align_corners", aligned.into())));
    let called = between.called(sizes.len());
    let takes_bytes = !matches!((between, sizes.len()), (Between::Linear { .. }, 1 | 3));
    let is_taken = x.dtype().is_float() || takes_bytes && x.dtype() == DType::UInt8;
    if !is_taken {
        return Err(Error::NotImplementedFor { operation: called[0], dtype: x.dtype() }.into());
    }
    resample::check_room(x, sizes)?;
    let axes = axes.collect::<Result<_>>()?;
    Resample { called, axes, transposed: false, takes_complex: false, keeps: false }.of_given(x, given)
}

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    (
        "UpsampleBilinear2DBackward0",
        "upsample_bilinear2d(Tensor self, int[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
    ),
    (
        "UpsampleLinear1DBackward0",
        "upsample_linear1d(Tensor self, int[1] output_size, bool align_corners, float? scales=None) -> Tensor",
    ),
    (
        "UpsampleNearest1DBackward0",
        "upsample_nearest1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor",
    ),
    (
        "UpsampleNearest2DBackward0",
        "upsample_nearest2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor",
    ),
    (
        "UpsampleNearest3DBackward0",
        "upsample_nearest3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
    ),
    (
        "UpsampleNearestExact1DBackward0",
        "_upsample_nearest_exact1d(Tensor self, int[1] output_size, float? scales=None) -> Tensor",
    ),
    (
        "UpsampleNearestExact2DBackward0",
        "_upsample_nearest_exact2d(Tensor self, int[2] output_size, float? scales_h=None, float? scales_w=None) -> Tensor",
    ),
    (
        "UpsampleNearestExact3DBackward0",
        "_upsample_nearest_exact3d(Tensor self, int[3] output_size, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
    ),
    (
        "UpsampleTrilinear3DBackward0",
        "upsample_trilinear3d(Tensor self, int[3] output_size, bool align_corners, float? scales_d=None, float? scales_h=None, float? scales_w=None) -> Tensor",
    ),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[inner(
    "upsample",
    &["(Tensor input, int[] output_size, str mode, bool align_corners=False, object scale_factors=None)"],
    "Resizes the last dimensions by interpolation.",
    called,
)];

/// What is called for every mode of `interpolate`.
fn called(a: &dyn Arguments) -> Result<Reply> {
    let align_corners = a.boolean(3);
    let between = match a.text(2)?.as_str() {
        "nearest" => Between::Nearest,
        "nearest-exact" => Between::NearestExact,
        "bicubic" => Between::Cubic { align_corners },
        "smooth bilinear" => Between::Smooth { filter: Filter::Line, align_corners },
        "smooth bicubic" => Between::Smooth { filter: Filter::Cubic, align_corners },
        "smooth lanczos" => Between::Smooth { filter: Filter::Lanczos, align_corners },
        _ => Between::Linear { align_corners },
    };
    let scales = a.open_floats(4)?.unwrap_or_default();
    upsample(a.tensor(0)?, &a.ints(1)?, &scales, between).reply()
}

//! Images in other sizes: the nearest element, or straight lines between neighbours.

use super::resample::{Axis, Resample};
use crate::error::{Error, Result};
use crate::graph::Shown;
use crate::graph::shown::shown;
use crate::kernels::taps::Taps;
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
}

/// The inputs of the output at `place`. `scale` is the input's size over the output's.
fn taps(between: Between, place: usize, size: usize, count: usize, scale: f64) -> Taps {
    let last = size.saturating_sub(1);
    let one = |at: f64| Taps { inputs: vec![((at.max(0.0) as usize).min(last), 1.0)] };
    let at = place as f64;
    match between {
        Between::Nearest => one((at * scale).floor()),
        Between::NearestExact => one(((at + 0.5) * scale).floor()),
        Between::Linear { align_corners } => {
            let source = match align_corners {
                true if count > 1 => at * (last as f64 / (count - 1) as f64),
                true => 0.0,
                false => ((at + 0.5) * scale - 0.5).max(0.0),
            };
            let low = (source.floor() as usize).min(last);
            let share = source - low as f64;
            let high = (low + 1).min(last);
            Taps { inputs: vec![(low, 1.0 - share), (high, share)] }
        }
    }
}

/// The last dimensions in other sizes. A scale that is given stands for the quotient of the sizes.
pub fn upsample(x: &Tensor, sizes: &[i64], scales: &[Option<f64>], between: Between) -> Result<Tensor> {
    let layout = x.layout();
    let lead = layout.ndim().saturating_sub(sizes.len());
    let inputs = &layout.shape()[lead..];
    if inputs.contains(&0) || sizes.iter().any(|&size| size <= 0) {
        let input = inputs.iter().map(|&size| size as i64).collect();
        return Err(Error::UpsampleSizes { input, output: sizes.to_vec() }.into());
    }
    let axes = sizes.iter().zip(inputs).enumerate().map(|(dim, (&count, &size))| {
        let given = scales.get(dim).copied().flatten().filter(|&scale| scale > 0.0);
        let scale = given.map_or(size as f64 / count as f64, f64::recip);
        let tap = |place| taps(between, place, size, count as usize, scale);
        Axis { behind: layout.ndim() - 1 - lead - dim, size, taps: (0..count as usize).map(tap).collect() }
    });
    let names = match (between, sizes.len()) {
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
        (Between::Linear { .. }, 2) => ["UpsampleBilinear2DBackward0", "UpsampleBilinear2DBackwardBackward0"],
        (Between::Linear { .. }, _) => {
            ["UpsampleTrilinear3DBackward0", "UpsampleTrilinear3DBackwardBackward0"]
        }
    };
    let mut given = shown! { output_size: sizes, self_sym_sizes: &*layout };
    let scale_names: &[&'static str] = match sizes.len() {
        1 => &["scales"],
        2 => &["scales_h", "scales_w"],
        _ => &["scales_d", "scales_h", "scales_w"],
    };
    let scale = |dim: usize| Shown::from(scales.get(dim).copied().flatten());
    given.extend(scale_names.iter().enumerate().map(|(dim, name)| (*name, scale(dim))));
    if let Between::Linear { align_corners } = between {
        given.push(("align_corners", align_corners.into()));
    }
    Resample {
        names,
        axes: axes.collect(),
        transposed: false,
        operation: "upsample_nearest2d_channels_last",
        keeps: false,
    }
    .of_given(x, given)
}

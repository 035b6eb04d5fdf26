//! Channels and parts of images in each other's places.

use crate::dispatch::composites::composite;
use crate::dispatch::composites::composite::Composite;
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::{batch, memory_order};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::ops::geometry::{permute, reshape};
use crate::schema::{Entry, IntoReply, shared};
use crate::shape;
use crate::tensor::Tensor;

/// The leading sizes, and the last three.
fn sizes(x: &Tensor, operation: &'static str) -> Result<(Vec<i64>, [i64; 3])> {
    let all = shape::signed(x.layout().shape());
    match all.as_slice() {
        [lead @ .., channels, height, width] => Ok((lead.to_vec(), [*channels, *height, *width])),
        _ => Err(Error::ShuffleRank { operation, ndim: all.len() }.into()),
    }
}

/// Splits, permutes and joins dimensions behind the leading ones.
fn moved(x: &Tensor, lead: &[i64], split: &[i64], order: &[usize], joined: &[i64]) -> Result<Tensor> {
    let split = reshape::reshape(x, &[lead, split].concat())?;
    let mut dims: Vec<i64> = (0..lead.len() as i64).collect();
    dims.extend(order.iter().map(|&dim| (lead.len() + dim) as i64));
    reshape::reshape(&permute::permute(&split, &dims)?, &[lead, joined].concat())
}

fn shuffled_pixels(x: &Tensor, factor: i64) -> Result<Tensor> {
    let (lead, [channels, height, width]) = sizes(x, "pixel_shuffle")?;
    if factor <= 0 {
        return Err(
            Error::ShuffleFactor { operation: "pixel_shuffle", argument: "upscale_factor", factor }.into()
        );
    }
    let Some(square) = factor.checked_mul(factor) else {
        return Err(Error::PixelShuffleFactor { factor }.into());
    };
    if channels % square != 0 {
        return Err(Error::PixelShuffleChannels { channels, square }.into());
    }
    let rest = channels / square;
    let split = [rest, factor, factor, height, width];
    moved(
        x,
        &lead,
        &split,
        &[0, 3, 1, 4, 2],
        &[rest, height.saturating_mul(factor), width.saturating_mul(factor)],
    )
}

fn unshuffled_pixels(x: &Tensor, factor: i64) -> Result<Tensor> {
    let (lead, [channels, height, width]) = sizes(x, "pixel_unshuffle")?;
    if factor <= 0 {
        return Err(Error::ShuffleFactor {
            operation: "pixel_unshuffle",
            argument: "downscale_factor",
            factor,
        }
        .into());
    }
    for (dimension, size) in [("height", height), ("width", width)] {
        if size % factor != 0 {
            let dim = if dimension == "height" { -2 } else { -1 };
            return Err(Error::PixelUnshuffleSize { dimension, dim, size, factor }.into());
        }
    }
    let split = [channels, height / factor, factor, width / factor, factor];
    moved(x, &lead, &split, &[0, 2, 4, 1, 3], &[channels * factor * factor, height / factor, width / factor])
}

fn shuffled_channels(x: &Tensor, groups: i64) -> Result<Tensor> {
    let layout = x.layout();
    let all = shape::signed(layout.shape());
    let &[batch, channels, ref rest @ ..] = all.as_slice() else {
        return Err(Error::ShuffleRank { operation: "channel_shuffle", ndim: all.len() }.into());
    };
    if groups <= 0 {
        return Err(Error::ChannelShuffleCount { groups }.into());
    }
    if channels % groups != 0 {
        return Err(Error::ChannelShuffleGroups { groups, channels }.into());
    }
    let area: i64 = rest.iter().product();
    let split = reshape::reshape(x, &[batch, groups, channels / groups, area])?;
    reshape::reshape(&permute::transpose(&split, 1, 2)?, &all)
}

/// y = the elements of x at other places
///
/// dy is dx so moved, x̄ is ȳ moved back
#[derive(Clone)]
struct Shuffle {
    /// torch's name of the node.
    node: &'static str,
    /// torch's name of the factor.
    parameter: &'static str,
    factor: i64,
    run: fn(&Tensor, i64) -> Result<Tensor>,
    forth: fn(&Tensor, i64) -> Result<Tensor>,
    back: fn(&Tensor, i64) -> Result<Tensor>,
    /// The factor with which `back` undoes it.
    undone: i64,
}

impl Composite for Shuffle {
    const KEEPS: &'static [&'static str] = &[""];

    fn name(&self) -> &'static str {
        self.node
    }

    fn shown(&self) -> Attributes {
        vec![(self.parameter, self.factor.into())]
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let (x, y) = (inputs[0].layout(), (self.run)(inputs[0], self.factor)?);
        // Of samples the numbers are all that is there, wherever they lie.
        if x.is_plain() && y.layout().is_plain() || batch::is_batched(&y) {
            return Ok(y);
        }
        let y = memory_order::as_images(memory_order::in_order(y.array())?, &x, 2)?;
        Ok(Tensor::from_array(y))
    }

    fn vjp(&self, _index: usize, _kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        (self.back)(gradient, self.undone)
    }

    fn jvp(&self, _index: usize, _kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        (self.forth)(tangent, self.factor)
    }
}

/// Channels as the parts of images that are `factor` times as high and wide.
pub fn pixel_shuffle(x: &Tensor, factor: i64) -> Result<Tensor> {
    let shuffle = Shuffle {
        node: "PixelShuffleBackward0",
        parameter: "upscale_factor",
        factor,
        run: shuffled_pixels,
        forth: pixel_shuffle,
        back: pixel_unshuffle,
        undone: factor,
    };
    composite::apply(shuffle, &[x])
}

/// The parts of images as channels of images that are that many times as low and narrow.
pub fn pixel_unshuffle(x: &Tensor, factor: i64) -> Result<Tensor> {
    let shuffle = Shuffle {
        node: "PixelUnshuffleBackward0",
        parameter: "downscale_factor",
        factor,
        run: unshuffled_pixels,
        forth: pixel_unshuffle,
        back: pixel_shuffle,
        undone: factor,
    };
    composite::apply(shuffle, &[x])
}

/// The channels of `groups` groups in turn.
pub fn channel_shuffle(x: &Tensor, groups: i64) -> Result<Tensor> {
    let channels = x.layout().shape().get(1).map_or(0, |&channels| channels as i64);
    let shuffle = Shuffle {
        node: "ChannelShuffleBackward0",
        parameter: "groups",
        factor: groups,
        run: shuffled_channels,
        forth: channel_shuffle,
        back: channel_shuffle,
        undone: channels.checked_div(groups).unwrap_or(0),
    };
    composite::apply(shuffle, &[x])
}

/// The entries.
pub const ENTRIES: &[Entry] = &[
    shared(
        "channel_shuffle",
        &["(Tensor input, SymInt groups)"],
        "Divides channels into groups and rearranges them so that the groups alternate.",
        |a| channel_shuffle(a.tensor(0)?, a.int(1)?).reply(),
    ),
    shared(
        "pixel_shuffle",
        &["(Tensor input, int upscale_factor)"],
        "Rearranges channels into images that are `upscale_factor` times as large.",
        |a| pixel_shuffle(a.tensor(0)?, a.int(1)?).reply(),
    )
    .operators(&[("PixelShuffleBackward0", "pixel_shuffle")]),
    shared(
        "pixel_unshuffle",
        &["(Tensor input, int downscale_factor)"],
        "Rearranges the pixels of images into channels of smaller images: the inverse of `pixel_shuffle`.",
        |a| pixel_unshuffle(a.tensor(0)?, a.int(1)?).reply(),
    ),
];

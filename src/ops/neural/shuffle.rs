//! Channels and parts of images in each other's places.

use crate::error::{Error, Result};
use crate::ops::{permute, reshape};
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

/// Channels as the parts of images that are `factor` times as high and wide.
pub fn pixel_shuffle(x: &Tensor, factor: i64) -> Result<Tensor> {
    let (lead, [channels, height, width]) = sizes(x, "pixel_shuffle")?;
    if factor <= 0 {
        return Err(
            Error::ShuffleFactor { operation: "pixel_shuffle", argument: "upscale_factor", factor }.into()
        );
    }
    if channels % (factor * factor) != 0 {
        return Err(Error::PixelShuffleChannels { channels, square: factor * factor }.into());
    }
    let rest = channels / (factor * factor);
    let split = [rest, factor, factor, height, width];
    moved(x, &lead, &split, &[0, 3, 1, 4, 2], &[rest, height * factor, width * factor])
}

/// The parts of images as channels of images that are that many times as low and narrow.
pub fn pixel_unshuffle(x: &Tensor, factor: i64) -> Result<Tensor> {
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

/// The channels of `groups` groups in turn.
pub fn channel_shuffle(x: &Tensor, groups: i64) -> Result<Tensor> {
    let layout = x.layout();
    let all = shape::signed(layout.shape());
    let &[batch, channels, ref rest @ ..] = all.as_slice() else {
        return Err(Error::ShuffleRank { operation: "channel_shuffle", ndim: all.len() }.into());
    };
    if groups <= 0 || channels % groups != 0 {
        return Err(Error::ChannelShuffleGroups { groups, channels }.into());
    }
    let area: i64 = rest.iter().product();
    let split = reshape::reshape(x, &[batch, groups, channels / groups, area])?;
    reshape::reshape(&permute::transpose(&split, 1, 2)?, &all)
}

//! Random numbers while a function is mapped: whether each sample gets its own is for the caller of
//! the mapping to say.

use smallvec::SmallVec;

use super::{Samples, samples};
use crate::error::{Error, Result};
use crate::graph::mode;
use crate::ops::creation::{cast, create};
use crate::shape;
use crate::tensor::{Mapping, Randomness, Tensor};

fn refused(mapping: &Mapping) -> Box<Error> {
    match mapping.randomness() {
        Randomness::Unasked => Error::RandomUnasked {}.into(),
        _ => Error::RandomRefused {}.into(),
    }
}

/// A fresh tensor of a shape that `draw` gives: one for each sample, or for all together.
pub(crate) fn creation(shape: &[i64], draw: &dyn Fn(&[i64]) -> Result<Tensor>) -> Result<Tensor> {
    let Some(mapping) = current() else { return draw(shape) };
    match mapping.randomness() {
        Randomness::Error | Randomness::Unasked => Err(refused(&mapping)),
        Randomness::Same => Mapping::below(|| creation(shape, draw)),
        Randomness::Different => {
            let mut many: SmallVec<[i64; 6]> = shape.into();
            many.insert(0, mapping.size() as i64);
            let drawn = Mapping::below(|| creation(&many, draw))?;
            Tensor::batched(drawn, Some(0), &mapping)
        }
    }
}

/// What `draw` makes of the samples of a tensor that has a say in what is drawn.
pub(crate) fn from(x: &Tensor, draw: &dyn Fn(&Tensor) -> Result<Tensor>) -> Result<Tensor> {
    let Some(mapping) = current() else { return draw(x) };
    let Samples { value, dim } = samples(x, &mapping);
    match (mapping.randomness(), dim) {
        (Randomness::Error | Randomness::Unasked, _) => Err(refused(&mapping)),
        (Randomness::Same, Some(_)) => Err(Error::RandomSame {}.into()),
        (Randomness::Same, None) => Mapping::below(|| from(&value, draw)),
        (Randomness::Different, dim) => {
            let front = Samples { value, dim }.front(mapping.size())?;
            Tensor::batched(Mapping::below(|| from(&front, draw))?, Some(0), &mapping)
        }
    }
}

/// Overwrites the samples of a tensor with what `draw` writes, and answers whether there were any: a
/// tensor outside of all mappings is left to the caller.
pub(crate) fn overwrite(x: &Tensor, draw: &dyn Fn(&Tensor) -> Result<()>) -> Result<()> {
    let Some(mapping) = current() else { return draw(x) };
    let own = samples(x, &mapping);
    match (mapping.randomness(), own.dim) {
        (Randomness::Error | Randomness::Unasked, _) => Err(refused(&mapping)),
        (Randomness::Different, None) => Err(Error::RandomUnbatched {}.into()),
        (Randomness::Different, Some(_)) => {
            let front = own.moved(0)?;
            Mapping::below(|| overwrite(&front, draw))
        }
        (Randomness::Same, None) => Mapping::below(|| overwrite(&own.value, draw)),
        (Randomness::Same, Some(_)) => {
            let one = match mapping.size() {
                0 => create::zeros(&shape::signed(&own.shape()), x.dtype())?,
                _ => cast::clone_contiguous(&own.sample(0)?.detach())?,
            };
            Mapping::below(|| overwrite(&one, draw))?;
            cast::copy_(&own.moved(0)?, &one)
        }
    }
}

/// What `draw` gives, for each sample or once for all.
pub(crate) fn each_drawn(draw: &dyn Fn() -> Result<Tensor>) -> Result<Tensor> {
    let Some(mapping) = current() else { return draw() };
    match mapping.randomness() {
        Randomness::Error | Randomness::Unasked => Err(refused(&mapping)),
        Randomness::Same => Mapping::below(draw),
        Randomness::Different => {
            let draws = (0..mapping.size()).map(|_| Mapping::below(draw)).collect::<Result<Vec<Tensor>>>()?;
            let draws: Vec<&Tensor> = draws.iter().collect();
            Tensor::batched(crate::ops::geometry::join::stack(&draws, 0)?, Some(0), &mapping)
        }
    }
}

/// The same numbers for all samples are not drawn where samples that differ have a say, of whichever of the
/// mappings within each other.
pub(crate) fn refuse_same(inputs: &[&Tensor]) -> Result<()> {
    let Some(mapping) = current() else { return Ok(()) };
    let own: SmallVec<[Samples; 2]> = inputs.iter().map(|&input| samples(input, &mapping)).collect();
    if mapping.randomness() == Randomness::Same && own.iter().any(|samples| samples.dim.is_some()) {
        return Err(Error::RandomSame {}.into());
    }
    let values: SmallVec<[&Tensor; 2]> = own.iter().map(|samples| &samples.value).collect();
    Mapping::below(|| refuse_same(&values))
}

/// What `draw` gives of all samples of a tensor together, if each is to have numbers of its own.
pub(crate) fn drawn_like(x: &Tensor, draw: &dyn Fn(&Tensor) -> Result<Tensor>) -> Option<Result<Tensor>> {
    let mapping = current().filter(|mapping| mapping.randomness() == Randomness::Different)?;
    let run = || {
        let front = samples(x, &mapping).front(mapping.size())?;
        Tensor::batched(Mapping::below(|| draw(&front))?, Some(0), &mapping)
    };
    Some(run())
}

/// Other numbers for each sample are not written to what all samples share.
pub(crate) fn refuse_shared(x: &Tensor) -> Result<()> {
    match current() {
        Some(mapping)
            if mapping.randomness() == Randomness::Different && samples(x, &mapping).dim.is_none() =>
        {
            Err(Error::RandomUnbatched {}.into())
        }
        _ => Ok(()),
    }
}

/// Whether a function is being mapped on this thread.
pub(crate) fn is_mapping() -> bool {
    mode::special() && Mapping::innermost().is_some()
}

fn current() -> Option<std::sync::Arc<Mapping>> {
    if mode::special() { Mapping::innermost() } else { None }
}

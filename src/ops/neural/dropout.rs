//! Dropout and its relatives: elements or whole channels are zeroed at random, and the others scaled up.

use std::sync::Arc;

use smallvec::smallvec;

use crate::dispatch::apply::Outputs;
use crate::dispatch::modes::intercept::{self, Beneath};
use crate::dispatch::modes::plain::{Portable, Row, What, plain};
use crate::dispatch::operand::Value;
use crate::dispatch::{batch, in_place, long_work};
use crate::dtype::DType;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{Attributes, mode};
use crate::ops::creation::{cast, create};
use crate::ops::sampling::random;
use crate::ops::sampling::random::Generator;
use crate::ops::{add, div_, mul};
use crate::schema::{Arguments, Changed, Entry, IntoReply, OutPolicy, Reply, function, receiver, shared};
use crate::shape;
use crate::tensor::Tensor;

/// A kind of dropout.
#[derive(Clone, Copy, Debug)]
pub struct Dropout {
    /// The probability that an element is dropped.
    pub probability: f64,
    /// Whether whole channels are dropped (`feature_dropout`); the first two dimensions number them.
    pub channels: bool,
    /// Whether mean and variance are preserved (`alpha_dropout`), as `selu` needs it.
    pub alpha: bool,
}

/// Minus the limit of `selu` towards negative infinity.
const LIMIT: f64 = 1.758_099_340_847_376_6;

impl Dropout {
    /// The elements after dropout; the input itself unless `training`.
    pub fn of(&self, x: &Tensor, training: bool, generator: Option<&Generator>) -> Result<Tensor> {
        let p = self.probability;
        if !(0.0..=1.0).contains(&p) {
            return Err(Error::DropoutProbability { value: p }.into());
        }
        if p == 0.0 || !training || x.numel() == 0 {
            return Ok(x.clone());
        }
        if p == 1.0 {
            return mul(x, &create::zeros(&[], x.dtype())?);
        }
        let noise = self.noise(x, generator)?;
        if !self.alpha {
            return mul(x, &noise.0);
        }
        let (noise, shift) = noise;
        add(&mul(x, &noise)?, &shift)
    }

    /// In place.
    pub fn of_(&self, x: &Tensor, training: bool, generator: Option<&Generator>) -> Result<()> {
        if self.probability == 0.0 || !training || x.numel() == 0 {
            return Ok(());
        }
        in_place::through(x, &[], |x| self.of(x, training, generator))
    }

    /// What elements are multiplied by, and what is added to them.
    fn noise(&self, x: &Tensor, generator: Option<&Generator>) -> Result<(Tensor, Tensor)> {
        let _off = mode::GradModeGuard::off();
        let (keep, layout) = (1.0 - self.probability, x.layout());
        if self.channels && layout.ndim() < 2 {
            return Err(Error::FeatureDropoutRank {}.into());
        }
        let mut shape = shape::signed(layout.shape());
        if self.channels {
            shape[2..].fill(1);
        }
        let drawn = |noise: Tensor| draw(&noise, keep, generator).map(|()| noise);
        // Under vmap, `randomness` says whether each sample has noise of its own.
        let noise = match self.channels || batch::is_mapping() {
            true => batch::creation(&shape, &|shape| drawn(create::empty(shape, x.dtype())?))?,
            false => drawn(room_like(x)?)?,
        };
        if !self.alpha {
            scale_up(&noise, keep)?;
            return Ok((noise.clone(), noise));
        }
        let scale = 1.0 / ((LIMIT * LIMIT * self.probability + 1.0) * keep).sqrt();
        let shift = mul(&add(&noise, -1.0)?, LIMIT * scale)?;
        let shift = add(&shift, LIMIT * scale * self.probability)?;
        Ok((mul(&noise, scale)?, cast::to_dtype(&shift, x.dtype())?))
    }
}

/// Zeros like a tensor, as a recorded operation.
#[derive(Clone)]
struct RoomLike;

impl Portable for RoomLike {
    const IS_SURE: bool = true;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        Ok(smallvec![create::zeros_like(intercept::only(operands)?)?])
    }
}

/// A Bernoulli draw for each element, 1 with the probability `keep`, as a recorded operation.
#[derive(Clone)]
struct Kept {
    keep: f64,
}

impl Portable for Kept {
    const TARGETS: usize = 1;
    const IS_SURE: bool = true;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        let probability = create::full(&[], self.keep.into(), DType::Float64)?;
        random::bernoulli_(intercept::only(operands)?, &probability, None)?;
        Ok(Outputs::new())
    }
}

plain! {
    struct RoomLike {}
    struct Kept { keep }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[Row::of::<RoomLike>("room like"), Row::of::<Kept>("kept")];

/// A tensor for the factors of the elements of `x`.
fn room_like(x: &Tensor) -> Result<Tensor> {
    match intercept::is_active() {
        true => {
            let like = |operands: &[Value]| Ok(create::zeros_like(intercept::first(operands))?.array());
            intercept::elementwise("EmptyLike", Attributes::new(), &[x.into()], Box::new(like), &|| Beneath {
                direct: None,
                what: Some(Arc::new(RoomLike)),
            })
        }
        false => create::zeros_like(x),
    }
}

/// Overwrites each element with 1, with the probability `keep`, or 0.
fn draw(noise: &Tensor, keep: f64, generator: Option<&Generator>) -> Result<()> {
    let probability = create::full(&[], keep.into(), DType::Float64)?;
    match intercept::is_active() {
        true => {
            let generator = generator.cloned();
            let what: Option<What> = match &generator {
                None => Some(Arc::new(Kept { keep })),
                Some(_) => None,
            };
            intercept::written_as("Bernoulli", &[noise.into()], shown! { p: keep }, what, move |operands| {
                random::bernoulli_(intercept::first(operands), &probability, generator.as_ref())
            })
        }
        // An interrupt may leave the factors half drawn: nobody else has seen them yet.
        false => long_work::patiently(8 * noise.numel() as u64, || {
            random::bernoulli_(noise, &probability, generator)
        }),
    }
}

/// Divides the factors by `keep`, so that the expected value of each element stays what it was.
fn scale_up(noise: &Tensor, keep: f64) -> Result<()> {
    match intercept::is_intercepting() {
        true => {
            let operands = [noise.into(), keep.into()];
            intercept::written("DivScalar", &operands, move |operands| div_(intercept::first(operands), keep))
        }
        false => div_(noise, keep),
    }
}

const DROPPED: &[&str] = &["(Tensor input, float p, bool train)"];

/// In place, dropout is `mul_` with the factors, or changes nothing outside of training.
const IN_PLACE: &OutPolicy = &OutPolicy::PLAIN.changing(|a| match a.boolean(2) {
    true => Changed::As("mul_"),
    false => Changed::Nothing,
});

/// The entries.
pub const ENTRIES: &[Entry] = &[
    function(
        "dropout",
        DROPPED,
        "Zeroes elements at random with probability `p`, and scales the others up, when training.",
        |a| dropped(a, false, false),
    ),
    function("dropout_", DROPPED, "`dropout` in place.", |a| dropped_in_place(a, false, false))
        .written(IN_PLACE),
    function(
        "feature_dropout",
        DROPPED,
        "Zeroes whole channels at random with probability `p` when training.",
        |a| dropped(a, true, false),
    ),
    function("feature_dropout_", DROPPED, "`feature_dropout` in place.", |a| {
        dropped_in_place(a, true, false)
    })
    .written(IN_PLACE),
    function(
        "alpha_dropout",
        DROPPED,
        "Dropout that keeps mean and variance, for networks with SELU activations.",
        |a| dropped(a, false, true),
    ),
    function("alpha_dropout_", DROPPED, "`alpha_dropout` in place.", |a| dropped_in_place(a, false, true))
        .written(IN_PLACE),
    shared("feature_alpha_dropout", DROPPED, "`alpha_dropout` of whole channels.", |a| {
        dropped(a, true, true)
    }),
    function("feature_alpha_dropout_", DROPPED, "`feature_alpha_dropout` in place.", |a| {
        dropped_in_place(a, true, true)
    })
    .written(IN_PLACE),
];

fn dropped(a: &dyn Arguments, channels: bool, alpha: bool) -> Result<Reply> {
    let (x, dropout) = (a.tensor(0)?, Dropout { probability: a.float(1)?, channels, alpha });
    if dropout.probability == 0.0 || !a.boolean(2) || x.numel() == 0 {
        // The input itself is returned, after the check that the probability is between 0 and 1.
        dropout.of(x, false, None)?;
        return Ok(Reply::Given(0));
    }
    dropout.of(x, true, None).reply()
}

fn dropped_in_place(a: &dyn Arguments, channels: bool, alpha: bool) -> Result<Reply> {
    let dropout = Dropout { probability: a.float(1)?, channels, alpha };
    receiver(a, dropout.of_(a.tensor(0)?, a.boolean(2), None))
}

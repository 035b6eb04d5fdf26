//! Variances and standard deviations, with or without the mean that they are taken around.

use crate::dispatch::apply::portable;
use crate::dispatch::modes::plain::{Row, plain};
use crate::schema::{Arguments, Entry, IntoReply, Ints, OutPolicy, both, function, warn};
use smallvec::smallvec;

use crate::dispatch::apply::number_one;
use crate::dispatch::apply::{Arrays, Keep, Op, apply, apply_one, one, tangent};
use crate::dispatch::batch::{Answer, Call, plumbing};
use crate::dispatch::binary;
use crate::dispatch::operand::Numbers;
use crate::error::{Error, Result};
use crate::graph::shown::shown;
use crate::graph::{At, Attributes, Gradients, SavedTensor, Shown};
use crate::kernels::reduction::reduce as kernels;
use crate::ops::pointwise::arithmetic;
use crate::ops::pointwise::compare;
use crate::ops::pointwise::select::masked_fill;
use crate::ops::reduction::over::Over;
use crate::ops::reduction::reduce;
use crate::ops::{add, complex, div, mul, sub};
use crate::tensor::{Array, Tensor};

/// m = Σ x / n,  v = Σ (x - m)² / (n - c),  s = √v; the outputs are v or s, and m if it is wanted
///
/// dv = 2/(n - c) Σ (x - m) dx, ds = dv / 2s, dm = Σ dx / n, and backward the transposes. Where s is
/// 0 its derivative counts as 0.
#[derive(Clone)]
pub struct Moments {
    over: Over,
    correction: f64,
    /// Whether the square root is taken.
    root: bool,
    /// Whether the mean is a second output.
    with_mean: bool,
}

impl Moments {
    fn mean(&self, x: &Tensor) -> Result<Tensor> {
        div(&self.over.sum(x)?, self.over.count(x.layout().shape()) as f64)
    }

    /// The moments of complex numbers: variances are the sums of those of the parts.
    fn of_complex(&self, x: &Array) -> Result<Arrays> {
        let variance = Moments { root: false, with_mean: false, ..self.clone() };
        let of_part = |index: usize| number_one(&variance, &[x.component(index)?]).map(Numbers::Array);
        let (re, im) = (of_part(0)?, of_part(1)?);
        let root = self.root;
        let spread = dispatch!(float x.dtype.to_real(), T => binary::combine::<T, T>(&re, &im, move |re, im| {
            if root { num_traits::Float::sqrt(re + im) } else { re + im }
        })?, else { unreachable!("the parts are real numbers") });
        let mut outputs: Arrays = smallvec![spread];
        if self.with_mean {
            let count = self.over.count(x.layout.shape()) as f64;
            outputs.push(binary::numbers(arithmetic::Div, &self.over.sum_numbers(x, None)?, count)?);
        }
        Ok(outputs)
    }

    /// dv/dx
    fn slope(&self, x: &Tensor) -> Result<Tensor> {
        mul(&self.apart(x)?, self.scale(x))
    }

    /// x less its mean
    fn apart(&self, x: &Tensor) -> Result<Tensor> {
        sub(x, &reduce::mean(x, self.over.given(), self.over.named(), None)?)
    }

    /// 2/(n - c)
    fn scale(&self, x: &Tensor) -> f64 {
        2.0 / (self.over.count(x.layout().shape()) as f64 - self.correction)
    }

    /// `t · ds/dv` for standard deviations, `t` for variances.
    fn through_root(&self, saved: &[Option<SavedTensor>; 2], at: &At<'_>, t: &Tensor) -> Result<Tensor> {
        match &saved[1] {
            Some(root) => {
                let root = at.load(root)?;
                masked_fill(&div(t, &mul(&root, 2.0)?)?, &compare::eq(&root, 0)?, 0)
            }
            None => Ok(t.clone()),
        }
    }
}

impl Op for Moments {
    type Saved = [Option<SavedTensor>; 2];
    const SAVED: &'static [&'static str] = &["self", "result"];

    fn name(&self) -> &'static str {
        match (self.root, self.with_mean) {
            (false, false) => "VarBackward0",
            (true, false) => "StdBackward0",
            (false, true) => "VarMeanBackward0",
            (true, true) => "StdMeanBackward0",
        }
    }

    fn saved_names(&self) -> &'static [&'static str] {
        match (self.root, self.with_mean) {
            (false, _) => &["self", ""],
            (true, false) => &["self", "result"],
            (true, true) => &["self", "result0"],
        }
    }

    fn shown(&self, _saved: &Self::Saved) -> Attributes {
        let dims = self.over.given();
        // torch does not show the defaults.
        let given = dims.is_some() || self.correction != 1.0;
        let whole = self.correction as i64;
        let correction = match self.correction == whole as f64 {
            true => Shown::Whole(whole),
            false => Shown::Float(self.correction),
        };
        let correction = ("correction", if given { correction } else { Shown::Nothing });
        let mut shown = shown! { dim: dims, keepdim: self.over.keepdim };
        shown.push(correction);
        shown
    }

    fn outputs(&self, _inputs: &[Array]) -> usize {
        1 + usize::from(self.with_mean)
    }

    fn forward(&self, inputs: &[Array]) -> Result<Arrays> {
        let x = &inputs[0];
        if x.dtype.is_complex() {
            return self.of_complex(x);
        }
        let shape = self.over.shape(x.layout.shape());
        let mut spread = Array::uninit_shape(&shape, x.dtype)?;
        let mut mean = Array::uninit_shape(&shape, x.dtype)?;
        dispatch!(float x.dtype, T => {
            let (dims, view) = (&self.over.dims, x.view::<T>());
            kernels::var_mean(view, dims, self.correction, spread.fresh::<T>(), mean.fresh());
            if self.root {
                let mut root = Array::uninit(&spread.layout, x.dtype)?;
                crate::kernels::pointwise::map::map(&spread.strided::<T>(), root.fresh(), num_traits::Float::sqrt);
                spread = root;
            }
        }, else {
            return Err(refusal(self.root, self.with_mean).into())
        });
        let spread = spread;
        Ok(if self.with_mean { smallvec![spread, mean] } else { smallvec![spread] })
    }

    fn save(&self, keep: &Keep<'_>) -> Self::Saved {
        [Some(keep.input(0)), self.root.then(|| keep.output(0))]
    }

    fn vjp(&self, saved: &Self::Saved, at: &At<'_>, gradients: &Gradients) -> Result<Gradients> {
        let Some(x) = saved[0].as_ref().map(|x| at.load(x)).transpose()? else {
            unreachable!("the input is kept")
        };
        let layout = x.layout();
        let spread = match &gradients[0] {
            Some(g) => {
                let g = self.through_root(saved, at, g)?;
                // What is one for all is so without more dimensions.
                let g = if layout.ndim() > 1 { self.over.aligned(&g, layout.shape())? } else { g };
                Some(mul(&mul(&g, self.scale(&x))?, &self.apart(&x)?)?)
            }
            None => None,
        };
        let mean = match gradients.get(1).cloned().flatten() {
            Some(g) => Some(self.over.share(&g, layout.shape(), at)?),
            None => None,
        };
        match (spread, mean) {
            (Some(spread), Some(mean)) => one(add(&spread, &mean)?),
            (spread, mean) => Ok(smallvec![spread.or(mean)]),
        }
    }

    fn jvp(&self, saved: &Self::Saved, at: &At<'_>, tangents: &[Option<Tensor>]) -> Result<Gradients> {
        let Some(x) = saved[0].as_ref().map(|x| at.load(x)).transpose()? else {
            unreachable!("the input is kept")
        };
        let t = tangent(tangents);
        let slope = self.slope(&x)?;
        let spread = self.over.sum(&complex::real_product(&slope, t)?)?;
        let mut outputs: Gradients = smallvec![Some(self.through_root(saved, at, &spread)?)];
        if self.with_mean {
            outputs.push(Some(self.mean(t)?));
        }
        Ok(outputs)
    }

    fn plumbing(&self) -> &'static str {
        if self.with_mean { plumbing::GENERATED } else { plumbing::REDUCTION }
    }

    fn batch(&self, call: &Call<'_>) -> Result<Answer> {
        call.front(Moments { over: self.over.deeper(), ..*self })
    }
}

/// The error for integer types.
fn refusal(root: bool, with_mean: bool) -> Error {
    let operation = match (root, with_mean) {
        (_, false) => "std and var",
        (true, true) => "std_mean",
        (false, true) => "var_mean",
    };
    Error::VarianceDType { operation }
}

/// Neither a root nor the mean.
const VARIANCE: [bool; 2] = [false, false];
/// A root, without the mean.
const DEVIATION: [bool; 2] = [true, false];

fn moments(
    x: &Tensor,
    dims: Option<&[i64]>,
    correction: f64,
    keepdim: bool,
    [root, with_mean]: [bool; 2],
) -> Result<Moments> {
    if !x.dtype().is_differentiable() {
        return Err(refusal(root, with_mean).into());
    }
    let over = Over::new(dims, keepdim, x)?;
    Ok(Moments { over, correction, root, with_mean })
}

/// The variance over some dimensions, or all; its divisor is the number of elements less `correction`.
pub fn var(x: &Tensor, dims: Option<&[i64]>, correction: f64, keepdim: bool) -> Result<Tensor> {
    apply_one(moments(x, dims, correction, keepdim, VARIANCE)?, &[x])
}

/// The square root of `var`.
pub fn std(x: &Tensor, dims: Option<&[i64]>, correction: f64, keepdim: bool) -> Result<Tensor> {
    apply_one(moments(x, dims, correction, keepdim, DEVIATION)?, &[x])
}

/// `var` and the mean.
pub fn var_mean(
    x: &Tensor,
    dims: Option<&[i64]>,
    correction: f64,
    keepdim: bool,
) -> Result<(Tensor, Tensor)> {
    pair(moments(x, dims, correction, keepdim, [false, true])?, x)
}

/// `std` and the mean.
pub fn std_mean(
    x: &Tensor,
    dims: Option<&[i64]>,
    correction: f64,
    keepdim: bool,
) -> Result<(Tensor, Tensor)> {
    pair(moments(x, dims, correction, keepdim, [true, true])?, x)
}

fn pair(op: Moments, x: &Tensor) -> Result<(Tensor, Tensor)> {
    let mut outputs = apply(op, &[x])?;
    match (outputs.pop(), outputs.pop()) {
        (Some(mean), Some(spread)) => Ok((spread, mean)),
        _ => unreachable!("the operation has two outputs"),
    }
}

const SPREAD: &[&str] = &[
    "(Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor out=None)",
    "(Tensor input, int[1]? dim=None, *, Number? correction=None, bool keepdim=False, Tensor out=None)",
    "(Tensor input, bool unbiased=True)",
];

/// How a spread is written.
const SPREAD_INTO: OutPolicy =
    OutPolicy::PLAIN.out_as(|given| if given.count < 2 { ".correction_out" } else { ".out" });

const PAIR: &[&str] = &[
    "(Tensor input, int[1]? dim, bool unbiased=True, bool keepdim=False) -> tuple[Tensor, Tensor]",
    "(Tensor input, int[1]? dim=None, *, Number? correction=None, bool keepdim=False) -> tuple[Tensor, Tensor]",
    "(Tensor input, bool unbiased=True) -> tuple[Tensor, Tensor]",
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("var", SPREAD, "The variance of all elements, or along dimensions.", |a| {
        let (dims, correction, keepdim) = spread(a)?;
        var(a.tensor(0)?, dims.as_deref(), correction, keepdim).reply()
    })
    .written(&SPREAD_INTO)
    .operators(&[("VarBackward0", "var.correction@1")]),
    both("std", SPREAD, "The standard deviation of all elements, or along dimensions.", |a| {
        let (dims, correction, keepdim) = spread(a)?;
        std(a.tensor(0)?, dims.as_deref(), correction, keepdim).reply()
    })
    .written(&SPREAD_INTO)
    .operators(&[("StdBackward0", "std.correction@1")]),
    function("var_mean", PAIR, "The variance and the mean of all elements, or along dimensions.", |a| {
        let (dims, correction, keepdim) = spread(a)?;
        var_mean(a.tensor(0)?, dims.as_deref(), correction, keepdim).reply()
    })
    .operators(&[("VarMeanBackward0", "var_mean.correction@1")]),
    function(
        "std_mean",
        PAIR,
        "The standard deviation and the mean of all elements, or along dimensions.",
        |a| {
            let (dims, correction, keepdim) = spread(a)?;
            std_mean(a.tensor(0)?, dims.as_deref(), correction, keepdim).reply()
        },
    )
    .operators(&[("StdMeanBackward0", "std_mean.correction@1")]),
];

fn check_degrees(arguments: &dyn Arguments, dims: &[i64], correction: f64) -> Result<()> {
    let layout = arguments.tensor(0)?.layout();
    let Ok(dims) = crate::shape::normalize_dims(dims, layout.ndim()) else {
        return Ok(()); // The operation will say so.
    };
    let count: usize = dims.iter().map(|&dim| layout.shape()[dim]).product();
    // Where there are no elements torch finds none for a result either.
    let count = if layout.numel() == 0 { 0 } else { count };
    let dtype = arguments.tensor(0)?.dtype();
    if count as f64 > correction || !dtype.is_differentiable() {
        return Ok(());
    }
    // Of complex numbers both parts are looked at.
    for _ in 0..=usize::from(dtype.is_complex()) {
        warn(Error::DegreesOfFreedom { operation: arguments.name() })?;
    }
    Ok(())
}

/// Dimensions, correction and `keepdim`, after a warning if the divisor is not above zero.
fn spread(arguments: &dyn Arguments) -> Result<(Option<Ints>, f64, bool)> {
    let unbiased = |index| f64::from(u8::from(arguments.boolean(index)));
    let (dims, correction, keepdim) = match arguments.overload() {
        0 => (arguments.dims(1)?, unbiased(2), arguments.boolean(3)),
        1 => {
            let correction = arguments.optional_number(2)?.map_or(1.0, |number| number.to_f64());
            (arguments.dims(1)?, correction, arguments.boolean(3))
        }
        _ => (None, unbiased(1), false),
    };
    check_degrees(arguments, dims.as_deref().unwrap_or(&[]), correction)?;
    Ok((dims, correction, keepdim))
}

plain! {
    struct Moments { over, correction, root, with_mean }
}

/// How these are written as plain data.
pub const ROWS: &[Row] = &[portable::row::<Moments>("variance")];

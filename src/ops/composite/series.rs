//! Differences and sums of neighbours, and parts scaled down to a norm.

use crate::dispatch::batch;
use crate::dispatch::composites::composite;
use crate::dispatch::composites::composite::Composite;
use crate::dispatch::composites::saved_inputs::LoadedInputs;
use crate::dispatch::in_place as writing;
use crate::dispatch::operand::Operand;
use crate::dispatch::operand::scalar_type;
use crate::dispatch::unary;
use crate::dtype::{Bool, DType, Scalar};
use crate::error::{Error, Result};
use crate::graph::Attributes;
use crate::graph::mode;
use crate::graph::shown::shown;
use crate::ops::complex::real_product;
use crate::ops::conjugate;
use crate::ops::creation::{cast, copy, create};
use crate::ops::geometry::{join, part, reshape, squeeze};
use crate::ops::indexing::masked;
use crate::ops::pointwise::select::where_;
use crate::ops::pointwise::{clamp, compare};
use crate::ops::reduction::{norm, reduce, scan};
use crate::ops::sorting::{distinct, picked};
use crate::ops::{add, div, mul, neg, sub};
use crate::schema::warn_once;
use crate::schema::{
    Arguments, Entry, IntoReply, OutPolicy, Reply, Types, both, function, inner, method, receiver,
};
use crate::shape;
use crate::tensor::Tensor;

/// The differences of neighbours along a dimension, `times` over.
pub fn diff(
    x: &Tensor,
    times: i64,
    dim: i64,
    before: Option<&Tensor>,
    behind: Option<&Tensor>,
) -> Result<Tensor> {
    if x.ndim() == 0 {
        return Err(Error::DiffScalar {}.into());
    }
    if times < 0 {
        return Err(Error::DiffOrder { order: times }.into());
    }
    let place = shape::normalize_dim(dim, x.ndim())?;
    for beside in before.into_iter().chain(behind) {
        check_beside(x, beside, place)?;
    }
    if times == 0 {
        let copy = batch::with_room(create::zeros_like(&x.detach())?, &[x])?;
        cast::copy_(&copy, x)?;
        return Ok(copy);
    }
    let parts: Vec<&Tensor> = before.into_iter().chain([x]).chain(behind).collect();
    let mut y = if parts.len() > 1 { join::cat(&parts, dim)? } else { x.clone() };
    // Once nothing is left, nothing changes any more.
    let times = times.min(y.layout().shape()[place] as i64);
    for _ in 0..times {
        let length = y.layout().shape()[place] as i64;
        let few = (length - 1).max(0);
        let (earlier, later) = (part::narrow(&y, dim, 0, few)?, part::narrow(&y, dim, length - few, few)?);
        y = match y.dtype() {
            crate::dtype::DType::Bool => crate::ops::pointwise::logical::xor(&later, &earlier)?,
            _ => sub(&later, &earlier)?,
        };
    }
    Ok(y)
}

/// Refuses what does not fit beside the elements of `x` along a dimension.
fn check_beside(x: &Tensor, beside: &Tensor, place: usize) -> Result<()> {
    let (expected, found) = (x.layout(), beside.layout());
    if expected.ndim() != found.ndim() {
        return Err(Error::DiffRank {}.into());
    }
    let unfit = |&dim: &usize| dim != place && expected.size(dim) != found.size(dim);
    match (0..expected.ndim()).find(unfit) {
        Some(dim) => Err(Error::DiffShape { dim, expected: expected.size(dim), got: found.size(dim) }.into()),
        None => Ok(()),
    }
}

/// Refuses truth values, of which there is no area.
fn check_area(y: &Tensor, distance: Operand<'_>, operation: &'static str) -> Result<()> {
    let arguments = match distance {
        Operand::Tensor(places) if [y, places].iter().any(|x| x.dtype() == DType::Bool) => "`x` or `y`",
        Operand::Scalar(_) if y.dtype() == DType::Bool => "`y`",
        Operand::Scalar(Scalar::Bool(_) | Scalar::Complex(_)) => {
            return Err(Error::TrapezoidStep { operation }.into());
        }
        _ => return Ok(()),
    };
    Err(Error::TrapezoidBool { operation, arguments }.into())
}

/// The sums of neighbours times their distances: twice the areas of the trapezoids between them.
fn trapezoids(y: &Tensor, places: &Tensor, dim: i64, operation: &'static str) -> Result<Tensor> {
    let place = shape::normalize_dim(dim, y.ndim())?;
    let places = if places.ndim() == 1 {
        let count = y.layout().shape().get(place).copied().ok_or(Error::DimOfScalar { dim })?;
        if places.numel() != count {
            return Err(Error::TrapezoidPlaces { operation }.into());
        }
        let mut shape = vec![1; y.ndim()];
        shape[place] = places.numel() as i64;
        reshape::view(places, &shape)?
    } else if places.ndim() < y.ndim() {
        let mut shape = vec![1; y.ndim() - places.ndim()];
        shape.extend(shape::signed(places.layout().shape()));
        reshape::reshape(places, &shape)?
    } else {
        places.clone()
    };
    let dim = place as i64;
    let ends = |x: &Tensor| -> Result<[Tensor; 2]> {
        Ok([part::slice(x, dim, Some(0), Some(-1), 1)?, part::slice(x, dim, Some(1), None, 1)?])
    };
    let ([from, to], [left, right]) = (ends(&places)?, ends(y)?);
    mul(&add(&left, &right)?, &sub(&to, &from)?)
}

/// The area under points that are joined by straight lines.
pub fn trapezoid(y: &Tensor, distance: Operand<'_>, dim: i64) -> Result<Tensor> {
    if y.ndim() == 0 {
        // Next to places a dimension has been looked for before.
        let dim = if let Operand::Tensor(_) = distance { shape::normalize_dim(dim, 0)? as i64 } else { dim };
        return Err(Error::DimOfScalar { dim }.into());
    }
    check_area(y, distance, "trapezoid")?;
    let sum = |terms: &Tensor| reduce::sum(terms, Some(&[dim]), false, None);
    let length = y.layout().size(shape::normalize_dim(dim, y.ndim())?);
    match distance {
        Operand::Scalar(width) if length > 0 => {
            // Every point counts, the outer ones by half.
            let outer = add(&part::select(y, dim, 0)?, &part::select(y, dim, -1)?)?;
            mul(&sub(&sum(y)?, &mul(&outer, 0.5)?)?, width.to_f64())
        }
        Operand::Scalar(_) => mul(&sum(y)?, 0.0),
        Operand::Tensor(places) => {
            let dim = shape::normalize_dim(dim, y.ndim())? as i64;
            let areas = trapezoids(y, places, dim, "trapezoid")?;
            div(&reduce::sum(&areas, Some(&[dim]), false, None)?, 2.0)
        }
    }
}

/// The areas up to each point.
pub fn cumulative_trapezoid(y: &Tensor, distance: Operand<'_>, dim: i64) -> Result<Tensor> {
    check_area(y, distance, "cumulative_trapezoid")?;
    match distance {
        Operand::Scalar(width) => {
            let sums =
                add(&part::slice(y, dim, Some(0), Some(-1), 1)?, &part::slice(y, dim, Some(1), None, 1)?)?;
            scan::cumsum(&mul(&sums, width.to_f64() / 2.0)?, dim, None)
        }
        Operand::Tensor(places) => {
            let dim = shape::normalize_dim(dim, y.ndim())? as i64;
            let areas = trapezoids(y, places, dim, "cumulative_trapezoid")?;
            div(&scan::cumsum(&areas, dim, None)?, 2.0)
        }
    }
}

/// The parts along a dimension, those scaled down whose norm is above a bound.
pub fn renorm(x: &Tensor, order: Scalar, dim: i64, most: Scalar) -> Result<Tensor> {
    if order.to_f64() <= 0.0 {
        return Err(Error::RenormOrder {}.into());
    }
    if most.to_f64() < 0.0 {
        return Err(Error::RenormBound { bound: most.to_f64() }.into());
    }
    if x.ndim() < 2 {
        return Err(Error::RenormRank { ndim: x.ndim() }.into());
    }
    let place = shape::normalize_dim(dim, x.ndim())?;
    let others = (0..x.ndim()).filter(|&other| other != place).map(|other| other as i64).collect();
    composite::apply(Bounded { order, dim, most, others }, &[x])
}

/// y = f x, where f = m/(n + 10⁻⁷) for parts whose norm n is above m, and 1 elsewhere
///
/// dy = f dx + x f′ Σ n′ dx, x̄ = f ȳ + n′ f′ Σ x ȳ, with sums over a part
#[derive(Clone)]
struct Bounded {
    order: Scalar,
    dim: i64,
    most: Scalar,
    others: Vec<i64>,
}

impl Bounded {
    /// f, and n.
    fn factor(&self, x: &Tensor) -> Result<(Tensor, Tensor)> {
        let lengths = norm::vector_norm(x, self.order, Some(&self.others), true, None)?;
        let factor = div(self.most, &add(&lengths, 1e-7)?)?;
        Ok((where_(&compare::gt(&lengths, self.most)?, &factor, 1.0)?, lengths))
    }

    /// f, n′ and f′.
    fn slopes(&self, x: &Tensor) -> Result<[Tensor; 3]> {
        let (factor, lengths) = self.factor(x)?;
        let slope = norm::slope(x, &lengths, self.order.to_f64(), Some(&self.others))?;
        let fall = neg(&div(&factor, &add(&lengths, 1e-7)?)?)?;
        Ok([factor, slope, where_(&compare::gt(&lengths, self.most)?, &fall, 0.0)?])
    }

    /// Σ Re(conj(a) b) over every part.
    fn product(&self, a: &Tensor, b: &Tensor) -> Result<Tensor> {
        reduce::sum(&real_product(a, b)?, Some(&self.others), true, None)
    }
}

impl Composite for Bounded {
    const KEEPS: &'static [&'static str] = &["self"];
    const CURVED: bool = true;

    fn name(&self) -> &'static str {
        "RenormBackward0"
    }

    fn shown(&self) -> Attributes {
        shown! { p: self.order, dim: self.dim, maxnorm: self.most }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        mul(inputs[0], &self.factor(inputs[0])?.0)
    }

    fn vjp(&self, _index: usize, kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        let x = conjugate::conj(kept.input(0).clone())?;
        let [factor, slope, fall] = self.slopes(&x)?;
        let turned = mul(&slope, &mul(&fall, &self.product(&x, gradient)?)?)?;
        add(&mul(gradient, &factor)?, &turned)
    }

    fn jvp(&self, _index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        let x = kept.input(0);
        let [factor, slope, fall] = self.slopes(x)?;
        add(&mul(tangent, &factor)?, &mul(x, &mul(&fall, &self.product(&slope, tangent)?)?)?)
    }
}

/// The vectors of a dimension crossed with those of another tensor.
pub fn cross(a: &Tensor, b: &Tensor, dim: i64) -> Result<Tensor> {
    if a.ndim() != b.ndim() {
        return Err(Error::CrossRank {}.into());
    }
    if a.ndim() == 0 {
        return Err(Error::DimOfScalar { dim }.into());
    }
    let place = shape::normalize_dim(dim, a.ndim())?;
    let (left, right) = (a.layout().size(place), b.layout().size(place));
    if left != 3 || right != 3 {
        return Err(Error::CrossSize { dim, left, right }.into());
    }
    if a.dtype() != b.dtype() {
        return Err(Error::ScalarTypeExpected { expected: a.dtype(), got: b.dtype() }.into());
    }
    if a.dtype() == DType::Bool {
        return Err(Error::NotImplementedFor { operation: "cross", dtype: a.dtype() }.into());
    }
    composite::apply(Cross { given: dim, dim: place as i64 }, &[a, b])
}

/// y = a × b along a dimension
///
/// dy = da × b + a × db,  ā = b × ȳ,  b̄ = ȳ × a
#[derive(Clone)]
struct Cross {
    /// The dimension as the caller named it.
    given: i64,
    dim: i64,
}

impl Composite for Cross {
    const KEEPS: &'static [&'static str] = &["self", "other"];

    fn name(&self) -> &'static str {
        "LinalgCrossBackward0"
    }

    fn shown(&self) -> Attributes {
        shown! { dim: self.given }
    }

    fn value(&self, inputs: &[&Tensor]) -> Result<Tensor> {
        let turned = |x: &Tensor, by: i64| crate::ops::geometry::rearrange::roll(x, &[by], &[self.dim]);
        let (a, b) = (inputs[0], inputs[1]);
        sub(&mul(&turned(a, -1)?, &turned(b, -2)?)?, &mul(&turned(a, -2)?, &turned(b, -1)?)?)
    }

    fn vjp(&self, index: usize, kept: &LoadedInputs, gradient: &Tensor) -> Result<Tensor> {
        match index {
            0 => cross(kept.input(1), gradient, self.dim),
            _ => cross(gradient, kept.input(0), self.dim),
        }
    }

    fn jvp(&self, index: usize, kept: &LoadedInputs, tangent: &Tensor) -> Result<Tensor> {
        match index {
            0 => cross(tangent, kept.input(1), self.dim),
            _ => cross(kept.input(0), tangent, self.dim),
        }
    }
}

/// With how many elements another is compared one by one rather than searched among them.
const COMPARED: usize = 16;

/// Whether every element is one of those of another tensor.
pub fn isin(x: &Tensor, among: &Tensor, invert: bool) -> Result<Tensor> {
    if let Some(dtype) = [x.dtype(), among.dtype()].into_iter().find(|dtype| dtype.is_complex()) {
        return Err(Error::AmongDType { dtype }.into());
    }
    let flat = reshape::reshape(among, &[-1])?;
    let is_plain = x.ndim() > 0 && among.ndim() > 0 && !mode::special();
    let found = if is_plain && flat.numel() > COMPARED {
        is_found(x, &flat)?
    } else if is_plain && flat.numel() > 0 {
        is_met(x, &flat)?
    } else {
        let hits = compare::eq(&squeeze::unsqueeze(x, -1)?, &flat)?;
        crate::ops::reduction::truth::any(&hits, Some(&[-1]), false)?
    };
    if invert { crate::ops::pointwise::logical::not(&found) } else { Ok(found) }
}

/// The same of a few, with all of which every element is compared.
fn is_met(x: &Tensor, among: &Tensor) -> Result<Tensor> {
    let dtype = x.dtype().promote(among.dtype()).wide();
    let of_type = |x: &Tensor| cast::to_dtype(&x.detach(), dtype).map(|x| x.array());
    let (x, among) = (of_type(x)?, of_type(among)?);
    let (x, among) = (copy::in_order(&x)?, copy::in_order(&among)?);
    let found = dispatch!(ordered dtype, T => {
        let Some(given) = among.slice::<T>() else { unreachable!("the elements are of that type and in order") };
        // As many as there may be: loops over so many elements at once know how long they are.
        let all: [T; COMPARED] = std::array::from_fn(|place| given[place.min(given.len() - 1)]);
        unary::compute::<T, Bool>(&x, DType::Bool, move |x| {
            Bool::new(all.iter().fold(false, |found, &other| found | (x == other)))
        })?
    }, else { return Err(Error::AmongDType { dtype }.into()) });
    Ok(Tensor::from_array(found))
}

/// The same by search: an element is there if it is the one that stands, in order, where it belongs.
fn is_found(x: &Tensor, among: &Tensor) -> Result<Tensor> {
    let dtype = match x.dtype().promote(among.dtype()) {
        DType::Bool => DType::UInt8, // it has an order
        dtype => dtype,
    };
    let (x, among) = (cast::to_dtype(x, dtype)?, cast::to_dtype(among, dtype)?);
    let (sorted, _) = picked::sort(&among, 0, false)?;
    let places = distinct::searchsorted(&sorted, &x, false, None)?;
    let places = clamp::clamp_max(&places, (among.numel() - 1) as i64)?;
    compare::eq(&masked::take(&sorted, &places)?, &x)
}

const AREA: &[&str] = &["(Tensor y, Tensor x, *, int dim=-1)", "(Tensor y, *, Number dx=1, int dim=-1)"];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "diff",
        &[
            "(Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor out=None)",
        ],
        "The n-th differences of neighbouring elements along a dimension.",
        |a| {
            diff(a.tensor(0)?, a.int(1)?, a.int(2)?, a.optional_tensor(3), a.optional_tensor(4))
                .reply()
        },
    ).written(&OutPolicy::APART.once().refused_as("sub")),
    function("trapezoid", AREA, "The integral along a dimension by the trapezoidal rule.", |a| area(a, trapezoid)),
    function(
        "trapz",
        &["(Tensor y, *, float dx=1, int dim=-1)", "(Tensor y, Tensor x, *, int dim=-1)"],
        "The integral along a dimension by the trapezoidal rule.",
        |a| match a.overload() {
            0 => trapezoid(a.tensor(0)?, a.float(1)?.into(), a.int(2)?).reply(),
            _ => area(a, trapezoid),
        },
    ),
    function("cumulative_trapezoid", AREA, "The cumulative integral along a dimension by the trapezoidal rule.", |a| area(a, cumulative_trapezoid)),
    both(
        "renorm",
        &["(Tensor input, Number p, int dim, Number maxnorm, *, Tensor out=None)"],
        "Scales every slice along a dimension whose p-norm exceeds `maxnorm` down to it.",
        |a| renorm(a.tensor(0)?, a.number(1)?, a.int(2)?, a.number(3)?).reply(),
    ).written(&OutPolicy::OF_FIRST.typed(Types::Same))
    .operators(&[("=", "renorm")]),
    method(
        "renorm_",
        &["(Tensor input, Number p, int dim, Number maxnorm)"],
        "`renorm` in place.",
        |a| {
            let (x, order, dim) = (a.tensor(0)?, a.number(1)?, a.int(2)?);
            let most = a.number(3)?;
            receiver(a, writing::through(x, &[], |x| renorm(x, order, dim, most)))
        },
    ),
    inner(
        "linalg_cross",
        &["(Tensor input, Tensor other, *, int dim=-1, Tensor out=None)"],
        "The cross product of vectors of three elements.",
        |a| cross(a.tensor(0)?, a.tensor(1)?, a.int(2)?).reply(),
    ).written(&OutPolicy::APART.typed(Types::Same))
    .operators(&[("LinalgCrossBackward0", "linalg_cross")]),
    both(
        "cross",
        &["(Tensor input, Tensor other, int? dim=None, *, Tensor out=None)"],
        "The cross product of vectors of three elements along a dimension.",
        |a| {
            let (x, y) = (a.tensor(0)?, a.tensor(1)?);
            let first = || x.layout().shape().iter().position(|&size| size == 3).map(|dim| dim as i64);
            let given = a.optional_int(2)?;
            if given.is_none() {
                warn_once(Error::CrossWithoutDim {})?;
            }
            match given.or_else(first) {
                Some(dim) => cross(x, y, dim).reply(),
                None => Err(Error::CrossNone {}.into()),
            }
        },
    )
    .written(&OutPolicy::APART.refused_as("linalg_cross").typed(Types::Same)),
    function("isin", ELEMENTS, "Whether each element is among the test elements.", |a| {
        let operand = |index: usize| match a.optional_tensor(index) {
            Some(x) => Ok(x.clone()),
            None => {
                let number = a.number(index)?;
                create::full(&[], number, scalar_type(number))
            }
        };
        isin(&operand(0)?, &operand(1)?, a.boolean(3)).reply()
    })
    .written(&OutPolicy::PLAIN.unrecorded().typed(Types::Same).out_of_pairs()),
];

fn area(a: &dyn Arguments, operation: fn(&Tensor, Operand<'_>, i64) -> Result<Tensor>) -> Result<Reply> {
    operation(a.tensor(0)?, a.operand(1)?, a.int(2)?).reply()
}

const ELEMENTS: &[&str] = &[
    "(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    "(Number element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    "(Tensor elements, Number test_element, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
];

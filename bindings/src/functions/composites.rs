//! Functions that are other operations in a row.
use super::entries::{both, function, in_place, inner, method};
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, Shape, types};
use crate::error::raise;
use crate::interpreter::warnings::Once;
use crate::values::arguments::Arguments;
use crate::values::returns::ToPython;
use pyo3::exceptions::PyUserWarning;
use pyo3::prelude::*;
use rushlight::dispatch::in_place as writing;
use rushlight::dtype::Scalar;
use rushlight::ops;
use rushlight::ops::Operand;
use rushlight::ops::composite::contract::{
    addbmm, addbmm_, addr, addr_, float_power, float_power_dtype, kron,
};
use rushlight::ops::composite::distances::{ByProducts, cdist, dist};
use rushlight::ops::composite::einsum::{einsum, tensordot};
use rushlight::ops::composite::places::{
    as_strided_scatter, atleast_3d, column_stack, diagonal_scatter, dstack, fill, rot90, select_scatter,
    slice_scatter,
};
use rushlight::ops::composite::series::{cross, cumulative_trapezoid, diff, isin, renorm, trapezoid};
use rushlight::ops::composite::statistics::{Covariance, Weights, corrcoef, cov};
use rushlight::ops::creation::create;
use rushlight::ops::geometry::{part, rearrange, triangle};
use rushlight::ops::reduction::norm::norm_along;
use rushlight::ops::sorting::tally::bincount;
use rushlight::{Error, Result, Tensor};
use std::ffi::CStr;

const CROSS: &CStr = c"Using torch.cross without specifying the dim arg is deprecated.
Please either pass the dim explicitly or simply use torch.linalg.cross.
The default value of dim will change to agree with that of linalg.cross in a future release.";

/// Of operations whose nodes take a number as one.
const NUMBER: &[&str] = &["(Tensor input, Number other)"];
const JOIN: &[&str] = &["(Tensor[] tensors, *, Tensor out=None)"];
const AREA: &[&str] = &["(Tensor y, Tensor x, *, int dim=-1)", "(Tensor y, *, Number dx=1, int dim=-1)"];
const POWERS: &[&str] = &[
    "(Tensor input, Tensor exponent, *, Tensor out=None)",
    "(Number self, Tensor exponent, *, Tensor out=None)",
    "(Tensor input, Number exponent, *, Tensor out=None)",
];
const ADDBMM: &[&str] = &[
    "(Tensor input, Tensor batch1, Tensor batch2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "(Number beta, Tensor input, Number alpha, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated",
    "(Number beta, Tensor input, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated",
];
const ADDR: &[&str] = &[
    "(Tensor input, Tensor vec1, Tensor vec2, *, Number beta=1, Number alpha=1, Tensor out=None)",
    "(Number beta, Tensor input, Number alpha, Tensor vec1, Tensor vec2, *, Tensor out=None)|deprecated",
    "(Number beta, Tensor input, Tensor vec1, Tensor vec2, *, Tensor out=None)|deprecated",
];
const FILL: &[&str] = &["(Tensor input, Tensor value)", "(Tensor input, Number value)"];
const ELEMENTS: &[&str] = &[
    "(Tensor elements, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    "(Number element, Tensor test_elements, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
    "(Tensor elements, Number test_element, *, bool assume_unique=False, bool invert=False, Tensor out=None)",
];

/// The entries.
pub(super) const TABLE: &[Function] = &[
    inner("add_number", NUMBER, "The sum.", |a| ops::add(a.tensor(0)?, a.number(1)?).answer(a.py())),
    inner("div_number", NUMBER, "The quotient.", |a| ops::div(a.tensor(0)?, a.number(1)?).answer(a.py())),
    inner(
        "slice",
        &["(Tensor input, int dim, int? start=None, int? end=None)"],
        "A range of a dimension.",
        |a| part::slice(a.tensor(0)?, a.int(1)?, a.optional_int(2)?, a.optional_int(3)?, 1).answer(a.py()),
    ),
    inner("sub_number", NUMBER, "The difference.", |a| ops::sub(a.tensor(0)?, a.number(1)?).answer(a.py())),
    inner("mul_number", NUMBER, "The product.", |a| ops::mul(a.tensor(0)?, a.number(1)?).answer(a.py())),
    inner(
        "einsum",
        &["(str equation, Tensor[] tensors)"],
        "Sums of products in Einstein's notation.",
        |a| {
            let tensors = a.tensors(1)?;
            einsum(&a.text(0)?, &tensors.iter().collect::<Vec<_>>()).answer(a.py())
        },
    ),
    inner(
        "tensordot",
        &["(Tensor input, Tensor other, int[] dims_self, int[] dims_other, *, Tensor out=None)"],
        "Sums of products over pairs of dimensions.",
        |a| tensordot(a.tensor(0)?, a.tensor(1)?, &a.ints(2)?, &a.ints(3)?).answer(a.py()),
    ).written(&OutPolicy::PLAIN.copied().typed(types::contracted)),
    both(
        "kron",
        &["(Tensor input, Tensor other, *, Tensor out=None)"],
        "Every element times the whole of another tensor.",
        |a| kron(a.tensor(0)?, a.tensor(1)?).answer(a.py()),
    ).written(&OutPolicy::APART.refused_as("mul")),
    both("addbmm", ADDBMM, "`beta * input + alpha * sum(batch1 @ batch2)`.", |a| {
        addbmm(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.number(3)?, a.number(4)?).answer(a.py())
    }).written(&OutPolicy::OF_FIRST.shaped(Shape::Silent).typed(types::batched)),
    method("addbmm_", ADDBMM, "`addbmm` in place.", |a| {
        let (x, left, right) = (a.tensor(0)?, a.tensor(1)?, a.tensor(2)?);
        let (beta, alpha) = (a.number(3)?, a.number(4)?);
        in_place(a, addbmm_(x, left, right, beta, alpha))
    }),
    both("addr", ADDR, "`beta * input + alpha * outer(vec1, vec2)`.", |a| {
        addr(a.tensor(0)?, a.tensor(1)?, a.tensor(2)?, a.number(3)?, a.number(4)?).answer(a.py())
    }).written(&OutPolicy::ALIGNED),
    method("addr_", ADDR, "`addr` in place.", |a| {
        let (x, left, right) = (a.tensor(0)?, a.tensor(1)?, a.tensor(2)?);
        let (beta, alpha) = (a.number(3)?, a.number(4)?);
        in_place(a, addr_(x, left, right, beta, alpha))
    }),
    both("float_power", POWERS, "Powers in double precision.", |a| {
        float_power(a.operand(0)?, a.operand(1)?).answer(a.py())
    }).written(&OutPolicy::ALIGNED.refused_as("pow").typed(types::float_power).out_of_pairs()),
    method(
        "float_power_",
        &["(Tensor input, Tensor exponent)", "(Tensor input, Number exponent)"],
        "Powers in place, of double precision only.",
        |a| {
            let (x, exponent) = (a.tensor(0)?, a.operand(1)?);
            // A number is shown as one of double precision.
            let exponent = match exponent {
                Operand::Scalar(Scalar::Int(number)) => (number as f64).into(),
                other => other,
            };
            let wide = float_power_dtype(x.into(), exponent);
            if x.dtype() != wide {
                return Err(raise(Error::FloatPowerDType { dtype: x.dtype(), wide }.into()));
            }
            in_place(a, rushlight::ops::pow_(x, exponent))
        },
    ).written(&OutPolicy::PLAIN.overloaded()),
    inner("atleast_3d", &["(Tensor input)"], "The tensor with at least three dimensions.", |a| {
        atleast_3d(a.tensor(0)?).answer(a.py())
    }),
    function("dstack", JOIN, "Tensors behind each other in the third dimension.", |a| joined(a, dstack)).written(&OutPolicy::JOINED.refused_as("cat")),
    function("column_stack", JOIN, "Vectors and matrices beside each other as columns.", |a| {
        joined(a, column_stack)
    }).written(&OutPolicy::JOINED.refused_as("cat")),
    both("rot90", &["(Tensor input, int k=1, int[] dims=[0,1])"], "The tensor turned by quarters.", |a| {
        rot90(a.tensor(0)?, a.int(1)?, &a.ints(2)?).answer(a.py())
    }),
    both("fliplr", &["(Tensor input)"], "The second dimension the other way round.", |a| flipped(a, 1)),
    both("flipud", &["(Tensor input)"], "The first dimension the other way round.", |a| flipped(a, 0)),
    both(
        "select_scatter",
        &["(Tensor input, Tensor src, int dim, int index)"],
        "The tensor with another's elements in one place of a dimension.",
        |a| select_scatter(a.tensor(0)?, a.tensor(1)?, a.int(2)?, a.int(3)?).answer(a.py()),
    ),
    both(
        "slice_scatter",
        &["(Tensor input, Tensor src, int dim=0, int? start=None, int? end=None, int step=1)"],
        "The tensor with another's elements in a range of a dimension.",
        |a| {
            let (start, end) = (a.optional_int(3)?, a.optional_int(4)?);
            slice_scatter(a.tensor(0)?, a.tensor(1)?, a.int(2)?, start, end, a.int(5)?).answer(a.py())
        },
    ),
    both(
        "diagonal_scatter",
        &["(Tensor input, Tensor src, int offset=0, int dim1=0, int dim2=1)"],
        "The tensor with another's elements on a diagonal.",
        |a| diagonal_scatter(a.tensor(0)?, a.tensor(1)?, a.int(2)?, a.int(3)?, a.int(4)?).answer(a.py()),
    ),
    both(
        "as_strided_scatter",
        &["(Tensor input, Tensor src, int[] size, int[] stride, int? storage_offset=None)"],
        "The tensor with another's elements at these sizes and strides of its memory.",
        |a| {
            let (size, stride) = (a.ints(2)?, a.ints(3)?);
            as_strided_scatter(a.tensor(0)?, a.tensor(1)?, &size, &stride, a.optional_int(4)?).answer(a.py())
        },
    ),
    function("fill", FILL, "The tensor with another value everywhere.", |a| {
        fill(a.tensor(0)?, a.operand(1)?).answer(a.py())
    }),
    both(
        "diff",
        &[
            "(Tensor input, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor out=None)",
        ],
        "The differences of neighbours.",
        |a| {
            diff(a.tensor(0)?, a.int(1)?, a.int(2)?, a.optional_tensor(3), a.optional_tensor(4))
                .answer(a.py())
        },
    ).written(&OutPolicy::APART.once().refused_as("sub")),
    function("trapezoid", AREA, "The area under points that are joined by lines.", |a| area(a, trapezoid)),
    function(
        "trapz",
        &["(Tensor y, *, float dx=1, int dim=-1)", "(Tensor y, Tensor x, *, int dim=-1)"],
        "The area under points that are joined by lines.",
        |a| match a.overload() {
            0 => trapezoid(a.tensor(0)?, a.float(1)?.into(), a.int(2)?).answer(a.py()),
            _ => area(a, trapezoid),
        },
    ),
    function("cumulative_trapezoid", AREA, "The areas up to each point.", |a| area(a, cumulative_trapezoid)),
    both(
        "cov",
        &["(Tensor input, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None)"],
        "The covariances of rows.",
        |a| {
            let weights = Weights { frequencies: a.optional_tensor(2), importance: a.optional_tensor(3) };
            determined(a, cov(a.tensor(0)?, a.int(1)?, weights))
        },
    ),
    both("corrcoef", &["(Tensor input)"], "The correlations of rows.", |a| {
        determined(a, corrcoef(a.tensor(0)?))
    }),
    inner(
        "cdist",
        &["(Tensor x1, Tensor x2, float p=2, int compute_mode=0)"],
        "The distances of all pairs of rows.",
        |a| {
            let products = match a.int(3)? {
                0 => ByProducts::OfMany,
                1 => ByProducts::Always,
                _ => ByProducts::Never,
            };
            cdist(a.tensor(0)?, a.tensor(1)?, a.float(2)?, products).answer(a.py())
        },
    ),
    inner(
        "norm",
        &["(Tensor input, float p, int dim, bool keepdim)"],
        "The norms along a dimension.",
        |a| norm_along(a.tensor(0)?, a.float(1)?, a.int(2)?, a.boolean(3)).answer(a.py()),
    ).written(&OutPolicy::PLAIN.refused_as("linalg_vector_norm").typed(types::same)),
    both("dist", &["(Tensor input, Tensor other, Number p=2)"], "The norm of a difference.", |a| {
        dist(a.tensor(0)?, a.tensor(1)?, a.number(2)?).answer(a.py())
    }),
    both(
        "renorm",
        &["(Tensor input, Number p, int dim, Number maxnorm, *, Tensor out=None)"],
        "Parts scaled down to a norm.",
        |a| renorm(a.tensor(0)?, a.number(1)?, a.int(2)?, a.number(3)?).answer(a.py()),
    ).written(&OutPolicy::OF_FIRST.typed(types::same)),
    method(
        "renorm_",
        &["(Tensor input, Number p, int dim, Number maxnorm)"],
        "Scales parts down to a norm.",
        |a| {
            let (x, order, dim) = (a.tensor(0)?, a.number(1)?, a.int(2)?);
            let most = a.number(3)?;
            in_place(a, writing::through(x, &[], |x| renorm(x, order, dim, most)))
        },
    ),
    both(
        "cross",
        &["(Tensor input, Tensor other, int? dim=None, *, Tensor out=None)"],
        "Vectors crossed with others.",
        |a| {
            let (x, y) = (a.tensor(0)?, a.tensor(1)?);
            let first = || x.layout().shape().iter().position(|&size| size == 3).map(|dim| dim as i64);
            let given = a.optional_int(2)?;
            if given.is_none() {
                static TOLD: Once = Once::new();
                TOLD.warn(a.py(), CROSS)?;
            }
            match given.or_else(first) {
                Some(dim) => cross(x, y, dim).answer(a.py()),
                None => Err(raise(Error::CrossNone {}.into())),
            }
        },
    ).written(&OutPolicy::APART.refused_as("linalg_cross").typed(types::same)),
    inner(
        "linalg_cross",
        &["(Tensor input, Tensor other, *, int dim=-1, Tensor out=None)"],
        "Vectors crossed with others.",
        |a| cross(a.tensor(0)?, a.tensor(1)?, a.int(2)?).answer(a.py()),
    ).written(&OutPolicy::APART.typed(types::same)),
    both(
        "bincount",
        &["(Tensor input, Tensor? weights=None, int minlength=0)"],
        "How often every number is there.",
        |a| bincount(a.tensor(0)?, a.optional_tensor(1), a.int(2)?).answer(a.py()),
    ),
    function("isin", ELEMENTS, "Whether elements are among others.", |a| {
        let made = |index: usize| match a.optional_tensor(index) {
            Some(x) => Ok(x.clone()),
            None => {
                let number = a.number(index)?;
                create::full(&[], number, rushlight::dispatch::operand::scalar_type(number)).map_err(raise)
            }
        };
        isin(&made(0)?, &made(1)?, a.boolean(3)).answer(a.py())
    }).written(&OutPolicy::PLAIN.unrecorded().typed(types::same).out_of_pairs()),
    method("tril_", &["(Tensor input, int diagonal=0)"], "Zeros above a diagonal, in place.", |a| {
        let (x, diagonal) = (a.tensor(0)?, a.int(1)?);
        in_place(a, writing::through(x, &[], |x| triangle::tril(x, diagonal)))
    }),
    method("triu_", &["(Tensor input, int diagonal=0)"], "Zeros below a diagonal, in place.", |a| {
        let (x, diagonal) = (a.tensor(0)?, a.int(1)?);
        in_place(a, writing::through(x, &[], |x| triangle::triu(x, diagonal)))
    }),
];

fn joined(a: &Arguments<'_, '_>, join: fn(&[&Tensor]) -> Result<Tensor>) -> PyResult<Py<PyAny>> {
    let tensors = a.tensors(0)?;
    join(&tensors.iter().collect::<Vec<_>>()).answer(a.py())
}

fn flipped(a: &Arguments<'_, '_>, dim: usize) -> PyResult<Py<PyAny>> {
    let x = a.tensor(0)?;
    if x.ndim() <= dim {
        return Err(raise(Error::FlipRank { least: dim + 1 }.into()));
    }
    rearrange::flip(x, &[dim as i64]).answer(a.py())
}

fn area(
    a: &Arguments<'_, '_>,
    operation: fn(&Tensor, Operand<'_>, i64) -> Result<Tensor>,
) -> PyResult<Py<PyAny>> {
    operation(a.tensor(0)?, a.operand(1)?, a.int(2)?).answer(a.py())
}

/// Covariances, with a warning if nothing determines them.
fn determined(a: &Arguments<'_, '_>, found: Result<Covariance>) -> PyResult<Py<PyAny>> {
    let found = found.map_err(raise)?;
    if !found.is_determined {
        let text = c"cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.";
        PyErr::warn(a.py(), &a.py().get_type::<PyUserWarning>(), text, 1)?;
    }
    found.values.answer(a.py())
}

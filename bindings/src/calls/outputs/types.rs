//! Which element types a tensor may have that a result is written to. Each function is one way to convert:
//! entries say which is theirs by a variant of
//! `Types`, where it is less than `cast`.

mod matrices;

use crate::error::raise;
use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::prelude::*;
use rushlight::Error;
use rushlight::dtype::DType;
use rushlight::schema::Types;

use matrices::{
    batched, contracted, dot, eigenvalues, eigenvectors, nearest, reflected, reflected_product, reflections,
    safe_and_same, safe_linalg, safe_matrix, safe_result, triangular, vector,
};

/// A result and the tensor that it is to be written to.
pub(super) struct Conversion<'a> {
    /// The operation's name, and what it is called without that of its module.
    pub(super) name: &'a str,
    pub(super) bare: &'a str,
    pub(super) from: DType,
    pub(super) to: DType,
    /// The element type of what the result was made of, if that is one tensor.
    pub(super) source: Option<DType>,
    /// Which of several results it is; none if there is one.
    pub(super) place: Option<usize>,
}

/// What a way to convert refuses.
fn refusal(types: Types) -> fn(&Conversion<'_>) -> PyResult<()> {
    match types {
        Types::Cast => cast,
        Types::Any => any,
        Types::Same => same,
        Types::Found => found,
        Types::FoundOfOne => found_of_one,
        Types::FoundOfSame => found_of_same,
        Types::Transform => transform,
        Types::TransformBack => transform_back,
        Types::Counted => counted,
        Types::Ldexp => ldexp,
        Types::Mvlgamma => mvlgamma,
        Types::Nonzero => nonzero,
        Types::Searched => searched,
        Types::Chosen => chosen,
        Types::Extreme => extreme,
        Types::ExtremeOfAll => extreme_of_all,
        Types::Picked => picked,
        Types::Taken => taken,
        Types::Quantile => quantile,
        Types::Drawn => drawn,
        Types::Uniform => uniform,
        Types::Normal => normal,
        Types::Frequencies => frequencies,
        Types::FloatPower => float_power,
        Types::Heaviside => heaviside,
        Types::Truth => truth,
        Types::TruthOfAll => truth_of_all,
        Types::Combined => combined,
        Types::Running => running,
        Types::Cleaned => cleaned,
        Types::Logsumexp => logsumexp,
        Types::Joined => joined,
        Types::Mantissa => mantissa,
        Types::Ranked => ranked,
        Types::Frequent => frequent,
        Types::Narrowed => narrowed,
        Types::SafeMatrix => safe_matrix,
        Types::SafeLinalg => safe_linalg,
        Types::SafeAndSame => safe_and_same,
        Types::SafeResult => safe_result,
        Types::Reflected => reflected,
        Types::Eigenvalues => eigenvalues,
        Types::Eigenvectors => eigenvectors,
        Types::Reflections => reflections,
        Types::ReflectedProduct => reflected_product,
        Types::Nearest => nearest,
        Types::Triangular => triangular,
        Types::Dot => dot,
        Types::Vector => vector,
        Types::Batched => batched,
        Types::Contracted => contracted,
    }
}

impl Conversion<'_> {
    /// Refuses element types that torch does not convert the result to.
    pub(super) fn check(&self, types: Types) -> PyResult<()> {
        refusal(types)(self)
    }

    fn same(&self) -> bool {
        self.from == self.to
    }

    fn safe(&self) -> bool {
        self.from.can_cast(self.to)
    }

    fn is(&self) -> &'static str {
        self.to.title()
    }

    fn wanted(&self) -> &'static str {
        self.from.title()
    }

    /// What torch says of a result that it does not convert.
    fn unsafe_cast(&self, part: &str) -> String {
        format!(
            "Expected {part} to be safely castable from {} dtype, but got {part} with dtype {}",
            self.wanted(),
            self.is()
        )
    }
}

/// What torch's own table of types calls one.
fn name_of_meta(dtype: DType) -> &'static str {
    match dtype {
        DType::UInt8 => "unsigned char",
        DType::Int8 => "signed char",
        DType::Int16 => "short int",
        DType::Int64 => "long int",
        DType::UInt16 => "unsigned short",
        DType::UInt32 => "unsigned int",
        DType::UInt64 => "unsigned long",
        other => other.name_in_c(),
    }
}

/// Refuses with these words unless the types go together.
fn refuse_unless(fine: bool, words: impl FnOnce() -> String) -> PyResult<()> {
    if fine { Ok(()) } else { Err(PyRuntimeError::new_err(words())) }
}

/// What promotion converts.
fn cast(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || {
        format!("result type {} can't be cast to the desired output type {}", c.wanted(), c.is())
    })
}

/// Anything.
fn any(_: &Conversion<'_>) -> PyResult<()> {
    Ok(())
}

/// No other type.
fn same(c: &Conversion<'_>) -> PyResult<()> {
    match c.same() {
        true => Ok(()),
        false => Err(raise(Error::GatherOutput { expected: c.from, got: c.to }.into())),
    }
}

/// No other type, in the words of elementwise operations that do not promote.
fn found(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || format!("Found dtype {} but expected {}", c.is(), c.wanted()))
}

/// `found` of an operation of one tensor, `cast` of several.
fn found_of_one(c: &Conversion<'_>) -> PyResult<()> {
    if c.source.is_some() { found(c) } else { cast(c) }
}

/// `found` of a result of the same type as the tensor, `cast` of another.
fn found_of_same(c: &Conversion<'_>) -> PyResult<()> {
    if c.source == Some(c.from) { found(c) } else { cast(c) }
}

/// Fourier transforms: what is complex stays that, and integers take none.
fn transform(c: &Conversion<'_>) -> PyResult<()> {
    // In two dimensions it is that in any number.
    transformed(c, &c.bare.replace('2', "n"))
}

/// The same of transforms back, which torch names after those forth.
fn transform_back(c: &Conversion<'_>) -> PyResult<()> {
    transformed(c, "fftn")
}

fn transformed(c: &Conversion<'_>, shown: &str) -> PyResult<()> {
    let (fine, kind) = match c.from.is_complex() {
        true => (c.to.is_complex(), "complex"),
        false => (c.to.is_float(), "floating point"),
    };
    refuse_unless(fine, || format!("{shown} expects a {kind} output tensor, but got {}", c.is()))
}

/// Numbers of elements between bounds.
fn counted(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!(
            "torch.histogram: input tensor and hist tensor should have the same dtype, but got input {} and hist {}",
            name_of_meta(c.from),
            name_of_meta(c.to)
        )
    })
}

/// Products with powers of two.
fn ldexp(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || format!("ldexp can't be cast to the desired output type {}", c.is()))
}

/// The gamma function of several dimensions.
fn mvlgamma(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || {
        let wanted = c.wanted();
        format!("mvlgamma: result type {wanted} can't be cast to the desired output type {wanted}")
    })
}

/// Places of what is not zero.
fn nonzero(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!("{}: Expected out tensor to have scalar type Long but got scalar type{}", c.name, c.is())
    })
}

/// Places in a sorted row.
fn searched(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!(
            "torch.searchsorted(): output tensor's dtype is wrong, it can only be Int(int32) or Long(int64) depending \
             on whether out_int32 flag is True, but we got output tensor's dtype {} and out_int32 flag is {}",
            c.is(),
            if c.from == DType::Int32 { "True" } else { "False" }
        )
    })
}

/// Choices between two tensors.
fn chosen(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || format!("Expected out type to be {} but got {}", c.wanted(), c.is()))
}

/// Extremes along dimensions.
fn extreme(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!(
            "Expected the dtype for input and out to match, but got {} for input's dtype and {} for out's dtype.",
            c.wanted(),
            c.is()
        )
    })
}

/// The extreme of all elements; of two tensors, what promotion converts.
fn extreme_of_all(c: &Conversion<'_>) -> PyResult<()> {
    match c.place {
        Some(_) => same(c),
        None if c.source != Some(c.from) => cast(c),
        None => refuse_unless(c.safe(), || CAN_CAST.to_owned()),
    }
}

const CAN_CAST: &str = "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be \
                        true, but got false.  (Could this error message be improved?  If so, please report an \
                        enhancement request to PyTorch.)";

/// Elements that are picked.
fn picked(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || format!("{}(): self and result must have the same scalar type", c.name))
}

/// Elements that are picked by their places in memory.
fn taken(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!(
            "take(): self and out expected to have the same dtype, but got self.dtype = {} and out.dtype = {}",
            c.wanted(),
            c.is()
        )
    })
}

/// Quantiles.
fn quantile(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || "quantile() out tensor must be same dtype as the input tensor".to_owned())
}

/// Places that are drawn.
fn drawn(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || format!("multinomial expects Long tensor out, got: {}", c.is()))
}

/// Random numbers between two others.
fn uniform(c: &Conversion<'_>) -> PyResult<()> {
    implemented("check_uniform_bounds", c)
}

/// Random numbers about one.
fn normal(c: &Conversion<'_>) -> PyResult<()> {
    implemented("normal_kernel_cpu", c)
}

/// Whether there are numbers of that type where it would take integers.
fn implemented(operation: &'static str, c: &Conversion<'_>) -> PyResult<()> {
    match c.to.is_differentiable() {
        true => Ok(()),
        false => Err(raise(Error::NotImplementedFor { operation, dtype: c.to }.into())),
    }
}

/// Frequencies, which are no integers and made of none.
fn frequencies(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.to.is_differentiable(), || {
        format!("{} requires a floating point or complex dtype", c.bare)
    })?;
    match c.to.is_complex() {
        true => Err(raise(Error::NotImplementedFor { operation: "arange_cpu", dtype: c.to }.into())),
        false => Ok(()),
    }
}

/// Powers in double precision.
fn float_power(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!(
            "the output given to float_power has dtype {} but the operation's result requires dtype {}",
            c.is(),
            c.wanted()
        )
    })
}

/// Steps.
fn heaviside(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        "heaviside is not yet implemented for tensors with different dtypes.".to_owned()
    })
}

/// Questions about signs.
fn truth(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || format!("{} does not support non-boolean outputs.", c.name))
}

/// Whether all or any elements hold: once that was told in bytes.
fn truth_of_all(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same() || c.to == DType::UInt8, || {
        format!("{} only supports bool tensor for result, got: {}", c.name, c.is())
    })
}

/// Complex numbers of two parts.
fn combined(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!(
            "Expected object of scalar type {} but got scalar type {} for argument 'out'",
            c.wanted(),
            c.is()
        )
    })
}

/// Extremes up to each element, and logarithms of sums.
fn running(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || format!("expected scalar_type {} but found {}", c.wanted(), c.is()))
}

/// Numbers in place of what is none.
fn cleaned(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        format!("nan_to_num: dtype of out: {} should be same as input: {}", c.is(), c.wanted())
    })
}

/// Logarithms of sums.
fn logsumexp(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.safe(), || {
        format!("logsumexp(): Expected floating point type for result tensor, but got: {}", c.is())
    })
}

/// Joined tensors.
fn joined(c: &Conversion<'_>) -> PyResult<()> {
    match c.safe() {
        true => Ok(()),
        false => {
            let text =
                format!("torch.cat(): input types can't be cast to the desired output type {}", c.is());
            Err(PyTypeError::new_err(text))
        }
    }
}

/// Mantissas and exponents.
fn mantissa(c: &Conversion<'_>) -> PyResult<()> {
    if c.place == Some(1) {
        return same(c);
    }
    refuse_unless(c.same(), || {
        format!(
            "torch.frexp() expects mantissa to have dtype {} but got {}",
            name_of_meta(c.from),
            name_of_meta(c.to)
        )
    })
}

/// The element of a rank, and its place.
fn ranked(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        match c.place {
            Some(1) => "output indices must be of scalar type Long",
            _ => "output values must be of same type as input",
        }
        .to_owned()
    })
}

/// The most frequent element, and its place.
fn frequent(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || {
        let part = if c.place == Some(1) { "indices" } else { "values" };
        format!("expected scalar type '{}' but got '{}' for {part} output", c.wanted(), c.is())
    })
}

/// Parts of a dimension, copied.
fn narrowed(c: &Conversion<'_>) -> PyResult<()> {
    refuse_unless(c.same(), || NARROWED.to_owned())
}

const NARROWED: &str = "Expected self.dtype() == output.dtype() to be true, but got false.  (Could this error message be \
                        improved?  If so, please report an enhancement request to PyTorch.)";

//! The distributions that numbers are drawn from: their parameters, what is checked about them, and
//! the kernel that draws. Tensors stand in `random`.

use std::num::NonZeroU64;

use crate::dispatch::apply::Outputs;
use crate::dispatch::modes::intercept;
use crate::dispatch::modes::plain::{Plain, Portable, Reader, Row, damaged};
use crate::dispatch::operand::Value;
use crate::dtype::{DType, Element};
use crate::error::{Error, Result};
use crate::kernels::random::{self as kernels, Generator};
use crate::ops::creation::copy;
use crate::ops::creation::create::integers;
use crate::ops::sampling::random;
use crate::schema::warn;
use crate::tensor::Array;

/// A distribution with its parameters.
#[derive(Clone, Debug)]
pub enum Distribution {
    /// Uniform over [low, high).
    Uniform {
        /// Where the interval begins.
        low: f64,
        /// Where it ends.
        high: f64,
    },
    /// Normal.
    Normal {
        /// Its mean.
        mean: f64,
        /// Its standard deviation.
        std: f64,
    },
    /// Exponential.
    Exponential {
        /// One over the mean.
        rate: f64,
    },
    /// Ones with a probability, else zeros.
    Bernoulli {
        /// The probability.
        probability: f64,
    },
    /// How many trials the first success takes.
    Geometric {
        /// The probability of success.
        probability: f64,
    },
    /// Cauchy.
    Cauchy {
        /// Its median.
        median: f64,
        /// Half of its width at half of its height.
        scale: f64,
    },
    /// Numbers whose logarithms are normally distributed.
    LogNormal {
        /// The mean of the logarithms.
        mean: f64,
        /// The standard deviation of the logarithms.
        std: f64,
    },
    /// Integers of [low, high).
    Integers {
        /// The least.
        low: i64,
        /// One more than the greatest.
        high: i64,
        /// Whether no `low` was named, which decides torch's name of the node.
        from_zero: bool,
    },
    /// Integers from `low` to the greatest that the type holds.
    From {
        /// The least.
        low: i64,
    },
    /// Integers from zero to the greatest that the type holds.
    Natural,
}

impl Distribution {
    /// torch's name of the node that an in-place draw leaves.
    pub(crate) fn node(&self) -> &'static str {
        match self {
            Distribution::Uniform { .. } => "UniformBackward0",
            Distribution::Normal { .. } => "NormalBackward0",
            Distribution::Exponential { .. } => "ExponentialBackward0",
            Distribution::Bernoulli { .. } => "BernoulliBackward2",
            Distribution::Geometric { .. } => "GeometricBackward0",
            Distribution::Cauchy { .. } => "CauchyBackward0",
            Distribution::LogNormal { .. } => "LogNormalBackward0",
            Distribution::Integers { from_zero: false, .. } | Distribution::From { .. } => "RandomBackward0",
            Distribution::Integers { .. } => "RandomBackward1",
            Distribution::Natural => "RandomBackward2",
        }
    }

    /// The distribution of the parts of complex numbers, if they can be drawn: the variance of normal
    /// ones is that of both parts together.
    pub(crate) fn of_parts(&self) -> Option<Distribution> {
        match *self {
            Distribution::Uniform { .. } => Some(self.clone()),
            Distribution::Normal { mean, std } if std >= 0.0 => {
                Some(Distribution::Normal { mean, std: std / std::f64::consts::SQRT_2 })
            }
            _ => None,
        }
    }

    /// Whether the parameters make sense, and elements of this type can be drawn.
    pub(crate) fn check(&self, dtype: DType) -> Result<()> {
        let parameter = |operation, argument, verb, range, value| {
            Err(Error::DistributionParameter { operation, argument, range, verb, value }.into())
        };
        // Types that are held in memory and no more have no kernels, but for halves.
        let is_held = dtype.is_stored() && !dtype.is_half();
        let refused = |operation| match dtype.is_complex() || is_held {
            true => Err(Error::NotImplementedFor { operation, dtype }.into()),
            false => Ok(()),
        };
        let only_float = |operation| match dtype.is_float() && !is_held {
            true => Ok(()),
            false => Err(Error::NotImplementedFor { operation, dtype }.into()),
        };
        match *self {
            Distribution::Uniform { low, high } => {
                only_float("check_uniform_bounds")?;
                check_interval(low, high, dtype)
            }
            // Not a number is not negative: torch draws it.
            Distribution::Normal { std, .. } if std < 0.0 => Err(Error::NormalDeviation { std }.into()),
            Distribution::Normal { .. } => only_float("normal_kernel_cpu"),
            Distribution::Exponential { .. } if !dtype.is_float() => {
                Err(Error::ExponentialDType { dtype }.into())
            }
            Distribution::Exponential { .. } if is_held => refused("exponential_cpu"),
            Distribution::Exponential { rate } if rate.is_nan() || rate <= 0.0 => {
                parameter("exponential_", "lambda", "found lambda=", "> 0.0", rate)
            }
            Distribution::Bernoulli { probability } if !(0.0..=1.0).contains(&probability) => {
                parameter("bernoulli_", "p", "got p=", "to be in [0, 1]", probability)
            }
            Distribution::Geometric { probability } if !(probability > 0.0 && probability < 1.0) => {
                parameter("geometric_", "p", "got p=", "to be in (0, 1)", probability)
            }
            Distribution::Cauchy { scale, .. } if scale.is_nan() || scale <= 0.0 => {
                parameter("cauchy_", "sigma", "found sigma=", "> 0.0", scale)
            }
            Distribution::Cauchy { .. } if !dtype.is_float() => Err(Error::CauchyDType { dtype }.into()),
            Distribution::Cauchy { .. } => only_float("cauchy_cpu"),
            Distribution::LogNormal { std, .. } if std.is_nan() || std <= 0.0 => {
                parameter("log_normal_", "std", "found std=", "> 0.0", std)
            }
            Distribution::LogNormal { .. } => only_float("log_normal_cpu"),
            Distribution::Integers { .. } | Distribution::From { .. } if dtype.is_complex() => {
                Err(Error::RandomComplex {}.into())
            }
            Distribution::Integers { low, high, .. } => {
                if low >= high {
                    return Err(Error::RandomBounds { low, high }.into());
                }
                if dtype.is_float() {
                    refused("random_update_from_to")?;
                }
                check_integer(low, "from", dtype)?;
                check_integer(high - 1, "to - 1", dtype)
            }
            Distribution::From { .. } if dtype.is_float() && is_held => refused("random_from_to_range_calc"),
            Distribution::From { .. } if dtype == DType::UInt64 => {
                Err(Error::RandomRange { argument: "to - 1", dtype }.into())
            }
            Distribution::From { low } => check_integer(low, "from", dtype),
            Distribution::Bernoulli { .. } => refused("bernoulli_scalar_cpu_"),
            Distribution::Geometric { .. } if dtype == DType::Bool => {
                Err(Error::NotImplementedFor { operation: "geometric_cpu", dtype }.into())
            }
            Distribution::Geometric { .. } => refused("geometric_cpu"),
            Distribution::Natural => refused("random_kernel_cpu"),
            _ => Ok(()),
        }
    }

    /// Draws every element of an array in row-major order. The parameters were checked.
    /// `in_blocks` says that long runs of normal numbers may be drawn in blocks.
    pub(crate) fn draw(&self, generator: &mut Generator, out: &Array, in_blocks: bool) -> Result<()> {
        if out.dtype.is_half() {
            return self.draw_half(generator, out, in_blocks);
        }
        match *self {
            Distribution::Uniform { low, high } => {
                dispatch!(float out.dtype, T => written::<T>(out, |out| kernels::fill_uniform(generator, out, low, high)), else {
                    not_for(out.dtype)
                })
            }
            Distribution::Normal { mean, std } => dispatch!(float out.dtype, T => match in_blocks {
                true => written::<T>(out, |out| kernels::fill_normal(generator, out, mean, std)),
                false => written::<T>(out, |out| kernels::fill_normal_singly(generator, out, mean, std)),
            }, else { not_for(out.dtype) }),
            Distribution::Exponential { rate } => {
                dispatch!(float out.dtype, T => written::<T>(out, |out| kernels::fill_exponential(generator, out, rate)), else {
                    not_for(out.dtype)
                })
            }
            Distribution::Cauchy { median, scale } => {
                dispatch!(float out.dtype, T => written::<T>(out, |out| kernels::fill_cauchy(generator, out, median, scale)), else {
                    not_for(out.dtype)
                })
            }
            Distribution::LogNormal { mean, std } => {
                dispatch!(float out.dtype, T => written::<T>(out, |out| kernels::fill_log_normal(generator, out, mean, std)), else {
                    not_for(out.dtype)
                })
            }
            Distribution::Bernoulli { probability } => dispatch!(ordered out.dtype, T => {
                written::<T>(out, |out| kernels::fill_bernoulli(generator, out, probability));
            }, else { not_for(out.dtype) }),
            Distribution::Geometric { probability } => dispatch!(ordered out.dtype, T => {
                written::<T>(out, |out| kernels::fill_geometric(generator, out, probability));
            }, else { not_for(out.dtype) }),
            Distribution::Integers { low, high, .. } => {
                fill_integers(generator, out, low, high.wrapping_sub(low) as u64)?;
            }
            Distribution::From { low } => {
                let range = greatest(out.dtype).wrapping_sub(low).wrapping_add(1) as u64;
                fill_integers(generator, out, low, range)?;
            }
            Distribution::Natural => {
                dispatch!(ordered out.dtype, T => written::<T>(out, |out| kernels::fill_natural(generator, out)), else {
                    not_for(out.dtype)
                });
            }
        }
        Ok(())
    }
}

impl Distribution {
    /// `draw` of numbers of a half type: in single precision, and rounded.
    #[cold]
    fn draw_half(&self, generator: &mut Generator, out: &Array, in_blocks: bool) -> Result<()> {
        let mut wide = Array::zeroed(&out.layout, DType::Float32)?;
        let distribution = match *self {
            Distribution::Natural => {
                Distribution::Integers { low: 0, high: greatest(out.dtype) + 1, from_zero: true }
            }
            Distribution::From { low } => {
                Distribution::Integers { low, high: greatest(out.dtype) + 1, from_zero: false }
            }
            ref other => other.clone(),
        };
        match distribution {
            Distribution::Normal { mean, std } if in_blocks && out.layout.numel() >= 16 => {
                let numbers = wide.owned::<f32>();
                let (whole, rest) = (numbers.len() / 16 * 16, numbers.len() % 16);
                kernels::fill_normal(generator, &mut numbers[..whole], mean, std);
                if rest > 0 {
                    // What is left over is not drawn before the last sixteen are drawn anew.
                    kernels::fill_normal(generator, &mut numbers[whole + rest - 16..], mean, std);
                }
            }
            distribution => distribution.draw(generator, &wide, in_blocks)?,
        }
        if let Distribution::Uniform { low, high } = *self {
            let end = out.dtype.rounded(high);
            // Rounding may reach the end, which does not belong to the interval.
            let at_end = |x: &&mut f32| out.dtype.rounded(f64::from(**x)) == end;
            wide.owned::<f32>().iter_mut().filter(at_end).for_each(|x| *x = low as f32);
        }
        copy::write(out, &wide)
    }
}

/// Integers of [base, base + range); of all 64 bits if the range is zero, as which 2⁶⁴ is written.
fn fill_integers(generator: &mut Generator, out: &Array, base: i64, range: u64) -> Result<()> {
    if out.dtype.is_stored() {
        let wide = Array::zeroed(&out.layout, DType::Int64)?;
        fill_integers(generator, &wide, base, range)?;
        return copy::write(out, &wide);
    }
    dispatch!(ordered out.dtype, T => match NonZeroU64::new(range) {
        Some(range) => written::<T>(out, |out| kernels::fill_integers(generator, out, base, range)),
        None => written::<T>(out, |out| kernels::fill_all_integers(generator, out)),
    }, else { not_for(out.dtype) });
    Ok(())
}

fn not_for(dtype: DType) {
    unreachable!("{dtype:?} was refused before")
}

/// Has the elements of a row-major array overwritten.
fn written<T: Element>(array: &Array, write: impl FnOnce(&mut [T])) {
    let is_in_order = array.overwrite_slice([], write);
    assert!(is_in_order, "the array is row-major");
}

/// The greatest integer up to which the type holds them all.
fn greatest(dtype: DType) -> i64 {
    match dtype {
        DType::Bool => 1,
        DType::Float16 => 1 << 11,
        DType::BFloat16 => 1 << 8,
        DType::Float32 => 1 << 24,
        DType::Float64 => 1 << 53,
        dtype => *integers(dtype).end() as i64,
    }
}

fn check_integer(value: i64, argument: &'static str, dtype: DType) -> Result<()> {
    let fits = match dtype {
        DType::Bool => (0..=1).contains(&value),
        DType::Float16 => value.unsigned_abs() <= 65504,
        dtype if dtype.is_float() => true,
        dtype => integers(dtype).contains(&i128::from(value)),
    };
    if !fits {
        return Err(Error::RandomRange { argument, dtype }.into());
    }
    // So many binary digits are counted without gaps.
    let digits = match dtype {
        DType::Float16 => 11,
        DType::BFloat16 => 8,
        DType::Float32 => f32::MANTISSA_DIGITS,
        DType::Float64 => f64::MANTISSA_DIGITS,
        _ => return Ok(()),
    };
    match value.unsigned_abs() > 1 << digits {
        true => warn(Error::RandomPrecision { argument, digits, dtype }),
        false => Ok(()),
    }
}

fn check_interval(low: f64, high: f64, dtype: DType) -> Result<()> {
    let limit = dtype.greatest();
    for (argument, bound) in [("from", low), ("to", high)] {
        if bound.is_nan() || bound.abs() > limit {
            return Err(Error::RandomRange { argument, dtype }.into());
        }
    }
    if low > high {
        return Err(Error::UniformBounds { low, high }.into());
    }
    if high - low > limit {
        return Err(Error::UniformWidth { low, high, dtype }.into());
    }
    Ok(())
}

/// A draw of all elements by the generator of the process, as a recorded operation.
impl Portable for Distribution {
    const TARGETS: usize = 1;

    fn compute(&self, operands: &[Value]) -> Result<Outputs> {
        random::fill(&intercept::only(operands)?.array(), self, None).map(|()| Outputs::new())
    }
}

impl Plain for Distribution {
    fn write(&self, to: &mut Vec<u8>) {
        match *self {
            Distribution::Uniform { low, high } => (0u8, [low, high]).write(to),
            Distribution::Normal { mean, std } => (1u8, [mean, std]).write(to),
            Distribution::Exponential { rate } => (2u8, rate).write(to),
            Distribution::Bernoulli { probability } => (3u8, probability).write(to),
            Distribution::Geometric { probability } => (4u8, probability).write(to),
            Distribution::Cauchy { median, scale } => (5u8, [median, scale]).write(to),
            Distribution::LogNormal { mean, std } => (6u8, [mean, std]).write(to),
            Distribution::Integers { low, high, from_zero } => ((7u8, from_zero), [low, high]).write(to),
            Distribution::From { low } => (8u8, low).write(to),
            Distribution::Natural => 9u8.write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Distribution> {
        let kind = u8::read(from)?;
        Ok(match kind {
            0 => <[f64; 2]>::read(from).map(|[low, high]| Distribution::Uniform { low, high })?,
            1 => <[f64; 2]>::read(from).map(|[mean, std]| Distribution::Normal { mean, std })?,
            2 => f64::read(from).map(|rate| Distribution::Exponential { rate })?,
            3 => f64::read(from).map(|probability| Distribution::Bernoulli { probability })?,
            4 => f64::read(from).map(|probability| Distribution::Geometric { probability })?,
            5 => <[f64; 2]>::read(from).map(|[median, scale]| Distribution::Cauchy { median, scale })?,
            6 => <[f64; 2]>::read(from).map(|[mean, std]| Distribution::LogNormal { mean, std })?,
            7 => {
                let (from_zero, [low, high]) = <(bool, [i64; 2])>::read(from)?;
                Distribution::Integers { low, high, from_zero }
            }
            8 => i64::read(from).map(|low| Distribution::From { low })?,
            9 => Distribution::Natural,
            _ => return Err(damaged("a distribution is unknown")),
        })
    }
}

/// How a draw is written as plain data.
pub(crate) const ROWS: &[Row] = &[Row::of::<Distribution>("draw")];

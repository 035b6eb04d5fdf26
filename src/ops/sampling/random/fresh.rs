//! The entries of tensors that are drawn.

use super::*;
use crate::dtype::Scalar;
use crate::ops::Operand;
use crate::schema::{made, made_like, options};

const STANDARD_UNIFORM: Distribution = Distribution::Uniform { low: 0.0, high: 1.0 };
const STANDARD_NORMAL: Distribution = Distribution::Normal { mean: 0.0, std: 1.0 };

const LIKE: &[&str] = &[
    "(Tensor input, *, Generator? generator=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False, memory_format? memory_format=None)",
];

/// The entries.
pub const FRESH: &[Entry] = &[
    function(
        "rand",
        &[options!("(int[] size, *, Generator? generator=None, Tensor out=None, ")],
        "A tensor of samples of the uniform distribution on [0, 1).",
        |a| fresh(a, &STANDARD_UNIFORM),
    )
    .written(&OutPolicy::MADE.unknown("rand").typed(Types::Uniform).drawn(|_| true))
    .operators(&[("-", "rand(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "randn",
        &[options!("(int[] size, *, Generator? generator=None, Tensor out=None, ")],
        "A tensor of samples of the standard normal distribution.",
        |a| fresh(a, &STANDARD_NORMAL),
    )
    .written(&OutPolicy::PLAIN.resizing().typed(Types::Normal).drawn(|_| true))
    .operators(&[("-", "randn(int[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function("rand_like", LIKE, "Samples of the uniform distribution on [0, 1), with the size and dtype of another tensor.", |a| {
        like(a, &STANDARD_UNIFORM)
    })
    .operators(&[("-", "rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    function("randn_like", LIKE, "Samples of the standard normal distribution, with the size and dtype of another tensor.", |a| {
        like(a, &STANDARD_NORMAL)
    })
    .operators(&[("-", "randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    function(
        "randint",
        &[
            options!("(SymInt high, int[] size, *, Generator? generator, Tensor out=None, "),
            options!("(SymInt high, int[] size, *, Tensor out=None, "),
            options!("(SymInt low, SymInt high, int[] size, *, Generator? generator, Tensor out=None, "),
            options!("(SymInt low, SymInt high, int[] size, *, Tensor out=None, "),
        ],
        "Integers sampled uniformly from `low` to `high - 1`.",
        integers,
    )
    .written(&OutPolicy::PLAIN.unknown("randint").typed(Types::Any).drawn(|_| true))
    .operators(&[("-", "randint.low(int low, int high, int[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"), ("-", "randint(int high, int[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "randint_like",
        &[
            options!(
                "(Tensor input, SymInt low, SymInt high, *, Generator? generator=None, memory_format? memory_format=None, "
            ),
            options!(
                "(Tensor input, SymInt high, *, Generator? generator=None, memory_format? memory_format=None, "
            ),
        ],
        "Integers sampled uniformly from `low` to `high - 1`, with the size and dtype of another tensor.",
        integers_like,
    )
    .operators(&[("-", "randint_like(Tensor self, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"), ("-", "randint_like.low_dtype(Tensor self, int low, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    function(
        "randperm",
        &[options!("(SymInt n, *, Generator? generator=None, Tensor out=None, ")],
        "A random permutation of the integers from 0 to `n - 1`.",
        |a| {
            let (n, generator) = (a.int(0)?, a.generator(1));
            made(a, 3, DType::Int64, |dtype| randperm(n, dtype, generator.as_ref()))
        },
    )
    .written(&OutPolicy::PLAIN.unknown("randperm").drawn(|_| true))
    .operators(&[("-", "randperm(int n, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "normal",
        &[
            "(Tensor mean, Tensor std, *, Generator? generator=None, Tensor out=None)",
            "(Tensor mean, float std=1, *, Generator? generator=None, Tensor out=None)",
            "(float mean, Tensor std, *, Generator? generator=None, Tensor out=None)",
            options!("(float mean, float std, int[] size, *, Generator? generator=None, Tensor out=None, "),
        ],
        "Samples of normal distributions with the given means and standard deviations.",
        drawn_about,
    )
    .written(
        &OutPolicy::OF_FIRST
            .typed(Types::Normal)
            .drawn(|given| given.number)
            .out_as(|given| given.named(2, ".Tensor_Tensor_out", ".Tensor_float_out")),
    )
    .operators(&[("-", "normal.Tensor_Tensor"), ("-", "normal.Tensor_float@1"), ("-", "normal.float_Tensor@2")]),
    function(
        "seed",
        &["() -> int"],
        "Seeds the default random number generator with a number that is not deterministic, and returns that.",
        |_| Ok(Reply::Seed(Generator::process_wide().seed())),
    ),
    function("initial_seed", &["() -> int"], "The seed of the default random number generator.", |_| {
        Ok(Reply::Seed(Generator::process_wide().initial_seed()))
    }),
];

fn fresh(arguments: &dyn Arguments, distribution: &Distribution) -> Result<Reply> {
    let (size, generator) = (arguments.ints(0)?, arguments.generator(1));
    made(arguments, 3, default_dtype::get(), |dtype| draw(&size, dtype, distribution, generator.as_ref()))
}

fn like(arguments: &dyn Arguments, distribution: &Distribution) -> Result<Reply> {
    let generator = arguments.generator(1);
    made_like(arguments, 2, 7, |x, dtype| draw_like(x, dtype, distribution, generator.as_ref()))
}

fn integers(arguments: &dyn Arguments) -> Result<Reply> {
    let overload = arguments.overload();
    let (low, first) = if overload >= 2 { (arguments.int(0)?, 1) } else { (0, 0) };
    let (high, size) = (arguments.int(first)?, arguments.ints(first + 1)?);
    let named = overload.is_multiple_of(2);
    let generator = if named { arguments.generator(first + 2) } else { None };
    let distribution = Distribution::Integers { low, high, from_zero: false };
    made(arguments, first + 3 + usize::from(named), DType::Int64, |dtype| {
        draw(&size, dtype, &distribution, generator.as_ref())
    })
}

fn integers_like(arguments: &dyn Arguments) -> Result<Reply> {
    let (low, first) = if arguments.overload() == 0 { (arguments.int(1)?, 2) } else { (0, 1) };
    let distribution = Distribution::Integers { low, high: arguments.int(first)?, from_zero: false };
    let generator = arguments.generator(first + 1);
    made_like(arguments, first + 3, first + 2, |x, dtype| {
        draw_like(x, dtype, &distribution, generator.as_ref())
    })
}

fn drawn_about(arguments: &dyn Arguments) -> Result<Reply> {
    if arguments.overload() == 3 {
        let (mean, std, size) = (arguments.float(0)?, arguments.float(1)?, arguments.ints(2)?);
        let generator = arguments.generator(3);
        return made(arguments, 5, default_dtype::get(), |dtype| {
            draw(&size, dtype, &Distribution::Normal { mean, std }, generator.as_ref())
        });
    }
    let parameter = |index: usize| match arguments.optional_tensor(index) {
        Some(tensor) => Ok(Operand::Tensor(tensor)),
        None => arguments.float(index).map(|value| Operand::Scalar(Scalar::Float(value))),
    };
    if arguments.optional_tensor(1).is_some_and(|std| std.dtype().is_complex()) {
        return Err(Error::NormalDeviationsComplex {}.into());
    }
    let generator = arguments.generator(2);
    normal(parameter(0)?, parameter(1)?, generator.as_ref()).reply()
}

//! Random tensors, and the generator that they are drawn from where none is named.
use super::entries::function;
use super::factory::{made, made_like, options};
use crate::calls::callable::Function;
use crate::values::arguments::Arguments;
use crate::values::generator::{self, Generator};
use crate::values::returns::ToPython;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use rushlight::dispatch::default_dtype;
use rushlight::dtype::{DType, Scalar};
use rushlight::ops::Operand;
use rushlight::ops::sampling::random;
use rushlight::ops::sampling::random::Distribution;
use rushlight::schema::{OutPolicy, Types};

const STANDARD_UNIFORM: Distribution = Distribution::Uniform { low: 0.0, high: 1.0 };
const STANDARD_NORMAL: Distribution = Distribution::Normal { mean: 0.0, std: 1.0 };

const LIKE: &[&str] = &[
    "(Tensor input, *, Generator? generator=None, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, bool? requires_grad=False, memory_format? memory_format=None)",
];

/// The entries.
pub(super) const TABLE: &[Function] = &[
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
            options!("(int high, int[] size, *, Generator? generator, Tensor out=None, "),
            options!("(int high, int[] size, *, Tensor out=None, "),
            options!("(int low, int high, int[] size, *, Generator? generator, Tensor out=None, "),
            options!("(int low, int high, int[] size, *, Tensor out=None, "),
        ],
        "Integers sampled uniformly from `low` to `high - 1`.",
        randint,
    )
    .written(&OutPolicy::PLAIN.unknown("randint").typed(Types::Any).drawn(|_| true))
    .operators(&[("-", "randint.low(int low, int high, int[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"), ("-", "randint(int high, int[] size, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor")]),
    function(
        "randint_like",
        &[
            options!(
                "(Tensor input, int low, int high, *, Generator? generator=None, memory_format? memory_format=None, "
            ),
            options!(
                "(Tensor input, int high, *, Generator? generator=None, memory_format? memory_format=None, "
            ),
        ],
        "Integers sampled uniformly from `low` to `high - 1`, with the size and dtype of another tensor.",
        randint_like,
    )
    .operators(&[("-", "randint_like(Tensor self, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor"), ("-", "randint_like.low_dtype(Tensor self, int low, int high, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor")]),
    function(
        "randperm",
        &[options!("(int n, *, Generator? generator=None, Tensor out=None, ")],
        "A random permutation of the integers from 0 to `n - 1`.",
        |a| {
            let (n, generator) = (a.int(0)?, a.generator(1));
            made(a, 3, DType::Int64, |dtype| random::randperm(n, dtype, generator.as_ref()))
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
        normal,
    )
    .written(
        &OutPolicy::OF_FIRST
            .typed(Types::Normal)
            .drawn(|given| given.number)
            .out_as(|given| given.named(2, ".Tensor_Tensor_out", ".Tensor_float_out")),
    )
    .operators(&[("-", "normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor"), ("-", "normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor"), ("-", "normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor")]),
    function(
        "manual_seed",
        &["(object seed) -> Generator"],
        "Seeds the default random number generator, and returns it.",
        manual_seed,
    ),
    function(
        "seed",
        &["() -> int"],
        "Seeds the default random number generator with a number that is not deterministic, and returns that.",
        |a| Ok(PyInt::new(a.py(), random::Generator::process_wide().seed()).into_any().unbind()),
    ),
    function(
        "initial_seed",
        &["() -> int"],
        "The seed of the default random number generator.",
        |a| Ok(PyInt::new(a.py(), random::Generator::process_wide().initial_seed()).into_any().unbind()),
    ),
];

fn fresh(arguments: &Arguments<'_, '_>, distribution: &Distribution) -> PyResult<Py<PyAny>> {
    let (size, generator) = (arguments.ints(0)?, arguments.generator(1));
    made(arguments, 3, default_dtype::get(), |dtype| {
        random::draw(&size, dtype, distribution, generator.as_ref())
    })
}

fn like(arguments: &Arguments<'_, '_>, distribution: &Distribution) -> PyResult<Py<PyAny>> {
    let generator = arguments.generator(1);
    made_like(arguments, 2, 7, |x, dtype| random::draw_like(x, dtype, distribution, generator.as_ref()))
}

fn randint(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let overload = arguments.overload();
    let (low, first) = if overload >= 2 { (arguments.int(0)?, 1) } else { (0, 0) };
    let (high, size) = (arguments.int(first)?, arguments.ints(first + 1)?);
    let named = overload.is_multiple_of(2);
    let generator = if named { arguments.generator(first + 2) } else { None };
    let distribution = Distribution::Integers { low, high, from_zero: false };
    made(arguments, first + 3 + usize::from(named), DType::Int64, |dtype| {
        random::draw(&size, dtype, &distribution, generator.as_ref())
    })
}

fn randint_like(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (low, first) = if arguments.overload() == 0 { (arguments.int(1)?, 2) } else { (0, 1) };
    let distribution = Distribution::Integers { low, high: arguments.int(first)?, from_zero: false };
    let generator = arguments.generator(first + 1);
    made_like(arguments, first + 3, first + 2, |x, dtype| {
        random::draw_like(x, dtype, &distribution, generator.as_ref())
    })
}

fn normal(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    if arguments.overload() == 3 {
        let (mean, std, size) = (arguments.float(0)?, arguments.float(1)?, arguments.ints(2)?);
        let generator = arguments.generator(3);
        return made(arguments, 5, default_dtype::get(), |dtype| {
            random::draw(&size, dtype, &Distribution::Normal { mean, std }, generator.as_ref())
        });
    }
    let parameter = |index: usize| match arguments.optional_tensor(index) {
        Some(tensor) => Ok(Operand::Tensor(tensor)),
        None => arguments.float(index).map(|value| Operand::Scalar(Scalar::Float(value))),
    };
    let generator = arguments.generator(2);
    random::normal(parameter(0)?, parameter(1)?, generator.as_ref()).answer(arguments.py())
}

fn manual_seed(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let py = arguments.py();
    let seed = arguments.object(0).ok_or_else(|| PyRuntimeError::new_err("a seed is missing"))?;
    // As torch does, whatever `int` takes is taken, texts and fractions too.
    let seed = py.get_type::<PyInt>().call1((seed,))?;
    let seed = Generator::seed_from(&seed)
        .ok_or_else(|| PyValueError::new_err("Overflow when unpacking long long"))?;
    random::Generator::process_wide().manual_seed(seed);
    Ok(generator::default(py)?.into_any().unbind())
}

//! Random tensors, and the generator that they are drawn from where none is named.
use super::entries::{both, function, method};
use super::factory::{generator, made, made_like, options};
use crate::calls::callable::Function;
use crate::calls::outputs::{OutPolicy, Shape, UnbatchedTarget, types};
use crate::error::raise;
use crate::values::arguments::Arguments;
use crate::values::generator::{self, Generator};
use crate::values::returns::ToPython;
use pyo3::exceptions::{PyRuntimeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyInt;
use rushlight::dispatch::default_dtype;
use rushlight::dtype::{DType, Scalar};
use rushlight::ops::Operand;
use rushlight::ops::sampling::random::Distribution;
use rushlight::ops::sampling::{choose, counts, random};
use rushlight::tensor::{Mapping, Randomness};

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
        "Uniform numbers of [0, 1).",
        |a| fresh(a, &STANDARD_UNIFORM),
    ).written(&OutPolicy::MADE.unknown("rand").typed(types::uniform).drawn(|_| true)),
    function(
        "randn",
        &[options!("(int[] size, *, Generator? generator=None, Tensor out=None, ")],
        "Normally distributed numbers around zero with a standard deviation of one.",
        |a| fresh(a, &STANDARD_NORMAL),
    ).written(&OutPolicy::PLAIN.resizing().typed(types::normal).drawn(|_| true)),
    function("rand_like", LIKE, "Uniform numbers of [0, 1) in the shape of another tensor.", |a| {
        like(a, &STANDARD_UNIFORM)
    }),
    function(
        "randn_like",
        LIKE,
        "Normally distributed numbers in the shape of another tensor.",
        |a| like(a, &STANDARD_NORMAL),
    ),
    function(
        "randint",
        &[
            options!("(int high, int[] size, *, Generator? generator, Tensor out=None, "),
            options!("(int high, int[] size, *, Tensor out=None, "),
            options!("(int low, int high, int[] size, *, Generator? generator, Tensor out=None, "),
            options!("(int low, int high, int[] size, *, Tensor out=None, "),
        ],
        "Integers from `low`, or zero, to before `high`.",
        randint,
    ).written(&OutPolicy::PLAIN.unknown("randint").typed(types::any).drawn(|_| true)),
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
        "Integers from `low`, or zero, to before `high`, in the shape of another tensor.",
        randint_like,
    ),
    function(
        "randperm",
        &[options!("(int n, *, Generator? generator=None, Tensor out=None, ")],
        "The integers below `n` in random order.",
        |a| {
            let (n, generator) = (a.int(0)?, generator(a, 1));
            made(a, 3, DType::Int64, |dtype| random::randperm(n, dtype, generator.as_ref()))
        },
    ).written(&OutPolicy::PLAIN.unknown("randperm").drawn(|_| true)),
    function(
        "normal",
        &[
            "(Tensor mean, Tensor std, *, Generator? generator=None, Tensor out=None)",
            "(Tensor mean, float std=1, *, Generator? generator=None, Tensor out=None)",
            "(float mean, Tensor std, *, Generator? generator=None, Tensor out=None)",
            options!("(float mean, float std, int[] size, *, Generator? generator=None, Tensor out=None, "),
        ],
        "Normally distributed numbers with these means and standard deviations.",
        normal,
    ).written(
        &OutPolicy::OF_FIRST
            .typed(types::normal)
            .drawn(|given| given.number)
            .out_as(|given| given.named(2, ".Tensor_Tensor_out", ".Tensor_float_out")),
    ),
    both(
        "bernoulli",
        &[
            "(Tensor input, *, Generator? generator=None, Tensor out=None)",
            "(Tensor input, float p, *, Generator? generator=None)",
        ],
        "Ones with the probabilities that the tensor holds, or with one for all, else zeros.",
        bernoulli,
    ).written(&OutPolicy::OF_FIRST.shaped(Shape::Silent).typed(types::any).drawn(|_| true)),
    function(
        "poisson",
        &["(Tensor input, Generator? generator=None)"],
        "Counts with the means that the tensor holds.",
        |a| counts::poisson(a.tensor(0)?, generator(a, 1).as_ref()).answer(a.py()),
    ),
    function(
        "binomial",
        &["(Tensor count, Tensor prob, Generator? generator=None)"],
        "How many of so many happen, with the probabilities that a tensor holds.",
        |a| counts::binomial(a.tensor(0)?, a.tensor(1)?, generator(a, 2).as_ref()).answer(a.py()),
    ),
    both(
        "multinomial",
        &[
            "(Tensor input, int num_samples, bool replacement=False, *, Generator? generator=None, Tensor out=None)",
        ],
        "Indices of the last dimension, as likely as their weights.",
        |a| {
            let generator = generator(a, 3);
            choose::multinomial(a.tensor(0)?, a.int(1)?, a.boolean(2), generator.as_ref()).answer(a.py())
        },
    ).written(&OutPolicy::PLAIN.unrecorded().shaped(Shape::Silent).typed(types::drawn).drawn(|_| true)),
    method(
        "uniform_",
        &["(Tensor input, float from=0.0, float to=1.0, *, Generator? generator=None)"],
        "Overwrites the elements with uniform numbers.",
        |a| overwrite(a, 3, &Distribution::Uniform { low: a.float(1)?, high: a.float(2)? }),
    ),
    method(
        "normal_",
        &["(Tensor input, float mean=0.0, float std=1.0, *, Generator? generator=None)"],
        "Overwrites the elements with normally distributed numbers.",
        |a| overwrite(a, 3, &Distribution::Normal { mean: a.float(1)?, std: a.float(2)? }),
    ),
    method(
        "exponential_",
        &["(Tensor input, float lambd=1.0, *, Generator? generator=None)"],
        "Overwrites the elements with exponentially distributed numbers.",
        |a| overwrite(a, 2, &Distribution::Exponential { rate: a.float(1)? }),
    ),
    method(
        "geometric_",
        &["(Tensor input, float p, *, Generator? generator=None)"],
        "Overwrites the elements with how many trials the first success takes.",
        |a| overwrite(a, 2, &Distribution::Geometric { probability: a.float(1)? }),
    ),
    method(
        "cauchy_",
        &["(Tensor input, float median=0.0, float sigma=1.0, *, Generator? generator=None)"],
        "Overwrites the elements with numbers of a Cauchy distribution.",
        |a| overwrite(a, 3, &Distribution::Cauchy { median: a.float(1)?, scale: a.float(2)? }),
    ),
    method(
        "log_normal_",
        &["(Tensor input, float mean=1.0, float std=2.0, *, Generator? generator=None)"],
        "Overwrites the elements with numbers whose logarithms are normally distributed.",
        |a| overwrite(a, 3, &Distribution::LogNormal { mean: a.float(1)?, std: a.float(2)? }),
    ),
    method(
        "bernoulli_",
        &[
            "(Tensor input, Tensor p, *, Generator? generator=None)",
            "(Tensor input, float p=0.5, *, Generator? generator=None)",
        ],
        "Overwrites the elements with ones and zeros.",
        |a| {
            if a.overload() == 1 {
                return overwrite(a, 2, &Distribution::Bernoulli { probability: a.float(1)? });
            }
            random::bernoulli_(a.tensor(0)?, a.tensor(1)?, generator(a, 2).as_ref()).map_err(raise)?;
            a.object(0).answer(a.py())
        },
    ).written(
        &OutPolicy::PLAIN
            .in_place_as(|given| given.named(1, ".Tensor", ".float"))
            .unbatched_target(|_| if draws_for_each() { UnbatchedTarget::Rule("inplace bernoulli") } else { UnbatchedTarget::Found }),
    ),
    method(
        "random_",
        &[
            "(Tensor input, *, Generator? generator=None)",
            "(Tensor input, int from, int? to, *, Generator? generator=None)",
            "(Tensor input, int to, *, Generator? generator=None)",
        ],
        "Overwrites the elements with integers from `from`, or zero, to before `to`, or as far as the type goes.",
        |a| match a.overload() {
            0 => overwrite(a, 1, &Distribution::Natural),
            1 => {
                let low = a.int(1)?;
                let bounded = |high| Distribution::Integers { low, high, from_zero: false };
                overwrite(a, 3, &a.optional_int(2)?.map_or(Distribution::From { low }, bounded))
            }
            _ => overwrite(a, 2, &Distribution::Integers { low: 0, high: a.int(1)?, from_zero: true }),
        },
    ).written(&OutPolicy::PLAIN.in_place_as(|given| ["", ".to", ".from"][given.count.min(2)])),
    function(
        "manual_seed",
        &["(object seed) -> Generator"],
        "Starts the generator that serves everybody from a seed.",
        manual_seed,
    ),
    function(
        "seed",
        &["() -> int"],
        "Starts the generator that serves everybody from a seed that nobody knows.",
        |a| Ok(PyInt::new(a.py(), random::Generator::process_wide().seed()).into_any().unbind()),
    ),
    function(
        "initial_seed",
        &["() -> int"],
        "The seed that the generator for everybody started from.",
        |a| Ok(PyInt::new(a.py(), random::Generator::process_wide().initial_seed()).into_any().unbind()),
    ),
    function("get_rng_state", &["()"], "Where the generator for everybody stands, as bytes.", |a| {
        random::Generator::process_wide().state().answer(a.py())
    }),
    function(
        "set_rng_state",
        &["(Tensor new_state) -> None"],
        "Continues from where `get_rng_state` told that the generator for everybody stood.",
        |a| random::Generator::process_wide().set_state(a.tensor(0)?).answer(a.py()),
    ),
];

/// Whether each sample gets random numbers of its own.
fn draws_for_each() -> bool {
    Mapping::innermost().is_some_and(|mapping| mapping.randomness() == Randomness::Different)
}

fn fresh(arguments: &Arguments<'_, '_>, distribution: &Distribution) -> PyResult<Py<PyAny>> {
    let (size, generator) = (arguments.ints(0)?, generator(arguments, 1));
    made(arguments, 3, default_dtype::get(), |dtype| {
        random::draw(&size, dtype, distribution, generator.as_ref())
    })
}

fn like(arguments: &Arguments<'_, '_>, distribution: &Distribution) -> PyResult<Py<PyAny>> {
    let generator = generator(arguments, 1);
    made_like(arguments, 2, 7, |x, dtype| random::draw_like(x, dtype, distribution, generator.as_ref()))
}

fn overwrite(arguments: &Arguments<'_, '_>, at: usize, distribution: &Distribution) -> PyResult<Py<PyAny>> {
    let generator = generator(arguments, at);
    random::draw_(arguments.tensor(0)?, distribution, generator.as_ref()).map_err(raise)?;
    arguments.object(0).answer(arguments.py())
}

fn randint(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let overload = arguments.overload();
    let (low, first) = if overload >= 2 { (arguments.int(0)?, 1) } else { (0, 0) };
    let (high, size) = (arguments.int(first)?, arguments.ints(first + 1)?);
    let named = overload.is_multiple_of(2);
    let generator = if named { generator(arguments, first + 2) } else { None };
    let distribution = Distribution::Integers { low, high, from_zero: false };
    made(arguments, first + 3 + usize::from(named), DType::Int64, |dtype| {
        random::draw(&size, dtype, &distribution, generator.as_ref())
    })
}

fn randint_like(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let (low, first) = if arguments.overload() == 0 { (arguments.int(1)?, 2) } else { (0, 1) };
    let distribution = Distribution::Integers { low, high: arguments.int(first)?, from_zero: false };
    let generator = generator(arguments, first + 1);
    made_like(arguments, first + 3, first + 2, |x, dtype| {
        random::draw_like(x, dtype, &distribution, generator.as_ref())
    })
}

fn normal(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    if arguments.overload() == 3 {
        let (mean, std, size) = (arguments.float(0)?, arguments.float(1)?, arguments.ints(2)?);
        let generator = generator(arguments, 3);
        return made(arguments, 5, default_dtype::get(), |dtype| {
            random::draw(&size, dtype, &Distribution::Normal { mean, std }, generator.as_ref())
        });
    }
    let parameter = |index: usize| match arguments.optional_tensor(index) {
        Some(tensor) => Ok(Operand::Tensor(tensor)),
        None => arguments.float(index).map(|value| Operand::Scalar(Scalar::Float(value))),
    };
    let generator = generator(arguments, 2);
    random::normal(parameter(0)?, parameter(1)?, generator.as_ref()).answer(arguments.py())
}

fn bernoulli(arguments: &Arguments<'_, '_>) -> PyResult<Py<PyAny>> {
    let x = arguments.tensor(0)?;
    let result = if arguments.overload() == 0 {
        random::bernoulli(x, generator(arguments, 1).as_ref())
    } else {
        random::bernoulli_like(x, arguments.float(1)?, generator(arguments, 2).as_ref())
    };
    result.answer(arguments.py())
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

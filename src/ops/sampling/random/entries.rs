//! The entries of drawing.

use super::*;

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both(
        "bernoulli",
        &[
            "(Tensor input, *, Generator? generator=None, Tensor out=None)",
            "(Tensor input, float p, *, Generator? generator=None)",
        ],
        "Samples zeros and ones, one with the given probabilities.",
        bernoulli_call,
    )
    .written(&OutPolicy::OF_FIRST.shaped(Shape::Silent).typed(Types::Any).drawn(|_| true))
    .operators(&[("-", "bernoulli")]),
    method(
        "uniform_",
        &["(Tensor input, float from=0.0, float to=1.0, *, Generator? generator=None)"],
        "Fills the tensor with samples of a uniform distribution.",
        |a| overwrite_call(a, 3, &Distribution::Uniform { low: a.float(1)?, high: a.float(2)? }),
    )
    .operators(&[("-", "uniform_")]),
    method(
        "normal_",
        &["(Tensor input, float mean=0.0, float std=1.0, *, Generator? generator=None)"],
        "Fills the tensor with samples of a normal distribution.",
        |a| overwrite_call(a, 3, &Distribution::Normal { mean: a.float(1)?, std: a.float(2)? }),
    )
    .operators(&[("-", "normal_")]),
    method(
        "exponential_",
        &["(Tensor input, float lambd=1.0, *, Generator? generator=None)"],
        "Fills the tensor with samples of an exponential distribution.",
        |a| overwrite_call(a, 2, &Distribution::Exponential { rate: a.float(1)? }),
    )
    .operators(&[("-", "exponential_")]),
    method(
        "geometric_",
        &["(Tensor input, float p, *, Generator? generator=None)"],
        "Fills the tensor with samples of a geometric distribution.",
        |a| overwrite_call(a, 2, &Distribution::Geometric { probability: a.float(1)? }),
    )
    .operators(&[("-", "geometric_")]),
    method(
        "cauchy_",
        &["(Tensor input, float median=0.0, float sigma=1.0, *, Generator? generator=None)"],
        "Fills the tensor with samples of a Cauchy distribution.",
        |a| overwrite_call(a, 3, &Distribution::Cauchy { median: a.float(1)?, scale: a.float(2)? }),
    )
    .operators(&[("-", "cauchy_")]),
    method(
        "log_normal_",
        &["(Tensor input, float mean=1.0, float std=2.0, *, Generator? generator=None)"],
        "Fills the tensor with samples of a log-normal distribution.",
        |a| overwrite_call(a, 3, &Distribution::LogNormal { mean: a.float(1)?, std: a.float(2)? }),
    )
    .operators(&[("-", "log_normal_")]),
    method(
        "bernoulli_",
        &[
            "(Tensor input, Tensor p, *, Generator? generator=None)",
            "(Tensor input, float p=0.5, *, Generator? generator=None)",
        ],
        "Fills the tensor with samples of a Bernoulli distribution.",
        |a| {
            if a.overload() == 1 {
                return overwrite_call(a, 2, &Distribution::Bernoulli { probability: a.float(1)? });
            }
            bernoulli_(a.tensor(0)?, a.tensor(1)?, a.generator(2).as_ref())?;
            Ok(Reply::Given(0))
        },
    )
    .written(&OutPolicy::PLAIN.in_place_as(|given| given.named(1, ".Tensor", ".float")).unbatched_target(
        |_| {
            if draws_for_each() { UnbatchedTarget::Rule("inplace bernoulli") } else { UnbatchedTarget::Found }
        },
    ))
    .operators(&[("-", "bernoulli_.float@1"), ("-", "bernoulli_.Tensor")]),
    method(
        "random_",
        &[
            "(Tensor input, *, Generator? generator=None)",
            "(Tensor input, int from, int? to, *, Generator? generator=None)",
            "(Tensor input, int to, *, Generator? generator=None)",
        ],
        "Fills the tensor with integers sampled uniformly from `from` to `to - 1`.",
        |a| match a.overload() {
            0 => overwrite_call(a, 1, &Distribution::Natural),
            1 => {
                let low = a.int(1)?;
                let bounded = |high| Distribution::Integers { low, high, from_zero: false };
                overwrite_call(a, 3, &a.optional_int(2)?.map_or(Distribution::From { low }, bounded))
            }
            _ => overwrite_call(a, 2, &Distribution::Integers { low: 0, high: a.int(1)?, from_zero: true }),
        },
    )
    .written(&OutPolicy::PLAIN.in_place_as(|given| ["", ".to", ".from"][given.count.min(2)]))
    .operators(&[("-", "random_"), ("-", "random_.from@1"), ("-", "random_.to@2")]),
    function(
        "get_rng_state",
        &["()"],
        "The state of the default random number generator, as a tensor of bytes.",
        |_| Generator::process_wide().state().reply(),
    ),
    function(
        "set_rng_state",
        &["(Tensor new_state) -> None"],
        "Sets the state of the default random number generator.",
        |a| Generator::process_wide().set_state(a.tensor(0)?).reply(),
    ),
];

fn bernoulli_call(arguments: &dyn Arguments) -> Result<Reply> {
    let x = arguments.tensor(0)?;
    let result = if arguments.overload() == 0 {
        bernoulli(x, arguments.generator(1).as_ref())
    } else {
        bernoulli_like(x, arguments.float(1)?, arguments.generator(2).as_ref())
    };
    result.reply()
}

fn overwrite_call(arguments: &dyn Arguments, at: usize, distribution: &Distribution) -> Result<Reply> {
    let generator = arguments.generator(at);
    draw_(arguments.tensor(0)?, distribution, generator.as_ref())?;
    Ok(Reply::Given(0))
}

/// Whether each sample gets random numbers of its own.
fn draws_for_each() -> bool {
    Mapping::innermost().is_some_and(|mapping| mapping.randomness() == Randomness::Different)
}

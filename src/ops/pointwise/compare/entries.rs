//! The entries of comparisons.

use super::*;

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("-", "ne.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "ne.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "lt.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "lt.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "le.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "le.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "gt.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "gt.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "ge.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "ge.Scalar(Tensor self, Scalar other) -> Tensor"),
    ("-", "eq.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("-", "eq.Scalar(Tensor self, Scalar other) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    forms!(COMPARED COMPARED_IN_PLACE, "eq", "eq_", eq, eq_, "Whether `input == other`, element by element.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "ne", "ne_", ne, ne_, "Whether `input != other`, element by element.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "not_equal", "not_equal_", ne, ne_, "Whether `input != other`, element by element: `ne`.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "lt", "lt_", lt, lt_, "Whether `input < other`, element by element.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "less", "less_", lt, lt_, "Whether `input < other`, element by element: `lt`.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "le", "le_", le, le_, "Whether `input <= other`, element by element.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "less_equal", "less_equal_", le, le_, "Whether `input <= other`, element by element: `le`.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "gt", "gt_", gt, gt_, "Whether `input > other`, element by element.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "greater", "greater_", gt, gt_, "Whether `input > other`, element by element: `gt`.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "ge", "ge_", ge, ge_, "Whether `input >= other`, element by element.", &OutPolicy::COMPARED.overloaded()),
    forms!(COMPARED COMPARED_IN_PLACE, "greater_equal", "greater_equal_", ge, ge_, "Whether `input >= other`, element by element: `ge`.", &OutPolicy::COMPARED.overloaded()),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    both("isreal", ONE, "Whether each element is real: has no imaginary part.", |a| of(a, isreal)),
    both("isclose", NEAR, "Whether elements are equal within a tolerance: abs(input - other) <= atol + rtol * abs(other).", |a| {
        isclose(a.tensor(0)?, a.tensor(1)?, near(a)?).reply()
    }),
    both(
        "allclose",
        &["(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool"],
        "Whether all elements are equal within a tolerance.",
        |a| allclose(a.tensor(0)?, a.tensor(1)?, near(a)?).reply(),
    )
    .operators(&[("-", "allclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, bool equal_nan=False) -> bool | data_dependent_output")]),
    both("equal", &["(Tensor input, Tensor other) -> bool"], "Whether two tensors have the same size and elements.", |a| {
        equal(a.tensor(0)?, a.tensor(1)?).reply()
    })
    .operators(&[("-", "equal | data_dependent_output")]),
    both("isnan", &["(Tensor input)"], "Whether each element is NaN.", |a| isnan(a.tensor(0)?).reply())
    .operators(&[("-", "isnan")]),
    both("isinf", &["(Tensor input)"], "Whether each element is infinite.", |a| isinf(a.tensor(0)?).reply())
    .operators(&[("-", "isinf")]),
    both("isfinite", &["(Tensor input)"], "Whether each element is finite.", |a| {
        isfinite(a.tensor(0)?).reply()
    })
    .operators(&[("-", "isfinite")]),
    both("isposinf", ONE_OUT, "Whether each element is positive infinity.", |a| isposinf(a.tensor(0)?).reply())
        .written(&OutPolicy::PLAIN.once().unrecorded().typed(Types::Truth))
    .operators(&[("-", "isposinf")]),
    both("isneginf", ONE_OUT, "Whether each element is negative infinity.", |a| isneginf(a.tensor(0)?).reply())
        .written(&OutPolicy::PLAIN.once().unrecorded().typed(Types::Truth))
    .operators(&[("-", "isneginf")]),
];

fn near(a: &dyn Arguments) -> Result<Tolerance> {
    Ok(Tolerance { rtol: a.float(2)?, atol: a.float(3)?, equal_nan: a.boolean(4) })
}

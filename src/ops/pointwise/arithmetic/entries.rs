//! The entries of arithmetic.

use super::*;

/// What torch's dispatcher calls the operators that no entry names.
pub const OPERATORS: &[Operator] = &[
    ("DivBackward0", "div.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("MulBackward0", "mul.Tensor(Tensor self, Tensor other) -> Tensor"),
    ("=", "mul.Scalar(Tensor self, Scalar other) -> Tensor"),
];

/// The entries of operations that have a form in place.
pub const PAIRS: &[Entry] = FORMS.as_flattened();

const FORMS: &[[Entry; 2]] = &[
    forms!(OPERAND_OR_NUMBER OPERAND_OR_NUMBER_IN_PLACE, "true_divide", "true_divide_", crate::ops::div, crate::ops::div_, "The quotient of two tensors, never rounded: `div`.", &OutPolicy::CALCULATED.refused_as("div")),
    forms!(OPERANDS OPERANDS_IN_PLACE, "mul", "mul_", crate::ops::mul, crate::ops::mul_, "The product of two tensors, element by element.", &OutPolicy::CALCULATED, receiver_in_own_order),
    forms!(OPERAND_OR_NUMBER OPERAND_OR_NUMBER_IN_PLACE, "multiply", "multiply_", crate::ops::mul, crate::ops::mul_, "The product of two tensors, element by element: `mul`.", &OutPolicy::CALCULATED.refused_as("mul")),
];

/// The entries.
pub const ENTRIES: &[Entry] = &[
    inner("add_number", NUMBER, "The sum of a tensor and a number.", |a| {
        ops::add(a.tensor(0)?, a.number(1)?).reply()
    }),
    inner("div_number", NUMBER, "The quotient of a tensor and a number.", |a| {
        ops::div(a.tensor(0)?, a.number(1)?).reply()
    }),
    inner("sub_number", NUMBER, "The difference of a tensor and a number.", |a| {
        ops::sub(a.tensor(0)?, a.number(1)?).reply()
    }),
    inner("mul_number", NUMBER, "The product of a tensor and a number.", |a| {
        ops::mul(a.tensor(0)?, a.number(1)?).reply()
    }),
    both(
        "add",
        &[
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
            "(Tensor|Number input, Number alpha, Tensor|Number other, *, Tensor out=None)|deprecated",
        ],
        "`input + alpha * other`, element by element.",
        add_call,
    )
    .written(&OutPolicy::ALIGNED)
    .operators(&[
        ("AddBackward0", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
        ("=", "add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"),
    ]),
    both(
        "sub",
        &[
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
            "(Tensor|Number input, Number alpha, Tensor|Number other, *, Tensor out=None)|deprecated",
        ],
        "`input - alpha * other`, element by element.",
        sub_call,
    )
    .written(&OutPolicy::ALIGNED)
    .operators(&[
        ("SubBackward0", "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
        ("=", "sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"),
    ]),
    both(
        "subtract",
        &[
            "(Tensor|Number input, Tensor|Number other, *, Number alpha=1, Tensor out=None)",
            "(Tensor input, Number other, Number alpha=1)",
        ],
        "`input - alpha * other`, element by element: `sub`.",
        sub_call,
    )
    .written(&OutPolicy::ALIGNED.refused_as("sub")),
    method(
        "add_",
        &[
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
            "(Tensor input, Number alpha, Tensor|Number other)|deprecated",
        ],
        "`add` in place.",
        add_in_place,
    )
    .written(&CHANGED.unbatched_target(|_| UnbatchedTarget::Shape)),
    method(
        "sub_",
        &[
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
            "(Tensor input, Number alpha, Tensor|Number other)|deprecated",
        ],
        "`sub` in place.",
        sub_in_place,
    )
    .written(&CHANGED.unbatched_target(|_| UnbatchedTarget::Arithmetic)),
    method(
        "subtract_",
        &[
            "(Tensor input, Tensor|Number other, *, Number alpha=1)",
            "(Tensor input, Number other, Number alpha=1)",
        ],
        "`sub` in place.",
        sub_in_place,
    )
    .written(&CHANGED),
    function("rsub", REVERSED, "`other - alpha * input`, element by element.", |a| {
        let (p, q) = pair(a)?;
        binary::apply(Rsub { alpha: a.number(2)? }, p, q).reply()
    })
    .operators(&[
        ("RsubBackward0", "rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"),
        ("RsubBackward1", "rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor"),
    ]),
];

fn add_call(arguments: &dyn Arguments) -> Result<Reply> {
    let (a, b) = (arguments.operand(0)?, arguments.operand(1)?);
    let result = match arguments.number(2)? {
        Scalar::Int(1) => ops::add(a, b),
        alpha => binary::apply(Add { alpha }, a, b),
    };
    result.reply()
}

fn sub_call(arguments: &dyn Arguments) -> Result<Reply> {
    let (a, b) = (arguments.operand(0)?, arguments.operand(1)?);
    let result = match arguments.number(2)? {
        Scalar::Int(1) => ops::sub(a, b),
        alpha => binary::apply(Sub { alpha }, a, b),
    };
    result.reply()
}

fn add_in_place(arguments: &dyn Arguments) -> Result<Reply> {
    let operation = Add { alpha: arguments.number(2)? };
    binary::apply_in_place(operation, arguments.tensor(0)?, arguments.operand(1)?)?;
    Ok(Reply::Given(0))
}

fn sub_in_place(arguments: &dyn Arguments) -> Result<Reply> {
    let operation = Sub { alpha: arguments.number(2)? };
    binary::apply_in_place(operation, arguments.tensor(0)?, arguments.operand(1)?)?;
    Ok(Reply::Given(0))
}

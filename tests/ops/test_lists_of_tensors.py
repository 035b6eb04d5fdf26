"""`_foreach_*`: one operation on each tensor of a list."""

import pytest
import rushlight as torch
from support import raises

UNARY = [
    "abs",
    "acos",
    "asin",
    "atan",
    "ceil",
    "cos",
    "cosh",
    "erf",
    "erfc",
    "exp",
    "expm1",
    "floor",
    "frac",
    "lgamma",
    "log",
    "log10",
    "log1p",
    "log2",
    "neg",
    "reciprocal",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]


def tensors():
    return [torch.tensor([0.25, 0.5]), torch.tensor([[0.75]])]


def each(name, *args, **options):
    """What a function and its form in place give, which have to be the same."""
    made = getattr(torch, f"_foreach_{name}")(tensors(), *args, **options)
    written = tensors()
    getattr(torch, f"_foreach_{name}_")(written, *args, **options)
    assert isinstance(made, tuple)
    assert [x.tolist() for x in made] == [x.tolist() for x in written]
    return [x.flatten().tolist() for x in made]


@pytest.mark.parametrize("name", UNARY)
def test_a_function_of_elements_is_computed_for_each(name):
    assert each(name) == [getattr(torch, name)(x).flatten().tolist() for x in tensors()]


@pytest.mark.parametrize(
    "name", ["add", "sub", "mul", "div", "pow", "clamp_min", "clamp_max", "maximum", "minimum"]
)
def test_the_other_operand_is_for_all_or_for_each(name):
    def single(x, other):
        names = {"maximum": "clamp_min", "minimum": "clamp_max"}
        short = name if isinstance(other, torch.Tensor) else names.get(name, name)
        return getattr(torch, short)(x, other).flatten().tolist()

    assert each(name, 0.5) == [single(x, 0.5) for x in tensors()]
    assert each(name, [0.5, 0.25]) == [single(x, y) for x, y in zip(tensors(), (0.5, 0.25), strict=True)]
    assert each(name, tensors()) == [single(x, x) for x in tensors()]


def test_a_scalar_tensor_is_for_all():
    half = torch.tensor(0.5)
    assert each("add", half) == [[0.75, 1.0], [1.25]] and each("add", half, alpha=2) == [[1.25, 1.5], [1.75]]
    assert each("mul", half) == [[0.125, 0.25], [0.375]] and each("div", half) == [[0.5, 1.0], [1.5]]
    assert each("sub", tensors(), alpha=2) == [[-0.25, -0.5], [-0.75]]
    with raises(RuntimeError, "scalar tensor expected to be 0 dim but it has 1 dimensions and 1 elements."):
        torch._foreach_add(tensors(), torch.tensor([2.0]))


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_products_and_quotients_are_added(name):
    def single(*values):
        pairs = zip(tensors(), values, strict=True)
        return [getattr(torch, name)(x, x, x + 1, value=value).flatten().tolist() for x, value in pairs]

    others = tensors(), [x + 1 for x in tensors()]
    assert each(name, *others) == single(1, 1) and each(name, *others, 2) == single(2, 2)
    assert each(name, *others, value=2) == single(2, 2)
    assert each(name, *others, [2, 3]) == each(name, *others, scalars=[2, 3]) == single(2, 3)
    assert each(name, *others, torch.tensor([2.0, 3.0])) == single(2, 3)
    with raises(RuntimeError, "Expected length of scalars to match input of length 2 but got 3 instead."):
        getattr(torch, f"_foreach_{name}")(tensors(), *others, torch.ones(3))


def test_a_weighted_mean_is_computed_for_each():
    ends = [x + 1 for x in tensors()]
    assert each("lerp", ends, 0.5) == [[0.75, 1.0], [1.25]]
    assert each("lerp", ends, [0.5, 0.25]) == [[0.75, 1.0], [1.0]]
    assert each("lerp", ends, [torch.full_like(x, 0.5) for x in ends]) == [[0.75, 1.0], [1.25]]


def test_some_have_one_form_only():
    assert torch._foreach_pow(4.0, tensors())[0].tolist() == pytest.approx([4**0.25, 2.0])
    x = tensors()
    torch._foreach_copy_(x, [torch.ones(2), torch.zeros(1, 1)])
    assert [one.flatten().tolist() for one in x] == [[1.0, 1.0], [0.0]]
    copies = torch._foreach_clone(x)
    torch._foreach_zero_(x)
    assert [one.sum().item() for one in x] == [0.0, 0.0] and copies[0].tolist() == [1.0, 1.0]
    assert [one.item() for one in torch._foreach_max(tensors())] == [0.5, 0.75]
    with raises(
        RuntimeError, "_foreach_max cannot compute the maximum of an empty tensor; max over zero elements is"
    ):
        torch._foreach_max([torch.zeros(0)])


def test_norms_are_computed_for_each():
    x = [torch.tensor([3.0, -4.0]), torch.zeros(0)]
    assert [one.item() for one in torch._foreach_norm(x)] == [5.0, 0.0]
    assert [one.item() for one in torch._foreach_norm(x, 1)] == [7.0, 0.0]
    assert torch._foreach_norm(x, ord=2, dtype=torch.float64)[0].dtype is torch.float64
    assert torch._foreach_norm(x[:1], float("inf"))[0].item() == 4.0
    with raises(
        RuntimeError, "_foreach_norm cannot compute the infinity norm on an empty tensor because the oper"
    ):
        torch._foreach_norm(x, float("inf"))


def test_gradients_flow_through_each():
    x = [torch.tensor([1.0, 2.0], requires_grad=True), torch.tensor([3.0], requires_grad=True)]
    made = torch._foreach_mul(torch._foreach_add(x, 1), x)
    total = torch.stack(torch._foreach_norm(made, 1)).sum()
    assert [g.tolist() for g in torch.autograd.grad(total, x)] == [[3.0, 5.0], [7.0]]
    with raises(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."):
        torch._foreach_add_(x, 1)


@pytest.mark.parametrize(
    "call, kind, text",
    [
        (lambda: torch._foreach_sqrt([]), RuntimeError, "Tensor list must have at least one tensor."),
        (lambda: torch._foreach_add([], 1), RuntimeError, "Tensor list must have at least one tensor."),
        (
            lambda: torch._foreach_add(tensors(), [torch.ones(1)]),
            RuntimeError,
            "Tensor lists must have the same number of tensors, got 2 and 1",
        ),
        (
            lambda: torch._foreach_copy_(tensors(), [torch.ones(1)]),
            RuntimeError,
            "Tensor lists must have the same number of tensors, got 2 and 1",
        ),
        (
            lambda: torch._foreach_add(tensors(), [1]),
            RuntimeError,
            "Tensor list must have same number of elements as scalar list.",
        ),
        (
            lambda: torch._foreach_neg(torch.ones(2)),
            TypeError,
            "_foreach_neg(): argument 'self' (position 1) must be tuple of Tensors, not Tensor",
        ),
        (
            lambda: torch._foreach_neg([3]),
            TypeError,
            "expected Tensor as element 0 in argument 0, but got int",
        ),
        (
            lambda: torch._foreach_mul(tensors(), [torch.ones(1), 2.0]),
            TypeError,
            "expected Tensor as element 1 in argument 1, but got float",
        ),
        (
            lambda: torch._foreach_sqrt_([torch.tensor(4)]),
            RuntimeError,
            "result type Float can't be cast to the desired output type Long",
        ),
    ],
)
def test_lists_have_to_fit(call, kind, text):
    with raises(kind, text):
        call()


def test_an_operation_that_there_is_not_is_an_error():
    with pytest.raises(AttributeError):
        torch._foreach_nothing  # noqa: B018


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_complex_numbers_have_no_extremes(name):
    numbers = [torch.zeros(2, dtype=torch.complex64)]
    with pytest.raises(NotImplementedError, match=f"^\"{name}_cpu\" not implemented for 'ComplexFloat'$"):
        getattr(torch, f"_foreach_{name}")(numbers, numbers)

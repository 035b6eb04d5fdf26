"""What programs ask of operators by torch's inner names: `torch._library.utils`, `torch._custom_ops`."""

import typing

import pytest
import rushlight as torch
from rushlight import _custom_ops
from support import raises

utils = torch._library.utils


def schema(text):
    return torch._C.parse_schema(text)


def test_operators_are_found_by_names():
    assert utils.lookup_op("aten::sin") is torch.ops.aten.sin.default
    assert utils.lookup_op("aten::add.Tensor") is torch.ops.aten.add.Tensor
    with raises(ValueError, 'Expected `qualname` to be of the form "namespace::name", but got sin.'):
        utils.lookup_op("sin")
    assert utils.is_builtin(torch.ops.aten.sin.default)


@pytest.mark.parametrize(
    ("text", "is_functional"),
    [
        ("foo(Tensor x) -> Tensor", True),
        ("foo(Tensor(a) x) -> Tensor", True),
        ("foo(Tensor(a!) x) -> Tensor", False),
        ("foo(Tensor(a) x) -> Tensor(a)", False),
        ("foo(Tensor x) -> ()", False),
    ],
)
def test_schemas_say_whether_something_is_written_to(text, is_functional):
    assert utils.is_functional_schema(text) is is_functional
    assert utils.is_functional_schema(schema(text)) is is_functional


def test_schemas_say_which_arguments_are_tensors():
    arguments = schema(
        "f(Tensor a, Tensor? b, Tensor[] c, Tensor?[] d, Tensor[]? e, int[] f) -> ()"
    ).arguments
    assert [utils.is_tensor_like_type(one.type) for one in arguments] == [True] * 2 + [False] * 4
    lists = [utils.is_tensorlist_like_type(one.type) for one in arguments]
    assert lists == [False] * 2 + [True] * 3 + [False]
    named = schema("f(int x, *, Tensor y) -> Tensor")
    assert utils.has_tensor_arg(named) and utils.has_kwarg_only_args(named)
    assert utils.has_kwarg_only_tensors(named)
    assert utils.mutates_and_returns_first_arg(torch.ops.aten.sin_.default)
    assert not utils.mutates_and_returns_first_arg(torch.ops.aten.sin.default)


def test_arguments_of_a_call_are_matched_with_the_schema():
    given = schema("f(Tensor x, int y=2, *, int z=3) -> Tensor")
    assert [(one.name, value) for one, value in utils.zip_schema(given, (1,), {"z": 4})] == [
        ("x", 1),
        ("z", 4),
    ]
    assert utils.fill_defaults(given, (1,), {}) == ((1, 2), {"z": 3})
    x, y, z = torch.ones(1), torch.zeros(1), torch.ones(2)
    found = list(utils.iter_tensors((x, [y], 3), {"a": z}))
    assert all(one is other for one, other in zip(found, [x, y, z], strict=True))


def test_annotations_are_listed_with_their_types():
    known = torch._library.infer_schema.SUPPORTED_PARAM_TYPES
    assert known[typing.Optional[torch.Tensor]] == "Tensor?"  # noqa: UP045
    assert known[list[int]] == "SymInt[]" and known[torch.dtype] == "ScalarType"
    assert torch._library.infer_schema.SUPPORTED_RETURN_TYPES[int | float | bool] == "Scalar"


def test_beneath_autograd_its_kernel_is_not_asked():
    library = torch.library.Library("inner_questions", "FRAGMENT")
    library.define("twice(Tensor x) -> Tensor")
    library.impl("twice", lambda x: x * 2, "CompositeExplicitAutograd")

    class Five(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            with torch._C._AutoDispatchBelowAutograd():
                return torch.ops.inner_questions.twice(x)

        @staticmethod
        def backward(ctx, grad):
            return grad * 5

    library.impl("twice", lambda x: Five.apply(x), "Autograd")
    x = torch.ones(2, requires_grad=True)
    y = torch.ops.inner_questions.twice(x)
    y.sum().backward()
    assert y.tolist() == [2.0, 2.0] and x.grad.tolist() == [5.0, 5.0]
    with torch._C._AutoDispatchBelowAutograd():
        assert not (x * 2).requires_grad
    library._destroy()


def test_operators_of_former_times_are_named_and_forgotten():
    with raises(ValueError, "custom_op(..., ns='prim'): 'prim' is a reserved namespace"):
        _custom_ops.custom_op("prim::foo", "(Tensor x) -> Tensor")

    def other(x: torch.Tensor) -> torch.Tensor: ...

    with raises(
        ValueError,
        "custom_op(qualname='inner_questions::foo', ...)(func): expected `func` to have name 'foo' ",
    ):
        _custom_ops.custom_op("inner_questions::foo")(other)
    _custom_ops.custom_op("inner_questions::foo", "(Tensor x) -> Tensor")
    _custom_ops._destroy("inner_questions::foo")
    assert not hasattr(torch.ops.inner_questions, "foo")
    with raises(RuntimeError, 'Could not find custom op "inner_questions::foo".'):
        _custom_ops._destroy("inner_questions::foo")


def test_what_a_derivative_needs_is_taken_of_arguments_by_name():
    _custom_ops.custom_op("inner_questions::sine", "(Tensor x) -> Tensor")
    _custom_ops.impl("inner_questions::sine")(lambda x: x.sin())
    seen = []

    @_custom_ops.impl_save_for_backward("inner_questions::sine")
    def save(inputs, output):
        seen.append(inputs)
        return inputs.x

    _custom_ops.impl_backward("inner_questions::sine")(lambda ctx, saved, grad: {"x": grad * saved.cos()})
    x = torch.tensor(0.0, requires_grad=True)
    torch.ops.inner_questions.sine(x).backward()
    assert x.grad.item() == 1.0 and isinstance(seen[0], tuple) and seen[0].x is seen[0][0]
    _custom_ops._destroy("inner_questions::sine")


def test_no_tensor_is_computed_later():
    from rushlight._lazy import metrics, ts_backend

    ts_backend.init()
    metrics.reset()
    assert metrics.counter_names() == []

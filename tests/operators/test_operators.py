"""`torch.ops.aten`, and modes that are shown every operator before it runs."""

import copy

import pytest
import rushlight as torch
from rushlight.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,
    _get_current_dispatch_mode,
    _get_current_dispatch_mode_stack,
)
from support import raises, run_script

aten = torch.ops.aten
F = torch.nn.functional


def told(value):
    if isinstance(value, torch.Tensor):
        return f"T{list(value.shape)}"
    return [told(part) for part in value] if isinstance(value, (list, tuple)) else value


class Log(TorchDispatchMode):
    """Writes down operators, and what they are given."""

    def __init__(self):
        super().__init__()
        self.names, self.calls = [], []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is not aten.detach.default:
            self.names.append(str(func))
            self.calls.append((str(func), told(args), told(list((kwargs or {}).items()))))
        return func(*args, **(kwargs or {}))


def log(call):
    with Log() as mode:
        call()
    return mode


x = torch.linspace(-1, 1, 6).reshape(2, 3)
square = torch.linspace(0, 1, 9).reshape(3, 3)
row = torch.ones(3)
index = torch.tensor([0, 1])

CALLS = {
    "x + 1": (lambda: x + 1, "aten.add.Tensor", [[2, 3], 1]),
    "2 * x": (lambda: 2 * x, "aten.mul.Tensor", [[2, 3], 2]),
    "x - x": (lambda: x - x, "aten.sub.Tensor", [[2, 3], [2, 3]]),
    "1 - x": (lambda: 1 - x, "aten.rsub.Scalar", [[2, 3], 1]),
    "x ** 2": (lambda: x**2, "aten.pow.Tensor_Scalar", [[2, 3], 2]),
    "2 ** x": (lambda: 2**x, "aten.pow.Scalar", [2, [2, 3]]),
    "x @ square": (lambda: x @ square, "aten.mm.default", [[2, 3], [3, 3]]),
    "addmm": (lambda: torch.addmm(row, x, square), "aten.addmm.default", [[3], [2, 3], [3, 3]]),
    "sum": (lambda: x.sum(), "aten.sum.default", [[2, 3]]),
    "sum along": (lambda: x.sum(0, keepdim=True), "aten.sum.dim_IntList", [[2, 3], 0, True]),
    "mean along": (lambda: x.mean(1), "aten.mean.dim", [[2, 3], 1]),
    "var": (lambda: x.var(), "aten.var.correction", [[2, 3]]),
    "max": (lambda: x.max(), "aten.max.default", [[2, 3]]),
    "max along": (lambda: x.max(0), "aten.max.dim", [[2, 3], 0]),
    "median": (lambda: row.median(), "aten.median.default", [[3]]),
    "sort": (lambda: x.sort(), "aten.sort.default", [[2, 3]]),
    "argmax": (lambda: x.argmax(), "aten.argmax.default", [[2, 3]]),
    "view": (lambda: x.view(-1), "aten.view.default", [[2, 3], -1]),
    "reshape": (lambda: x.reshape(6), "aten.view.default", [[2, 3], 6]),
    "t": (lambda: x.t(), "aten.t.default", [[2, 3]]),
    "transpose": (lambda: x.transpose(0, 1), "aten.transpose.int", [[2, 3], 0, 1]),
    "permute": (lambda: x.permute(1, 0), "aten.permute.default", [[2, 3], 1, 0]),
    "expand": (lambda: row.expand(2, 3), "aten.expand.default", [[3], 2, 3]),
    "x[0]": (lambda: x[0], "aten.select.int", [[2, 3], 0, 0]),
    "squeeze": (lambda: x.unsqueeze(0), "aten.unsqueeze.default", [[2, 3], 0]),
    "clone": (lambda: x.clone(), "aten.clone.default", [[2, 3]]),
    "softmax": (lambda: x.softmax(-1), "aten._softmax.default", [[2, 3], -1, False]),
    "relu": (lambda: torch.relu(x), "aten.relu.default", [[2, 3]]),
    "gelu": (lambda: F.gelu(x), "aten.gelu.default", [[2, 3]]),
    "mse_loss": (lambda: F.mse_loss(x, x), "aten.mse_loss.default", [[2, 3], [2, 3]]),
    "cat": (lambda: torch.cat([x, x], 1), "aten.cat.default", [[[2, 3], [2, 3]], 1]),
    "split": (lambda: x.split(1), "aten.split.Tensor", [[2, 3], 1]),
    "unbind": (lambda: x.unbind(), "aten.unbind.int", [[2, 3]]),
    "x > 0": (lambda: x > 0, "aten.gt.Scalar", [[2, 3], 0]),
    "x == x": (lambda: x == x, "aten.eq.Tensor", [[2, 3], [2, 3]]),
    "masked_fill": (lambda: x.masked_fill(mask, 1.0), "aten.masked_fill.Scalar", [[2, 3], [2, 3], 1.0]),
    "where": (lambda: torch.where(mask, x, x), "aten.where.self", [[2, 3], [2, 3], [2, 3]]),
    "gather": (lambda: x.gather(1, places), "aten.gather.default", [[2, 3], 1, [2, 1]]),
    "clamp": (lambda: x.clamp(0, 1), "aten.clamp.default", [[2, 3], 0, 1]),
    "embedding": (lambda: F.embedding(index, square), "aten.embedding.default", [[3, 3], [2]]),
    "add_": (lambda: x.clone().add_(1), "aten.add_.Tensor", [[2, 3], 1]),
    "mul_": (lambda: x.clone().mul_(x), "aten.mul_.Tensor", [[2, 3], [2, 3]]),
    "exp_": (lambda: x.clone().exp_(), "aten.exp_.default", [[2, 3]]),
    "copy_": (lambda: x.clone().copy_(x), "aten.copy_.default", [[2, 3], [2, 3]]),
    "zero_": (lambda: x.clone().zero_(), "aten.zero_.default", [[2, 3]]),
}
mask = x > 0
places = torch.tensor([[0], [1]])


def flat(values):
    """Nested lists as one list, since shapes are told as lists too."""
    parts = [flat(value) if isinstance(value, (list, tuple)) else [value] for value in values]
    return [leaf for part in parts for leaf in part]


@pytest.mark.parametrize("name", CALLS)
def test_an_operator_is_shown_with_its_arguments(name):
    call, operator, args = CALLS[name]
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            shapes = [
                list(arg.shape)
                if isinstance(arg, torch.Tensor)
                else [list(part.shape) if isinstance(part, torch.Tensor) else part for part in arg]
                if isinstance(arg, (list, tuple))
                else arg
                for arg in args
            ]
            seen.append((str(func), flat(shapes)))
            assert types == ()
            return func(*args, **(kwargs or {}))

    with Mode():
        got = call()
    assert seen[-1] == (operator, flat(args))
    expected = call()
    for a, b in zip(
        got if isinstance(got, tuple) else [got],
        expected if isinstance(expected, tuple) else [expected],
        strict=False,
    ):
        assert torch.equal(a, b)


def test_operators_that_consist_of_others_are_shown_as_these():
    assert log(lambda: F.linear(x, square, row)).names == ["aten.t.default", "aten.addmm.default"]
    assert log(lambda: F.cross_entropy(x, index)).names[:2] == [
        "aten._log_softmax.default",
        "aten.nll_loss_forward.default",
    ]
    assert log(lambda: torch.nn.Linear(3, 2)(x)).names[-2:] == ["aten.t.default", "aten.addmm.default"]


def test_keywords_that_differ_from_their_defaults_are_shown():
    assert log(lambda: torch.add(x, x, alpha=2)).calls == [
        ("aten.add.Tensor", ["T[2, 3]", "T[2, 3]"], [["alpha", 2]])
    ]
    assert log(lambda: x.sum(dtype=torch.float64)).calls == [
        ("aten.sum.default", ["T[2, 3]"], [["dtype", torch.float64]])
    ]


def test_backward_is_shown():
    y = x.clone().requires_grad_()
    z = y.sin()
    names = log(lambda: z.backward(torch.ones(2, 3))).names
    assert "aten.cos.default" in names
    assert "aten.mul.Tensor" in names


def test_a_mode_may_answer_with_something_else():
    class Cosine(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return aten.cos.default(*args) if func is aten.sin.default else func(*args, **(kwargs or {}))

    y = x.clone().requires_grad_()
    with Cosine():
        z = y.sin()
    assert torch.equal(z, y.cos())
    assert z.grad_fn.name() == "SinBackward0"
    z.sum().backward()
    assert torch.equal(y.grad, y.detach().cos())


def test_history_is_recorded_above_the_mode():
    seen = []

    class Mode(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            out = func(*args, **(kwargs or {}))
            seen.append((out.requires_grad, args[0].requires_grad))
            return out

    y = x.clone().requires_grad_()
    with Mode():
        z = y.exp()
    assert seen[0] == (False, True)
    assert z.requires_grad


def test_the_innermost_mode_is_shown_an_operator_first():
    order = []

    class Named(TorchDispatchMode):
        def __init__(self, name):
            super().__init__()
            self.name = name

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            order.append(f"{self.name} {func}")
            return func(*args, **(kwargs or {}))

    with Named("outer"), Named("inner"):
        x.exp()
        x > 0  # noqa: B015
    assert order == [
        "inner aten.exp.default",
        "outer aten.exp.default",
        "inner aten.gt.Scalar",
        "outer aten.gt.Scalar",
    ]


def test_operators_that_a_mode_calls_itself_go_to_the_modes_around_it():
    names = []

    class Outer(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            names.append(str(func))
            return func(*args, **(kwargs or {}))

    class Inner(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return func(args[0] * 2, **(kwargs or {}))

    with Outer(), Inner():
        y = x.exp()
    assert torch.equal(y, (x * 2).exp())
    assert names == ["aten.mul.Tensor", "aten.exp.default"]


def test_a_mode_sees_which_modes_there_are():
    assert _get_current_dispatch_mode() is None
    with Log() as outer, Log() as inner:
        assert _get_current_dispatch_mode() is inner
        assert _get_current_dispatch_mode_stack() == [outer, inner]
        with _disable_current_modes():
            x.exp()
            assert _get_current_dispatch_mode() is None
        assert _get_current_dispatch_mode_stack() == [outer, inner]
    assert outer.names == inner.names == []


def test_an_exception_leaves_the_modes_as_they_were():
    class Broken(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            raise KeyError(str(func))

    with Log() as outer:
        with raises(KeyError, "'aten.exp.default'"), Broken():
            x.exp()
        assert _get_current_dispatch_mode() is outer
    assert _get_current_dispatch_mode() is None


def test_a_mode_without_the_method_is_of_no_use():
    with raises(NotImplementedError, ""), TorchDispatchMode():
        x.exp()


def test_an_answer_must_be_tensors():
    class Wrong(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return "nothing"

    with raises(RuntimeError, "Unable to cast nothing to Tensor"), Wrong():
        x.exp()


def test_operators_have_names():
    operator = aten.add.Tensor
    assert str(operator) == "aten.add.Tensor"
    assert repr(operator) == "<OpOverload(op='aten.add', overload='Tensor')>"
    assert repr(aten.mm.default) == "<OpOverload(op='aten.mm', overload='default')>"
    assert (operator.name(), aten.mm.default.name()) == ("aten::add.Tensor", "aten::mm")
    assert (operator.__name__, operator.__qualname__, operator.__module__) == (
        "add.Tensor",
        "aten::add.Tensor",
        "torch._ops.aten",
    )
    assert operator.namespace == "aten"
    assert operator._overloadname == "Tensor"
    assert str(operator._schema) == "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert (operator._schema.name, operator._schema.overload_name) == ("aten::add", "Tensor")
    assert [argument.name for argument in operator._schema.arguments] == ["self", "other", "alpha"]


def test_all_operators_of_a_name_are_a_packet():
    assert repr(aten.mm) == "<OpOverloadPacket(op='aten.mm')>"
    assert str(aten.mm) == "aten.mm"
    assert aten.mm.default.overloadpacket is aten.mm
    assert {"Tensor"} <= set(aten.add.overloads())
    assert aten.add._qualified_op_name == "aten::add"


def test_operators_are_the_same_wherever_they_come_from():
    assert aten.add.Tensor is aten.add.Tensor
    assert aten.add.Tensor == copy.deepcopy(aten.add.Tensor)
    assert hash(aten.add.Tensor) == hash(torch.ops.aten.add.Tensor)
    assert aten.add.Tensor != aten.mul.Tensor
    assert aten.add != aten.add.Tensor
    assert len({aten.add.Tensor, aten.add.Tensor, aten.mm.default}) == 2


def test_operators_say_what_they_write_to_and_show():
    assert aten.add_.Tensor._schema.is_mutable
    assert not aten.add.Tensor._schema.is_mutable
    assert aten.view.default.is_view
    assert not aten.mm.default.is_view
    assert aten.add_.Tensor._schema.arguments[0].alias_info.is_write
    assert aten.add.Tensor._schema.arguments[0].alias_info is None
    assert str(aten.add_.Tensor._schema) == (
        "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)"
    )


def test_operators_compute_what_functions_compute():
    assert torch.equal(aten.mm.default(x, square), x @ square)
    assert torch.equal(aten.mm(x, square), x @ square)
    assert torch.equal(aten.add.Tensor(x, 2), x + 2)
    assert torch.equal(aten.sum.dim_IntList(x, [0], True), x.sum(0, keepdim=True))
    assert torch.equal(aten.slice.Tensor(x, 1, 1, 3), x[:, 1:3])
    assert torch.equal(aten._softmax.default(x, -1, False), x.softmax(-1))
    y = x.clone()
    aten.add_.Tensor(y, 1)
    assert torch.equal(y, x + 1)
    y = x.clone().requires_grad_()
    assert aten.sin.default(y).grad_fn.name() == "SinBackward0"


def test_unknown_operators_are_refused():
    with raises(AttributeError, "'_OpNamespace' 'aten' object has no attribute 'no_such_operator'"):
        aten.no_such_operator  # noqa: B018
    with raises(AttributeError, "The underlying op of 'aten.add' has no overload name 'no_such'"):
        aten.add.no_such  # noqa: B018


@pytest.mark.own
def test_the_table_is_read_when_it_is_needed():
    run_script("import sys, rushlight; assert 'rushlight._ops' not in sys.modules")


@pytest.mark.own
def test_every_line_of_the_table_is_an_operator():
    from rushlight._ops import table

    nodes, packets = table()
    assert len(packets) > 300
    assert all(found for found in nodes.values())

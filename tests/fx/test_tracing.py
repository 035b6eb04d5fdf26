"""`fx.symbolic_trace`: what functions and modules do, as graphs and as code."""

import copy
import pickle
from typing import Optional

import pytest
import rushlight as torch
from rushlight import fx
from support import raises


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = torch.nn.Linear(3, 4)
        self.p = torch.nn.Parameter(torch.ones(3))
        self.seq = torch.nn.Sequential(torch.nn.ReLU(), torch.nn.Linear(4, 2))
        self.register_buffer("b", torch.zeros(2))

    def forward(self, x: torch.Tensor, y: int = 3, *args, flag=None, **kw):
        z = torch.relu(x + self.p) * y
        z = self.lin(z).clamp(min=0.0, max=1.0)
        z = self.seq(z)[:, 0:1]
        z = z.shape[0] + z.view(-1)
        a, b = torch.split(z, 2)
        return {"a": [a, b], "c": (-z, torch.float32, torch.add(z, 1, alpha=2)), "d": self.b}


CODE = """\
def forward(self, x : torch.Tensor, y : int = 3, flag = None, *args, **kw):
    _args = args
    _kw = kw
    p = self.p
    add = x + p;  x = p = None
    relu = torch.relu(add);  add = None
    mul = relu * y;  relu = y = None
    lin = self.lin(mul);  mul = None
    clamp = lin.clamp(min = 0.0, max = 1.0);  lin = None
    seq_0 = getattr(self.seq, "0")(clamp);  clamp = None
    seq_1 = getattr(self.seq, "1")(seq_0);  seq_0 = None
    getitem = seq_1[(slice(None, None, None), slice(0, 1, None))];  seq_1 = None
    getattr_1 = getitem.shape
    getitem_1 = getattr_1[0];  getattr_1 = None
    view = getitem.view(-1);  getitem = None
    add_1 = getitem_1 + view;  getitem_1 = view = None
    split = torch.functional.split(add_1, 2, dim = 0)
    getitem_2 = split[0]
    getitem_3 = split[1];  split = None
    neg = -add_1
    add_2 = torch.add(add_1, 1, alpha = 2);  add_1 = None
    b = self.b
    return {'a': [getitem_2, getitem_3], 'c': (neg, torch.float32, add_2), 'd': b}"""

GRAPH = """\
graph():
    %x : [num_users=3] = placeholder[target=x]
    %y : [num_users=2] = placeholder[target=y]
    %relu : [num_users=1] = call_function[target=torch.nn.functional.relu](args = (%x,), kwargs = {inplace: False})
    %matmul : [num_users=1] = call_function[target=operator.matmul](args = (%relu, %y), kwargs = {})
    %t : [num_users=1] = call_method[target=t](args = (%x,), kwargs = {})
    %add : [num_users=1] = call_function[target=operator.add](args = (%matmul, %t), kwargs = {})
    %mod : [num_users=1] = call_function[target=operator.mod](args = (3, %x), kwargs = {})
    %sub : [num_users=1] = call_function[target=operator.sub](args = (%add, %mod), kwargs = {})
    %lt : [num_users=1] = call_function[target=operator.lt](args = (%sub, %y), kwargs = {})
    %_tensor_constant0 : [num_users=1] = get_attr[target=_tensor_constant0]
    return (lt, _tensor_constant0)"""


def code_of(function, *args, **kwargs):
    return fx.symbolic_trace(function, *args, **kwargs).code.strip()


def test_the_code_of_a_module():
    assert code_of(Model()) == CODE


def test_the_text_of_a_graph():
    def function(x, y):
        return torch.nn.functional.relu(x) @ y + x.t() - 3 % x < y, torch.zeros(3)

    assert str(fx.symbolic_trace(function).graph) == GRAPH


def test_a_traced_module_does_what_the_module_does():
    model = Model()
    traced = fx.symbolic_trace(model)
    x = torch.randn(4, 3)
    expected, found = model(x), traced(x)
    assert found["a"][0].equal(expected["a"][0]) and found["c"][2].equal(expected["c"][2])
    assert list(traced.state_dict()) == ["p", "b", "lin.weight", "lin.bias", "seq.1.weight", "seq.1.bias"]
    assert repr(traced.lin) == "Linear(in_features=3, out_features=4, bias=True)"
    found["a"][0].sum().backward()
    assert model.p.grad is not None


@pytest.mark.parametrize(
    ("function", "lines"),
    [
        (lambda x: x // 2**x & 1, ["pow_1 = 2 ** x", "floordiv = x // pow_1", "and_ = floordiv & 1"]),
        (lambda x: 2 - x, ["sub = 2 - x"]),
        (lambda x: x.foo.bar(3), ["getattr_1 = x.foo", "bar = getattr_1.bar(3)"]),
        (lambda x: torch.sum(x, dim=(1, 2)), ["sum_1 = torch.sum(x, dim = (1, 2))"]),
        (lambda input: input + 1, ["input_1 = input", "add = input_1 + 1"]),
        (lambda x: x.add_(1), ["add_ = x.add_(1)"]),
        (lambda x: torch.einsum("ij->i", x), ["einsum = torch.functional.einsum('ij->i', x)"]),
        (lambda x: torch.nn.functional.gelu(x), ["gelu = torch._C._nn.gelu(x)"]),
        (lambda x: torch.ops.aten.add.Tensor(x, 1), ["add_tensor = torch.ops.aten.add.Tensor(x, 1)"]),
    ],
)
def test_how_calls_are_written(function, lines):
    found = [line.strip().partition(";")[0] for line in code_of(function).split("\n")]
    assert found[1:-1] == lines


def test_values_are_written_as_python():
    def function(x):
        return x, None, 1.5, "a", float("inf"), torch.device("cpu"), slice(1, 2), ...

    traced = fx.symbolic_trace(function)
    written = "return (x, None, 1.5, 'a', inf, device(type='cpu'), slice(1, 2, None), Ellipsis)"
    assert traced.code.strip().endswith(written)
    assert traced(3) == function(3)


def test_annotations_are_kept():
    def function(x: list[torch.Tensor], y: Optional[torch.Tensor] = None) -> torch.Tensor:  # noqa: UP045
        return x[0] + y

    traced = fx.symbolic_trace(function)
    head = "def forward(self, x : list[torch.Tensor], y : typing_Union[torch.Tensor,NoneType] = None) -> torch.Tensor:"
    assert traced.code.strip().split("\n")[0] == head
    assert traced([torch.ones(1)], torch.ones(1)).item() == 2.0


def test_what_cannot_be_traced_says_so():
    trace = fx.symbolic_trace
    with raises(
        fx.proxy.TraceError, "symbolically traced variables cannot be used as inputs to control flow"
    ):
        trace(lambda x: x if x.sum() > 0 else -x)
    with raises(fx.proxy.TraceError, "Proxy object cannot be iterated."):
        trace(lambda x: list(x))
    with raises(RuntimeError, "'len' is not supported in symbolic tracing by default."):
        trace(lambda x: len(x))


def test_arguments_that_are_known():
    def function(x, flag):
        return x + 1 if flag else x

    traced = fx.symbolic_trace(function, concrete_args={"flag": True})
    assert traced(torch.ones(1), True).item() == 2.0
    with raises(AssertionError, "flag has been specialized to have value True but got another value"):
        traced(torch.ones(1), False)


def test_arguments_that_are_nested():
    def function(d):
        return {"sum": d["a"] + d["b"][0]}

    traced = fx.symbolic_trace(function, concrete_args={"d": {"a": fx.PH, "b": [fx.PH]}})
    assert "d_1, d_2, = fx_pytree.tree_flatten_spec([d], self._in_spec)" in traced.code
    assert traced({"a": torch.ones(1), "b": [torch.ones(1)]})["sum"].item() == 2.0


@fx.wrap
def kept(x):
    return x if x.sum() > 0 else -x


def test_wrapped_functions_are_one_call():
    traced = fx.symbolic_trace(lambda x: kept(x) * 2)
    assert [node.name for node in traced.graph.nodes] == ["x", "kept", "mul", "output"]
    assert traced(-torch.ones(1)).item() == 2.0
    with raises(NotImplementedError, "wrap must be called at the top level of a module"):
        fx.wrap("len")


def test_nothing_stays_exchanged_after_a_failure():
    before = torch.nn.Module.__call__, kept
    with pytest.raises(ZeroDivisionError):
        fx.symbolic_trace(lambda x: 1 / 0)
    assert (torch.nn.Module.__call__, kept) == before and not fx._symbolic_trace.is_fx_tracing()
    assert torch.nn.Linear(1, 1)(torch.ones(1)).shape == (1,)


def test_tracers_decide_what_is_a_leaf():
    class Inner(torch.nn.Module):
        def forward(self, x):
            return x.relu()

    class Outer(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = Inner()

        def forward(self, x):
            return self.inner(x) + 1

    class Keeping(fx.Tracer):
        def is_leaf_module(self, m, module_qualified_name):
            return True

    assert [node.op for node in Keeping().trace(Outer()).nodes] == [
        "placeholder",
        "call_module",
        "call_function",
        "output",
    ]
    assert [node.op for node in fx.Tracer().trace(Outer()).nodes][1] == "call_method"


def test_copies_and_pickles_do_the_same():
    traced = fx.symbolic_trace(torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU()).eval())
    x = torch.randn(2, 3)
    for other in (copy.deepcopy(traced), pickle.loads(pickle.dumps(traced)), copy.copy(traced)):
        assert other(x).equal(traced(x)) and other.code == traced.code and not other.training
    assert copy.deepcopy(traced).get_submodule("0") is not traced.get_submodule("0")


def test_assertions_are_recorded():
    def function(x):
        torch._assert(x.shape[0] == 2, "two rows")
        return x

    traced = fx.symbolic_trace(function)
    traced.graph.eliminate_dead_code()
    traced.recompile()
    assert traced(torch.ones(2)).shape == (2,)
    with raises(AssertionError, "two rows"):
        traced(torch.ones(3))


@pytest.mark.own
def test_lines_of_code_are_shown_where_they_fail():
    import traceback

    traced = fx.symbolic_trace(lambda x, y: x @ y)
    try:
        traced(torch.ones(2, 3), torch.ones(2, 3))
    except RuntimeError as error:
        assert "matmul = x @ y" in "".join(traceback.format_exception(error))

"""Operators of one name that take different arguments, and the older forms of declaring them."""

from itertools import count

import pytest
import rushlight as torch
from rushlight.autograd.profiler import profile
from rushlight.library import Library, define, impl
from support import raises

numbers = count()


@pytest.fixture
def name():
    return f"overloads{next(numbers)}"


def test_that_the_first_that_takes_the_arguments_is_called(name):
    for schema in [
        "op(Tensor x) -> Tensor",
        "op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)",
        "op.Scalar(Tensor x, Scalar y) -> Tensor",
    ]:
        own, _, rest = schema.partition("(")
        torch.library.define(f"{name}::{own}", f"({rest}")
    torch.library.impl(f"{name}::op", "CPU", lambda x: x + 1)
    torch.library.impl(f"{name}::op.Scalar", "CPU", lambda x, y: x + y)
    torch.library.impl(f"{name}::op.out", "CPU", lambda x, out: out.copy_(x + 2))
    op, x = getattr(torch.ops, name).op, torch.ones(2)
    assert op.overloads() == ["default", "out", "Scalar"]
    assert op(x).tolist() == [2.0, 2.0] and op(x, 5).tolist() == [6.0, 6.0]
    out = torch.zeros(2)
    assert op(x, out=out).tolist() == [3.0, 3.0] and out.tolist() == [3.0, 3.0]
    assert op.out.name() == f"{name}::op.out" and str(op.Scalar) == f"{name}.op.Scalar"
    with raises(RuntimeError, "Overloaded torch operator invoked from Python failed to match any schema:"):
        op()
    with raises(AttributeError, f"The underlying op of '{name}.op' has no overload name 'foo'"):
        op.foo  # noqa: B018


def test_an_overload_that_is_declared_alone(name):
    library = Library(name, "DEF")
    assert library.define("op.out(Tensor x, *, Tensor(a!) out) -> Tensor(a!)") == "op"
    library.impl("op.out", lambda x, out: out.copy_(x * 3), "CPU")
    x = torch.ones(2)
    assert getattr(torch.ops, name).op(x, out=torch.zeros(2)).tolist() == [3.0, 3.0]
    library._destroy()
    with raises(AttributeError, f"'_OpNamespace' '{name}' object has no attribute 'op'"):
        getattr(torch.ops, name).op  # noqa: B018


def test_the_older_forms(name):
    library = Library(name, "DEF")
    library.define("tripled(Tensor x) -> Tensor")

    @impl(library, "tripled", "CPU")
    def tripled(x):
        return x * 3

    @define(library, "fourfold(Tensor x) -> Tensor")
    def fourfold(x):
        return x * 4

    x, known = torch.ones(1), getattr(torch.ops, name)
    assert known.tripled(x).item() == 3.0 and known.fourfold(x).item() == 4.0
    assert tripled(x).item() == 3.0 and fourfold(x).item() == 4.0


def test_libraries_that_are_refused():
    with raises(ValueError, "Unsupported kind: BLA"):
        Library("other", "BLA")
    with raises(ValueError, "prim is a reserved namespace. Please try creating a library with another name."):
        Library("prim", "DEF")


@pytest.mark.parametrize("begin", ["_record_function_enter", "_record_function_enter_new"])
def test_operators_label_profiles(begin):
    known = torch.ops.profiler
    with profile() as seen:
        label = getattr(known, begin)("labelled", None)
        torch.ones(2)
        known._record_function_exit(label)
    assert "labelled" in [event.name for event in seen.function_events]


def test_names_and_schemas_that_are_refused():
    expected = 'Expected `qualname` to be of the form "namespace::name", but got foo.'
    for refused in (
        lambda: define("foo", "() -> ()"),
        lambda: impl("foo", "cpu", len),
        lambda: torch.library.register_fake("foo", len),
    ):
        with raises(ValueError, expected):
            refused()
    with raises(ValueError, "define(qualname, schema, ...): expected schema to look like e.g."):
        define("refused::foo", "(")
    with raises(
        ValueError, "define(qualname, schema): expected qualname to be instance of str, got <class 'int'>"
    ):
        define(3, "() -> ()")
    with raises(RuntimeError, "Expected one of cpu, cuda, ipu, xpu"):
        impl("refused::foo", "bogus", len)

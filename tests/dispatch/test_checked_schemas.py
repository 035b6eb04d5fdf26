"""A mode that compares what operators do with what their schemas say."""

from itertools import count

import pytest
import rushlight as torch
from rushlight._subclasses.schema_check_mode import SchemaCheckMode
from rushlight.library import Library
from support import raises

numbers = count()


def operator(schema, function):
    library = Library(f"schemas{next(numbers)}", "DEF")
    library.define(f"op{schema}")
    library.impl("op", function, "CPU")
    return getattr(torch.ops, library.ns).op, library


def test_what_is_seen_of_operators():
    x = torch.tensor([1.0, 2.0])
    with SchemaCheckMode() as seen:
        x.relu().sin()
    assert seen.ops == ["aten::relu", "aten::sin"] and seen.mutated == seen.aliasing == []
    with SchemaCheckMode() as seen:
        x.sinh_()
    assert seen.mutated == [("aten::sinh_", "input")]
    assert seen.aliasing == [("aten::sinh_", "input", "output_0")]


def test_that_an_argument_stands_for_what_has_its_memory():
    x = torch.ones(2)
    with SchemaCheckMode() as seen:
        x.add_(x)
    assert seen.mutated == [("aten::add_", "input"), ("aten::add_", "other")]
    assert x.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("schema", "function", "words"),
    [
        (
            "(Tensor x) -> Tensor",
            lambda x: x.view(-1),
            "Argument x is not defined to alias output but was aliasing",
        ),
        (
            "(Tensor x) -> Tensor",
            lambda x: x.mul_(2) * 3,
            "Argument x is not defined as mutable but was mutated",
        ),
        ("(Tensor(a) x) -> Tensor(a)", lambda x: x, "Custom operators such as"),
    ],
)
def test_that_what_is_not_said_is_refused(schema, function, words):
    op, _library = operator(schema, function)
    with raises(RuntimeError, words), SchemaCheckMode():
        op(torch.ones(2, 2))


def test_names_of_tests_of_compilers():
    from rushlight._dynamo.testing import CompileCounter, normalize_gm, rand_strided
    from rushlight._dynamo.utils import clone_input
    from rushlight._functorch.aot_autograd import aot_function, make_boxed_func

    counter = CompileCounter()
    assert torch.compile(lambda x: x + 1, backend=counter)(torch.ones(1)).item() == 2.0
    assert counter.frame_count == 0  # Functions run as they are written.
    assert normalize_gm("# a\nx = 1  \n") == "x = 1\n"
    assert rand_strided((2, 3), (1, 4)).stride() == (1, 4)
    leaf = torch.ones(2, requires_grad=True)
    assert clone_input(leaf).requires_grad and not clone_input(leaf * 2).requires_grad
    assert aot_function(len, None) is len and make_boxed_func(lambda x, y: x + y)([1, 2]) == 3

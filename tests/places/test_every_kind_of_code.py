"""The line that recorded a node is known whatever kind of code it stands in."""

import asyncio
import functools
import sys
import traceback

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.distributions import Normal

pytestmark = pytest.mark.own


@pytest.fixture
def x():
    return torch.ones(2, requires_grad=True)


def place(tensor):
    """The file and line that the node of `tensor` was recorded by."""
    origin = torch.graph(tensor).nodes[0].origin
    return origin.file, origin.line


def here():
    """The file and line of the caller."""
    frame = sys._getframe(1)
    return frame.f_code.co_filename, frame.f_lineno


def pair(x):
    return x * 2, here()


def in_a_function(x):
    return pair(x)


def in_a_closure(x):
    def inner():
        return x * 2, here()

    return inner()


def in_a_lambda(x):
    return (lambda: (x * 2, here()))()


def in_a_comprehension(x):
    return [(x * number, here()) for number in range(3)][-1]


def in_a_generator(x):
    def steps():
        for number in range(3):
            yield x * number, here()

    return list(steps())[-1]


def in_a_class_body(x):
    class Body:
        found = x * 2, here()

    return Body.found


def in_a_coroutine(x):
    async def later():
        await asyncio.sleep(0)
        return x * 2, here()

    return asyncio.run(later())


def called_from_c(x):
    return next(map(pair, [x]))


def called_by_a_partial(x):
    return functools.partial(pair, x)()


def compared_by_sort(x):
    found = []

    class Key:
        def __lt__(self, other):
            found.append((x * 2, here()))
            return False

    sorted([Key(), Key()])
    return found[0]


def in_a_module(x):
    class Twice(nn.Module):
        def forward(self, x):
            return x * 2, here()

    return Twice()(x)


def behind_the_packages_own_code(x):
    return nn.Sequential(nn.ReLU())(x), here()


def behind_the_packages_own_class(x):
    for _ in range(100):  # After some calls the interpreter makes a short cut of them.
        found = Normal(x, torch.ones(3, 2)).loc, here()
    return found


def while_it_is_traced(x):
    sys.settrace(lambda *_: None)
    try:
        return x * 2, here()
    finally:
        sys.settrace(None)


def after_an_exception(x):
    try:
        raise ValueError
    except ValueError:
        return x * 2, here()


def far_down(x, depth=300):
    return pair(x) if depth == 0 else far_down(x, depth - 1)


WAYS = [
    value
    for name, value in list(globals().items())
    if getattr(value, "__code__", None)
    and value.__code__.co_varnames[:1] == ("x",)
    and name not in ("x", "pair")
]


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
def test_a_node_knows_its_line(way, x):
    tensor, expected = way(x)
    assert place(tensor) == expected


def test_all_ways_were_tried():
    assert len(WAYS) == 16


def test_a_line_is_that_of_the_instruction_not_of_the_function(x):
    first = x * 2
    # Something between.
    second = x * 2
    assert place(second)[1] == place(first)[1] + 2


def test_a_traceback_shows_the_functions_that_python_shows(x):
    class Made:
        def __init__(self):
            self.shown, self.tensor = [frame.name for frame in traceback.extract_stack()], x * 2

    with pytest.warns(UserWarning, match="Anomaly Detection has been enabled"):
        mode = torch.autograd.detect_anomaly()
    with mode:
        for _ in range(100):
            made = min([Made()], key=lambda made: 0)
    lines = made.tensor.grad_fn.metadata["traceback_"]
    assert [line.splitlines()[0].rpartition(", in ")[2] for line in lines] == made.shown

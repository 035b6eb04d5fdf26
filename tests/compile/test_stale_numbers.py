"""What a program looks at again in every run: numbers that operations refuse, and those that are counted."""

import pytest
import rushlight as torch

pytestmark = pytest.mark.own

functional = torch.nn.functional
rows = torch.arange(12.0).reshape(4, 3)


def classes(*numbers):
    return torch.tensor(numbers)


# The function, two arguments that it takes, and one that it refuses.
CASES = {
    "gather": (
        lambda i: rows.gather(1, i),
        (classes([0], [1], [2], [0]), classes([2], [2], [1], [1]), classes([9], [1], [1], [1])),
    ),
    "take_along_dim": (
        lambda i: rows.take_along_dim(i, 0),
        (classes([0, 1, 1]), classes([3, 2, 0]), classes(9, 1, 1)),
    ),
    "scatter": (
        lambda i: rows.scatter(1, i, 1.0),
        (classes([0], [1], [2], [0]), classes([2], [2], [1], [1]), classes([9], [1], [1], [1])),
    ),
    "scatter_add": (
        lambda i: rows.scatter_add(1, i, rows),
        (classes([0], [1], [2], [0]), classes([2], [2], [1], [1]), classes([9], [1], [1], [1])),
    ),
    "division": (lambda i: classes(3, 4) // i, (classes(3, 4), classes(5, 6), classes(0, 6))),
    "remainder": (lambda i: classes(3, 4) % i, (classes(3, 4), classes(5, 6), classes(0, 6))),
    "embedding": (lambda i: functional.embedding(i, rows), (classes(0, 1), classes(3, 2), classes(9, 1))),
    "nll_loss": (
        lambda i: functional.nll_loss(rows, i),
        (classes(0, 1, 2, 0), classes(0, -100, 2, -100), classes(9, 0, 0, 0)),
    ),
    "cross_entropy": (
        lambda i: functional.cross_entropy(rows, i, label_smoothing=0.1),
        (classes(0, 1, 2, 0), classes(0, -100, 2, -100), classes(9, 0, 0, 0)),
    ),
    "weighted": (
        lambda i: functional.cross_entropy(rows, i, weight=torch.tensor([1.0, 2.0, 3.0])),
        (classes(0, 1, 2, 0), classes(0, -100, 2, 1), classes(9, 0, 0, 0)),
    ),
}


def outcome(function, argument):
    try:
        return repr(function(argument))
    except (RuntimeError, IndexError) as error:
        return type(error), str(error)


@pytest.mark.parametrize("name", CASES)
def test_other_numbers_have_the_same_outcome_as_without(name):
    function, (first, second, refused) = CASES[name]
    compiled = torch.compile(function)
    for _ in range(6):
        compiled(first)
    for argument in (second, refused, first, refused):
        assert outcome(compiled, argument) == outcome(function, argument)


@pytest.mark.parametrize("name", sorted(CASES.keys() - {"weighted"}))
def test_such_functions_are_recorded(name):
    function, (first, second, refused) = CASES[name]
    compiled = torch.compile(function)
    for _ in range(6):
        compiled(first)
    assert compiled.programs, compiled.reason
    assert isinstance(outcome(compiled, refused), tuple)
    assert outcome(compiled, second) == outcome(function, second)
    assert compiled.programs

"""Reductions and softmax, which a kernel writes as a whole: computed into memory that is kept, with the bits of eager."""

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own

SPECIAL = [float("nan"), float("inf"), -float("inf"), -0.0, 0.0, 1e-45, 0.5, -2.0]
SHAPES = [(1, 1), (3, 5), (4, 200), (70, 6), (2, 0)]


def numbers(shape, dtype):
    count = shape[0] * shape[1]
    return torch.tensor((SPECIAL * (count // len(SPECIAL) + 1))[:count], dtype=dtype).reshape(shape)


def over(x, dim):
    """Results of what lies in order, and of what does not."""
    turned = x.t()
    extremes = (
        []
        if 0 in x.shape
        else [x.amax(dim), x.amin(dim, keepdim=True), turned.amax((0, 1)), x.max(), x.min()]
    )
    spread = [x.softmax(dim), x.log_softmax(dim), turned.softmax(dim).t(), torch.softmax(x, dim).sum(dim)]
    return [*extremes, *spread, x.logsumexp(dim), turned.logsumexp((0, 1)), x.sum(dim), turned.mean(dim)]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("dim", [0, 1])
def test_results_are_those_of_eager(shape, dtype, dim):
    def make():
        x = numbers(shape, dtype)
        return lambda x: tuple(found * 2 for found in over(x, dim)), lambda number: (x + number,), (x,)

    compiled = run_both(make, 8)
    assert len(compiled.programs) == 1, compiled.reason


@pytest.mark.parametrize("dim", [0, 1])
def test_gradients_are_those_of_eager(dim):
    def make():
        torch.manual_seed(0)
        w = torch.randn(4, 7, requires_grad=True)

        def step(x):
            w.grad = None
            loss = sum((found * found.detach()).sum() for found in over(w * x, dim))
            loss.backward()
            return loss.detach()

        return step, lambda number: (torch.randn(4, 7),), (w,)

    compiled = run_both(make, 20)
    assert len(compiled.programs) == 1, compiled.reason


def test_they_are_computed_into_memory_that_is_kept():
    def function(x):
        y = x.softmax(-1).log_softmax(0).amax(1, keepdim=True)
        return y.logsumexp(0).amin() * 2

    compiled = torch.compile(function)
    for _ in range(6):
        compiled(torch.randn(5, 3))
    groups = [(name, is_kept) for name, _, is_kept in compiled.programs[0].groups()]
    assert len(groups) >= 5
    assert all(is_kept for _, is_kept in groups[:-1]), groups

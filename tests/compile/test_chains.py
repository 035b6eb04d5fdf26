"""Chains of operations with numbers are computed at once, with the bits of one after the other."""

import pytest
import rushlight as torch
from rushlight.utils._pytree import tree_leaves

pytestmark = pytest.mark.own


def plain(x):
    for turn in range(9):
        x = (x * (1.01 + turn) + 0.1 - turn) * -0.3
    return x


def with_something_seen(x):
    first = x * 1.5 + 0.25
    second = first * 3 - 1
    return second * 2 + 1, first


def with_another_reader(x):
    first = x * 1.5 + 0.25
    second = first * 3 - 1
    return second * first - second


def with_other_operations_between(x):
    return (torch.tanh(x * 2 + 1) * 3 - 1).sum() * 2 + 1


def longer_than_any(x):
    for _ in range(150):
        x = x * 1.01 + 0.01
    return x


FUNCTIONS = [plain, with_something_seen, with_another_reader, with_other_operations_between, longer_than_any]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64], ids=str)
@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)
def test_the_bits_are_those_of_one_after_the_other(function, dtype):
    for size in ((), (1,), (5,), (3, 100), (20_000,)):
        compiled = torch.compile(function)
        for seed in range(6):
            torch.manual_seed(seed)
            x = torch.randn(size, dtype=dtype)
            kept = x.clone()
            found, expected = compiled(x), function(x)
            for a, b in zip(tree_leaves(found), tree_leaves(expected), strict=True):
                assert torch.equal(a, b), (size, seed)
            assert torch.equal(x, kept)
        assert compiled.programs


def test_gradients_pass_chains_backwards():
    def step(start):
        x = start.detach().requires_grad_()
        plain(x).sum().backward()
        return x.grad

    compiled = torch.compile(step)
    for seed in range(6):
        torch.manual_seed(seed)
        start = torch.randn(10_000)
        assert torch.equal(compiled(start), step(start))
    assert compiled.programs


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_what_is_joined_is_joined_where_it_is_kept(dim):
    def joined(x, y):
        whole = torch.cat([x * 2, y, x + y], dim)
        stacked = torch.stack([whole, -whole, whole * whole], dim)
        return stacked.sum(), torch.cat([whole, whole.exp()], dim).mean()

    compiled = torch.compile(joined)
    for seed in range(6):
        torch.manual_seed(seed)
        x, y = torch.randn(3, 4, 5), torch.randn(3, 4, 5)
        assert all(torch.equal(a, b) for a, b in zip(compiled(x, y), joined(x, y), strict=True))
    assert compiled.programs

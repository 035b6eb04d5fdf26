"""Indices that all samples share: what they name of each, and how it lies in memory."""

import pytest
import rushlight as torch
from rushlight.func import vmap

INDEX = torch.tensor([2, 0])
MASK = torch.tensor([True, False, True])
X = torch.arange(120.0).reshape(2, 3, 4, 5)


@pytest.mark.parametrize(
    "pick",
    [
        lambda x: x[INDEX],
        lambda x: x[:, INDEX],
        lambda x: x[INDEX, INDEX],
        lambda x: x[..., INDEX],
        lambda x: x[MASK],
        lambda x: x[INDEX, None],
        lambda x: x[1, :, INDEX],
    ],
)
def test_what_is_picked_lies_row_major(pick):
    picked = vmap(pick)(X)
    assert torch.equal(picked, torch.stack([pick(x) for x in X]))
    assert picked.is_contiguous()
    last = vmap(pick, in_dims=-1)(X.movedim(0, -1))
    assert torch.equal(last, picked) and last.is_contiguous()


def test_places_apart_come_before_the_samples():
    def pick(x):
        return x[INDEX, :, INDEX]

    picked = vmap(pick)(X)
    assert torch.equal(picked, torch.stack([pick(x) for x in X]))
    assert picked.stride() == (4, 8, 1)


@pytest.mark.parametrize("values", [torch.tensor(7.0), torch.arange(5.0), torch.arange(20.0).reshape(4, 5)])
@pytest.mark.parametrize("accumulate", [False, True])
def test_what_is_put_at_places_lies_row_major(values, accumulate):
    def put(x, values):
        return x.index_put((INDEX,), values, accumulate=accumulate)

    shared = vmap(put, in_dims=(0, None))(X, values)
    assert torch.equal(shared, torch.stack([put(x, values) for x in X]))
    assert shared.is_contiguous()
    own = torch.stack([values, values + 1])
    assert torch.equal(vmap(put)(X, own), torch.stack([put(x, v) for x, v in zip(X, own, strict=True)]))
    into_one = vmap(put, in_dims=(None, 0))(X[0], own)
    assert torch.equal(into_one, torch.stack([put(X[0], v) for v in own]))


@pytest.mark.own  # torch confuses places and samples if there are as many.
def test_values_are_put_at_places_apart():
    def put(x, values):
        x = x.clone()
        x[INDEX, :, INDEX] = values
        return x

    values = torch.arange(16.0).reshape(2, 2, 4)
    expected = torch.stack([put(x, v) for x, v in zip(X, values, strict=True)])
    assert torch.equal(vmap(put)(X, values), expected)


@pytest.mark.parametrize("name", ["input", "target"])
def test_a_probability_out_of_range_is_refused_in_every_sample(name):
    def loss(**given):
        return torch.nn.functional.binary_cross_entropy(**{"input": fine, "target": fine, **given})

    fine = torch.tensor([0.1, 0.2])
    samples = torch.tensor([[0.2, 0.5], [0.2, 1.5]])
    with pytest.raises(RuntimeError, match=f"^all elements of {name} should be between 0 and 1$"):
        vmap(lambda sample: loss(**{name: sample}))(samples)

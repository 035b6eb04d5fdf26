"""Searches and factors of many samples, and what has a shape that only its numbers tell."""

import pytest
import rushlight as torch
from rushlight.func import vmap

# torch warns where it runs one sample after the other, and of copies.
pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop", "ignore:torch.searchsorted")

ROWS = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0]])
VALUES = torch.tensor([[2.5, 0.0], [2.5, 9.0]])
MATRICES = torch.tensor([[[3.0, 1.0], [2.0, 5.0]], [[1.0, 1.5], [2.0, -4.0]]])


def stacked(function, *batches):
    samples = [function(*one) for one in zip(*batches, strict=True)]
    if isinstance(samples[0], tuple):
        return [torch.stack(parts) for parts in zip(*samples, strict=True)]
    return [torch.stack(samples)]


def assert_as_one_at_a_time(function, *batches):
    found = vmap(function)(*batches)
    found = list(found) if isinstance(found, tuple) else [found]
    for one, wanted in zip(found, stacked(function, *batches), strict=True):
        torch.testing.assert_close(one, wanted)


@pytest.mark.parametrize(
    "function",
    [
        lambda row, value: torch.searchsorted(row, value),
        lambda row, value: torch.searchsorted(row, value, right=True),
        lambda row, value: torch.searchsorted(row, value.reshape(2, 1, 1)),
        lambda row, value: torch.searchsorted(ROWS[0], value),
        lambda row, value: torch.searchsorted(row, VALUES[0]),
        lambda row, value: torch.searchsorted(row, 2.5),
        lambda row, value: torch.searchsorted(torch.stack([row, row]), torch.stack([value, value])),
        lambda row, value: torch.searchsorted(row, value, sorter=torch.tensor([0, 1, 2])),
        lambda row, value: torch.bucketize(value, row),
        lambda row, value: torch.bucketize(value, ROWS[1], out_int32=True),
    ],
)
def test_each_sample_is_searched_for_itself(function):
    assert_as_one_at_a_time(function, ROWS, VALUES)


@pytest.mark.parametrize(
    "function",
    [
        torch.linalg.lu,
        torch.linalg.inv_ex,
        torch.geqrf,
        lambda a: torch.linalg.lu_solve(*torch.linalg.lu_factor(a), a),
    ],
)
def test_each_sample_has_factors_of_its_own(function):
    assert_as_one_at_a_time(
        lambda a: tuple(found) if isinstance(found := function(a), tuple) else found, MATRICES
    )


@pytest.mark.parametrize(
    ("function", "operator"),
    [
        (torch.unique, "_unique2"),
        (lambda x: torch.unique(x, dim=0), "unique_dim"),
        (torch.unique_consecutive, "unique_consecutive"),
        (torch.nonzero, "nonzero"),
        (lambda x: torch.where(x > 2), "where"),
    ],
)
def test_a_shape_that_differs_between_samples_is_refused(function, operator):
    with pytest.raises(RuntimeError) as caught:
        vmap(function)(ROWS)
    assert str(caught.value) == (
        "vmap: We do not support batching operators that can output dynamic shape. Attempted to vmap over "
        f"aten::{operator}. Please file an issue at https://github.com/pytorch/pytorch/issues if you need "
        "this feature."
    )


def test_coordinates_by_dimension_are_refused_in_other_words():
    with pytest.raises(RuntimeError) as caught:
        vmap(lambda x: x.nonzero(as_tuple=True))(ROWS)
    assert str(caught.value) == (
        "Batching rule not implemented for aten::nonzero_numpy. We could not generate a fallback."
    )


def test_what_is_the_same_for_all_samples_can_be_looked_at():
    seen = []

    def look(x):
        seen.append((x.sum().item(), bool(x.sum() > 0), x.tolist()))
        return x.sum()

    vmap(lambda y: torch.func.grad(look)(torch.ones(2)) * y)(VALUES)
    assert seen == [(2.0, True, [1.0, 1.0])]

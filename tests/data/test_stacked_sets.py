"""Data sets side by side."""

import pytest
import rushlight as torch
from rushlight.utils.data import DataLoader, StackDataset, TensorDataset


class AtOnce(list):
    """Samples that are read many at a time, and are ten times as large then."""

    def __getitems__(self, indices):
        return [self[index] * 10 for index in indices]


class Short(list):
    """Samples of which there are fewer than one asks for."""

    def __getitems__(self, indices):
        return [1]


def test_samples_are_tuples_or_dictionaries():
    pairs = StackDataset([1, 2], [3, 4])
    assert (pairs[0], len(pairs), pairs.datasets) == ((1, 3), 2, ([1, 2], [3, 4]))
    named = StackDataset(a=[1, 2], b=[3, 4])
    assert (named[1], len(named), named.datasets) == ({"a": 2, "b": 4}, 2, {"a": [1, 2], "b": [3, 4]})


def test_sets_that_can_are_asked_for_many_samples_at_once():
    assert StackDataset(AtOnce([1, 2]), [3, 4]).__getitems__([1, 0]) == [(20, 4), (10, 3)]
    named = StackDataset(a=AtOnce([1, 2]), b=[3, 4])
    assert named.__getitems__([1]) == [{"a": 20, "b": 4}]


@pytest.mark.parametrize("stack", [StackDataset(Short([1, 2])), StackDataset(a=Short([1, 2]))])
def test_sets_that_answer_with_too_few_samples_are_refused(stack):
    with pytest.raises(ValueError, match=r"Nested dataset's output size mismatch\. Expected 2, got 1"):
        stack.__getitems__([0, 1])


@pytest.mark.parametrize(
    ("args", "kwargs", "words"),
    [
        ((), {}, "At least one dataset should be passed"),
        (([1, 2], [1]), {}, "Size mismatch between datasets"),
        ((), {"a": [1, 2], "b": [1]}, "Size mismatch between datasets"),
        (([1],), {"a": [1]}, r"Supported either ``tuple``.*but both types are given"),
    ],
)
def test_sets_that_do_not_go_together_are_refused(args, kwargs, words):
    with pytest.raises(ValueError, match=words):
        StackDataset(*args, **kwargs)


def test_a_loader_makes_batches_of_each_part():
    data = StackDataset(x=TensorDataset(torch.arange(4.0)), y=[0, 1, 2, 3])
    batches = list(DataLoader(data, batch_size=2))
    assert [batch["y"].tolist() for batch in batches] == [[0, 1], [2, 3]]
    assert batches[1]["x"][0].tolist() == [2.0, 3.0]

"""Data sets, samplers and loaders: which samples come, in which order and in what form."""

import collections

import numpy
import pytest
import rushlight as torch

data = torch.utils.data

ROWS = torch.arange(10.0).view(5, 2)
PAIRS = data.TensorDataset(ROWS, torch.arange(5))


class Counting(data.IterableDataset):
    def __iter__(self):
        return iter(range(5))


def numbers(loader):
    return [batch[1].tolist() for batch in loader]


def test_a_loader_reads_batches_in_order():
    assert numbers(data.DataLoader(PAIRS, 2)) == [[0, 1], [2, 3], [4]]
    assert numbers(data.DataLoader(PAIRS, 2, drop_last=True)) == [[0, 1], [2, 3]]


def test_a_seed_gives_the_order_of_a_shuffled_loader():
    torch.manual_seed(0)
    list(data.DataLoader(PAIRS, 2))
    assert numbers(data.DataLoader(PAIRS, 2, shuffle=True)) == [[3, 2], [4, 1], [0]]


def test_a_generator_gives_the_order_and_leaves_the_default_one_alone():
    torch.manual_seed(1)
    generator = torch.Generator().manual_seed(3)
    assert numbers(data.DataLoader(PAIRS, 2, True, generator=generator)) == [[2, 4], [3, 0], [1]]
    assert torch.initial_seed() == 1
    first = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(1), first)


def test_the_same_seed_splits_alike():
    generator = torch.Generator().manual_seed(0)
    parts = data.random_split(range(5), [3, 2], generator=generator)
    assert [part.indices for part in parts] == [[4, 0, 1], [3, 2]]
    shares = data.random_split(range(10), [0.33, 0.33, 0.34])
    assert [len(part) for part in shares] == [4, 3, 3]


def test_a_random_sampler_goes_round_until_it_has_enough():
    drawn = list(data.RandomSampler(range(5), num_samples=12))
    assert sorted(drawn[:5]) == sorted(drawn[5:10]) == list(range(5))
    assert len(drawn) == 12


def test_samples_of_an_iterable_set_come_in_batches():
    assert [batch.tolist() for batch in data.DataLoader(Counting(), 2)] == [[0, 1], [2, 3], [4]]
    assert len(list(data.DataLoader(Counting(), 2, drop_last=True))) == 2


Point = collections.namedtuple("Point", "x y")


@pytest.mark.parametrize(
    "batch, expected",
    [
        ([1, 2], "tensor([1, 2])"),
        ([1.5, 2.0], "tensor([1.5000, 2.0000], dtype=torch.float64)"),
        (["a", "b"], "['a', 'b']"),
        ([{"a": 1}, {"a": 2}], "{'a': tensor([1, 2])}"),
        ([(1, 2), (3, 4)], "[tensor([1, 3]), tensor([2, 4])]"),
        ([Point(1, 2), Point(3, 4)], "Point(x=tensor([1, 3]), y=tensor([2, 4]))"),
        ([numpy.float32(1), numpy.float32(2)], "tensor([1., 2.])"),
        ([numpy.ones(1), numpy.zeros(1)], "tensor([[1.],\n        [0.]], dtype=torch.float64)"),
    ],
)
def test_samples_are_joined_by_what_they_are(batch, expected):
    assert repr(data.default_collate(batch)) == expected


def test_sets_behind_each_other_have_all_samples():
    both = PAIRS + PAIRS
    assert len(both) == 10
    assert both[7][1].item() == 2
    assert both[-1][1].item() == 4
    assert data.Subset(PAIRS, [3, 1])[0][1].item() == 3


@pytest.mark.parametrize(
    "act, kind, message",
    [
        (
            lambda: data.Dataset()[0],
            NotImplementedError,
            "Subclasses of Dataset should implement __getitem__.",
        ),
        (lambda: data.TensorDataset(ROWS, torch.zeros(3)), AssertionError, "Size mismatch between tensors"),
        (
            lambda: (PAIRS + PAIRS)[-12],
            ValueError,
            "absolute value of index should not exceed dataset length",
        ),
        (
            lambda: data.random_split(PAIRS, [3, 3]),
            ValueError,
            "Sum of input lengths does not equal the length of the input dataset!",
        ),
        (
            lambda: data.RandomSampler([]),
            ValueError,
            "num_samples should be a positive integer value, but got num_samples=0",
        ),
        (
            lambda: data.RandomSampler([1], replacement=3),
            TypeError,
            "replacement should be a boolean value, but got replacement=3",
        ),
        (
            lambda: data.BatchSampler([1], 2, 3),
            ValueError,
            "drop_last should be a boolean value, but got drop_last=3",
        ),
        (
            lambda: data.DataLoader(PAIRS, num_workers=-1),
            ValueError,
            "num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.",
        ),
        (
            lambda: data.DataLoader(PAIRS, sampler=[1], shuffle=True),
            ValueError,
            "sampler option is mutually exclusive with shuffle",
        ),
        (
            lambda: data.DataLoader(Counting(), sampler=[1]),
            ValueError,
            "DataLoader with IterableDataset: expected unspecified sampler option, but got sampler=[1]",
        ),
        (
            lambda: data.default_collate([[1], [1, 2]]),
            RuntimeError,
            "each element in list of batch should be of equal size",
        ),
        (
            lambda: data.default_collate([None]),
            TypeError,
            "default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found <class 'NoneType'>",
        ),
        (
            lambda: setattr(data.DataLoader(PAIRS), "batch_size", 3),
            ValueError,
            "batch_size attribute should not be set after DataLoader is initialized",
        ),
    ],
)
def test_misuse_is_told_in_the_same_words(act, kind, message):
    with pytest.raises(kind) as caught:
        act()
    assert str(caught.value) == message

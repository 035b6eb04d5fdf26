"""Workers of a loader: what each knows, reads and draws, and how their failures arrive."""

import os
import random

import pytest
import rushlight as torch
from rushlight.utils import data

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Numbers(data.IterableDataset):
    """Whole numbers up to an end."""

    def __init__(self, end):
        self.begin, self.end = 0, end

    def __iter__(self):
        return iter(range(self.begin, self.end))


class Squares(data.Dataset):
    """Squares, and what a worker knows while it reads."""

    def __len__(self):
        return 8

    def __getitem__(self, index):
        worker = data.get_worker_info()
        return index * index, -1 if worker is None else worker.id


class Draws(data.Dataset):
    """What is drawn while a sample is read."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        return torch.rand(1).item(), random.random()


class Failing(data.Dataset):
    """Fails at one index."""

    def __len__(self):
        return 4

    def __getitem__(self, index):
        if index == 2:
            raise KeyError("no such sample")
        return index


def share(number):
    worker = data.get_worker_info()
    size = -(-worker.dataset.end // worker.num_workers)
    worker.dataset.begin, worker.dataset.end = number * size, min(worker.dataset.end, (number + 1) * size)


def fail(number):
    raise ValueError(f"worker {number} does not begin")


def test_workers_take_turns_and_know_who_they_are():
    loader = data.DataLoader(Squares(), batch_size=2, num_workers=3)
    squares, workers = zip(*loader, strict=True)
    assert torch.cat(squares).tolist() == [index * index for index in range(8)]
    assert torch.cat(workers).tolist() == [0, 0, 1, 1, 2, 2, 0, 0]
    assert data.get_worker_info() is None
    assert [one[1] for one in data.DataLoader(Squares(), batch_size=None)] == [-1] * 8


def test_every_worker_reads_all_of_a_set_that_is_not_shared():
    loader = data.DataLoader(Numbers(3), batch_size=None, num_workers=2)
    assert list(loader) == [0, 0, 1, 1, 2, 2]


def test_a_set_is_shared_by_what_workers_begin_with():
    numbers = Numbers(7)
    loader = data.DataLoader(numbers, batch_size=2, num_workers=2, worker_init_fn=share)
    assert [batch.tolist() for batch in loader] == [[0, 1], [4, 5], [2, 3], [6]]
    assert (numbers.begin, numbers.end) == (0, 7)


def test_random_numbers_of_workers_follow_from_one_seed():
    def drawn(seed):
        torch.manual_seed(seed)
        random.seed(1)
        loader = data.DataLoader(Draws(), batch_size=None, num_workers=2)
        return list(loader), torch.rand(1).item(), random.random()

    first, again, other = drawn(3), drawn(3), drawn(4)
    assert first == again
    assert first[0] != other[0]
    assert len({number for sample in first[0] for number in sample}) == 8
    random.seed(1)
    assert first[2] == random.random()


def test_a_worker_starts_from_the_base_seed_and_its_number():
    class Seeds(data.Dataset):
        def __len__(self):
            return 2

        def __getitem__(self, index):
            return torch.initial_seed(), data.get_worker_info().seed

    found = list(data.DataLoader(Seeds(), batch_size=None, num_workers=2))
    assert all(seed == known for seed, known in found)
    assert found[1][0] == found[0][0] + 1


def test_failures_say_which_worker_they_are_of():
    loader = data.DataLoader(Failing(), num_workers=2)
    with pytest.raises(KeyError) as raised:
        list(loader)
    assert "Caught KeyError in DataLoader worker process 0.\nOriginal Traceback" in str(raised.value)
    loader = data.DataLoader(Squares(), num_workers=1, worker_init_fn=fail)
    with pytest.raises(ValueError, match="Caught ValueError in DataLoader worker process 0") as raised:
        next(iter(loader))
    assert "worker 0 does not begin" in str(raised.value)


class Begun(data.IterableDataset):
    """How often the worker has begun, and its process."""

    times = 0

    def __iter__(self):
        return iter([(self.times, os.getpid())])


def count(number):
    data.get_worker_info().dataset.times += 1


def test_persistent_workers_begin_once():
    loader = data.DataLoader(
        Begun(), batch_size=None, num_workers=1, persistent_workers=True, worker_init_fn=count
    )
    first, *others = (list(loader) for _ in range(3))
    assert first[0][0] == 1 and others == [first] * 2
    assert first[0][1] != os.getpid() and loader.dataset.times == 0
    once = data.DataLoader(Begun(), batch_size=None, num_workers=1, worker_init_fn=count)
    assert list(once) != list(once)


class Shown(data.Dataset):
    """What a worker knows of itself, in words."""

    def __len__(self):
        return 1

    def __repr__(self):
        return "Shown()"

    def __getitem__(self, index):
        worker = data.get_worker_info()
        with pytest.raises(AttributeError, match="cannot assign to field 'id'"):
            worker.id = 3
        return repr(worker), torch.get_num_threads()


def test_what_a_worker_knows_is_shown_and_stays():
    [(shown, threads)] = data.DataLoader(Shown(), batch_size=None, num_workers=1)
    assert shown.startswith("WorkerInfo(id=0, num_workers=1, seed=")
    assert ", dataset=Shown(), rng=None, " in shown
    assert threads == 1


class Nested(data.Dataset):
    def __len__(self):
        return 1

    def __getitem__(self, index):
        return list(data.DataLoader(Squares(), num_workers=index))


def test_workers_have_no_workers():
    with pytest.raises(AssertionError, match="daemonic processes are not allowed to have children"):
        list(data.DataLoader(Nested(), batch_size=None, sampler=[1], num_workers=1))
    [batches] = data.DataLoader(Nested(), batch_size=None, num_workers=1)
    assert len(batches) == 8


def test_what_is_drawn_of_weights_is_drawn_when_it_is_asked_for():
    sampler = data.WeightedRandomSampler([0.1, 0.5, 0.4], 5)
    both = iter(sampler), iter(sampler)
    drawn = []
    for each in both:
        torch.manual_seed(0)
        drawn.append(next(each))
    assert list(both[0]) == list(both[1])
    assert drawn[0] == drawn[1]


def test_ways_to_begin_processes_are_checked():
    for given, number, failure, words in (
        ("fork", 0, ValueError, r"multi-process loading \(num_workers > 0\), but got num_workers=0"),
        ("bad", 1, ValueError, "should specify a valid start method in"),
        (object(), 1, TypeError, "multiprocessing_context option should be a valid context object"),
    ):
        with pytest.raises(failure, match=words):
            data.DataLoader([1], num_workers=number, multiprocessing_context=given)


def test_more_workers_than_processors_are_told_of(monkeypatch):
    monkeypatch.setattr("os.sched_getaffinity", lambda process: {0, 1}, raising=False)
    with pytest.warns(
        UserWarning, match=r"will create 5 worker processes in total\. Our suggested max .* is 2,"
    ):
        data.DataLoader(Squares(), num_workers=5)


def test_data_sets_that_are_longer_than_they_say_are_told_of():
    class Longer(data.IterableDataset):
        def __len__(self):
            return 1

        def __iter__(self):
            return iter(range(2))

    loader = data.DataLoader(Longer())
    assert sum(1 for _ in loader) == 2  # Nobody has asked for the length yet.
    assert len(loader) == 1
    with pytest.warns(UserWarning, match=r"was reported to be 1\(when accessing .* but 2 samples have been"):
        list(loader)


def test_whether_samples_are_put_together_is_told():
    assert data.DataLoader([1])._auto_collation
    assert isinstance(data.DataLoader([1])._index_sampler, data.BatchSampler)
    alone = data.DataLoader([1], batch_size=None)
    assert not alone._auto_collation and alone._index_sampler is alone.sampler

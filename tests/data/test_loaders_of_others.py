"""What loaders of other libraries are made of: iterators that fetch, and processes that are watched."""

import os
import signal
import time

import pytest
import rushlight as torch
from rushlight.utils import data
from rushlight.utils.data import _utils, datapipes, graph_settings
from rushlight.utils.data import dataloader as loaders
from support import raises, run_script


class Numbers(data.IterableDataset):
    def __iter__(self):
        return iter(range(7))

    def __len__(self):
        return 7


def test_a_fetcher_reads_by_indices_or_what_comes_next():
    fetcher = loaders._DatasetKind.create_fetcher(0, [5, 6, 7], True, list, False)
    assert fetcher.fetch([2, 0]) == [7, 5]
    fetcher = loaders._DatasetKind.create_fetcher(0, [5, 6, 7], False, str, False)
    assert fetcher.fetch(1) == "6"
    fetcher = loaders._DatasetKind.create_fetcher(1, Numbers(), True, list, False)
    assert fetcher.fetch([None] * 5) == [0, 1, 2, 3, 4] and not fetcher.ended
    assert fetcher.fetch([None] * 5) == [5, 6] and fetcher.ended
    with pytest.raises(StopIteration):
        fetcher.fetch([None])
    fetcher = loaders._DatasetKind.create_fetcher(1, Numbers(), True, list, True)
    fetcher.fetch([None] * 5)
    with pytest.raises(StopIteration):
        fetcher.fetch([None] * 5)


class Counted(loaders._BaseDataLoaderIter):
    """As libraries derive: it counts the indices, and reads by a fetcher of its own."""

    def __init__(self, loader):
        super().__init__(loader)
        self.indices = 0
        self.fetcher = loaders._DatasetKind.create_fetcher(
            self._dataset_kind, self._dataset, self._auto_collation, self._collate_fn, self._drop_last
        )

    def _next_index(self):
        self.indices += 1
        return super()._next_index()

    def _next_data(self):
        return self.fetcher.fetch(self._next_index())


def test_an_iterator_can_be_derived():
    loader = data.DataLoader([1, 2, 3], batch_size=2)
    iterator = Counted(loader)
    assert [batch.tolist() for batch in iterator] == [[1, 2], [3]]
    assert (iterator.indices, iterator._num_yielded, len(iterator)) == (3, 2, 2)
    iterator._reset(loader)
    assert iterator._num_yielded == 0 and next(iterator).tolist() == [1, 2]
    settled = iterator._num_workers, iterator._timeout, iterator._world_size, iterator._rank
    assert settled == (0, 0, 1, 0) and iterator._pin_memory is False and iterator._shared_seed is None
    with pytest.raises(NotImplementedError):
        iterator.__getstate__()


class CountedAhead(loaders._MultiProcessingDataLoaderIter):
    """Counts the indices that workers are given."""

    indices = 0

    def _next_index(self):
        self.indices += 1
        return super()._next_index()


def test_indices_for_workers_are_drawn_ahead_by_the_iterator():
    iterator = CountedAhead(data.DataLoader(range(9), num_workers=1, prefetch_factor=3))
    assert iterator.indices == 3
    assert next(iterator).item() == 0 and iterator.indices == 4
    assert len(list(iterator)) == 8 and iterator.indices == 9 + 3


def test_seeds_of_pipes_are_drawn_of_the_generator():
    for workers, drawn in ((0, 2), (1, 3)):
        generators = [torch.Generator().manual_seed(3) for _ in range(2)]
        iter(data.DataLoader(Half(), num_workers=workers, generator=generators[0]))
        for _ in range(drawn):
            torch.empty((), dtype=torch.int64).random_(generator=generators[1])
        assert torch.equal(*(generator.get_state() for generator in generators))


class Loader(data.DataLoader):
    """As libraries derive: it settles everything by itself."""

    def __init__(self, dataset):
        self.dataset = dataset
        self._dataset_kind = loaders._DatasetKind.Map
        self.sampler = data.SequentialSampler(dataset)
        self.batch_sampler = data.BatchSampler(self.sampler, 2, False)
        self.batch_size, self.drop_last, self.num_workers, self.timeout = 2, False, 0, 0
        self.persistent_workers, self.generator = False, None
        self.pin_memory, self._IterableDataset_len_called = False, None
        self.collate_fn = _utils.collate.default_collate
        self._DataLoader__initialized = True


def test_a_loader_can_be_derived():
    loader = Loader([1, 2, 3])
    assert [batch.tolist() for batch in loader] == [[1, 2], [3]]
    with raises(ValueError, "batch_size attribute should not be set after Loader is initialized"):
        loader.batch_size = 4


def test_pipes_are_shared_shuffled_and_seeded():
    pipe = datapipes.iter.IterableWrapper(range(8)).shuffle()
    loader = data.DataLoader(pipe, batch_size=4, shuffle=False)
    assert [batch.tolist() for batch in loader] == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert isinstance(loader.dataset, datapipes.datapipe._IterDataPipeSerializationWrapper)
    iterator = iter(loader)
    assert isinstance(iterator._shared_seed, int)
    shuffled = data.DataLoader(pipe, batch_size=None, shuffle=True)
    assert sorted(shuffled) == list(range(8))
    assert graph_settings.apply_sharding(pipe, 2, 0) is pipe


class Half(data.IterDataPipe):
    share = (1, 0)

    def apply_sharding(self, number, which):
        self.share = number, which

    def __iter__(self):
        number, which = self.share
        return iter(range(which, 6, number))


def test_workers_share_a_pipe():
    assert list(data.DataLoader(Half(), batch_size=None, num_workers=2)) == [0, 1, 2, 3, 4, 5]


def test_the_length_that_was_told_is_compared():
    class Short(Numbers):
        def __len__(self):
            return 6

    loader = data.DataLoader(Short(), batch_size=None)
    assert len(loader) == 6
    with pytest.warns(UserWarning, match=r"reported to be 6\(when accessing len\(dataloader\)\), but 7 sam"):
        list(loader)


def test_what_a_worker_knows_can_be_set():
    info = _utils.worker.WorkerInfo(id=1, num_workers=2, seed=5, dataset=None)
    _utils.worker._worker_info = info
    try:
        assert data.get_worker_info() is info
    finally:
        _utils.worker._worker_info = None
    assert data.get_worker_info() is None
    assert _utils.worker.ManagerWatchdog().is_alive()
    assert _utils.HAS_NUMPY and _utils.python_exit_status is False


def _ended(end):
    """Return a child process that has ended in a way."""
    child = os.fork()
    if not child:
        end()
        os._exit(3)
    time.sleep(0.2)
    return child


def test_failures_of_processes_are_told_once():
    watching = _utils.signal_handling
    child = _ended(lambda: None)
    watching._set_worker_pids(5, (child,))
    with raises(ValueError, "_set_worker_pids should be called only once for each _BaseDataLoaderIter."):
        watching._set_worker_pids(5, (child,))
    with raises(RuntimeError, f"DataLoader worker (pid {child}) exited unexpectedly with exit code 3. Det"):
        watching._error_if_any_worker_fails()
    watching._error_if_any_worker_fails()
    watching._remove_worker_pids(5)
    with raises(ValueError, "Cannot find worker information for _BaseDataLoaderIter with id 5"):
        watching._remove_worker_pids(5)
    with raises(TypeError, "_set_worker_pids expects a tuple for child_pids, but got list."):
        watching._set_worker_pids(5, [1])
    killed = _ended(lambda: os.kill(os.getpid(), signal.SIGKILL))
    watching._set_worker_pids(6, (killed,))
    with raises(RuntimeError, f"DataLoader worker (pid {killed}) is killed by signal: Killed. "):
        watching._error_if_any_worker_fails()
    watching._remove_worker_pids(6)
    os.waitpid(child, 0)
    os.waitpid(killed, 0)


WATCHED = """
import multiprocessing, os, signal, sys, time
from rushlight.utils.data._utils import signal_handling

os.dup2(1, 2)

def slow(*args):
    time.sleep(0.5)
    sys.exit(0)

def stay(begun):
    begun.set()
    time.sleep(60)

processes = []
context = multiprocessing.get_context("fork")
for handler in (slow, signal.SIG_DFL):
    signal.signal(signal.SIGTERM, handler)
    begun = context.Event()
    process = context.Process(target=stay, args=(begun,), daemon=True)
    process.start()
    begun.wait()
    processes.append(process.pid)
signal_handling._set_worker_pids(1, tuple(processes))
signal_handling._set_SIGCHLD_handler()
"""


@pytest.mark.own
def test_what_ends_with_the_program_is_no_failure():
    assert run_script(WATCHED) == ""


def test_vitals_are_not_noted():
    with pytest.warns(UserWarning, match="'set_vital' is deprecated, please do not call"):
        assert torch.set_vital("Dataloader", "enabled", "True") is None

"""Workers of a loader as processes: how they end, what they may not do, and in which order they answer."""

import os
import signal
import sys
import time

import pytest
import rushlight as torch
from rushlight.utils import data
from support import run_script

pytestmark = pytest.mark.filterwarnings("ignore:This DataLoader will create")


class Doing(data.Dataset):
    """Calls a function for each sample."""

    def __init__(self, function, size=4):
        self.function, self.size = function, size

    def __len__(self):
        return self.size

    def __getitem__(self, index):
        return self.function(index)


def same(batch):
    return batch


def raised_by(loader):
    with pytest.raises(RuntimeError) as caught:
        next(iter(loader))
    return str(caught.value), str(caught.value.__cause__)


def test_a_worker_that_ends_is_told_of():
    exits = data.DataLoader(Doing(lambda index: os._exit(3)), num_workers=1)
    text, cause = raised_by(exits)
    assert text.startswith("DataLoader worker (pid(s) ") and text.endswith(") exited unexpectedly")
    assert "exited unexpectedly with exit code 3. Details are lost due to multiprocessing." in cause
    killed = data.DataLoader(Doing(lambda index: os.kill(os.getpid(), signal.SIGKILL)), num_workers=1)
    text, cause = raised_by(killed)
    assert text.endswith(") exited unexpectedly") and cause.endswith(") is killed by signal: Killed. ")
    leaves = data.DataLoader(Doing(lambda index: sys.exit(2)), num_workers=1)
    assert raised_by(leaves)[0].endswith(") exited unexpectedly")


def test_nobody_waits_longer_than_was_said():
    slow = data.DataLoader(Doing(lambda index: time.sleep(1)), num_workers=1, timeout=0.1)
    with pytest.raises(RuntimeError, match=r"DataLoader timed out after 0\.1 seconds"):
        next(iter(slow))


@pytest.mark.own
def test_what_cannot_leave_the_process_is_a_failure():
    loader = data.DataLoader(Doing(lambda index: lambda: index), num_workers=1, collate_fn=same)
    with pytest.raises(AttributeError, match="Caught AttributeError in DataLoader worker process 0"):
        next(iter(loader))


def test_a_failure_is_that_of_one_batch():
    def read(index):
        if index == 1:
            raise ValueError("no such sample")
        return index

    batches = iter(data.DataLoader(Doing(read), batch_size=None, num_workers=1))
    assert next(batches) == 0
    with pytest.raises(ValueError, match="no such sample"):
        next(batches)
    assert list(batches) == [2, 3]


def test_workers_end_with_the_iterator():
    for persistent in (False, True):
        loader = data.DataLoader(range(100), num_workers=2, persistent_workers=persistent)
        batches = iter(loader)
        assert next(batches).tolist() == [0]
        workers = batches._workers
        assert all(worker.daemon and worker.is_alive() for worker in workers)
        del batches, loader
        for worker in workers:
            worker.join(10)
        assert [worker.exitcode for worker in workers] == [0, 0]
    batches = iter(data.DataLoader(range(2), num_workers=1))
    assert [batch.item() for batch in batches] == [0, 1]
    assert batches._shutdown and next(batches, "nothing") == "nothing"


def test_persistent_workers_forget_what_nobody_took():
    loader = data.DataLoader(range(6), num_workers=2, persistent_workers=True)
    assert next(iter(loader)).item() == 0
    assert [batch.item() for batch in loader] == [0, 1, 2, 3, 4, 5]


def test_order_may_be_given_up():
    def slow_at_first(index):
        time.sleep(0.5 if index == 0 else 0)
        return index

    loader = data.DataLoader(Doing(slow_at_first, 6), batch_size=None, num_workers=2, in_order=False)
    found = list(loader)
    assert sorted(found) == [0, 1, 2, 3, 4, 5] and found[0] != 0
    ordered = data.DataLoader(Doing(slow_at_first, 6), batch_size=None, num_workers=2)
    assert list(ordered) == [0, 1, 2, 3, 4, 5]


def test_what_workers_change_stays_with_them():
    seen = []
    loader = data.DataLoader(Doing(seen.append), batch_size=None, num_workers=1, collate_fn=same)
    assert list(loader) == [None] * 4
    assert seen == []


def test_types_and_structures_leave_a_worker():
    def made(index):
        return {"x": torch.full((3,), index, dtype=torch.bfloat16), "y": (index, "a")}

    [batch] = data.DataLoader(Doing(made, 2), batch_size=2, num_workers=1)
    assert batch["x"].dtype == torch.bfloat16 and batch["x"].tolist() == [[0.0] * 3, [1.0] * 3]
    assert batch["y"][0].tolist() == [0, 1] and batch["y"][1] == ("a", "a")


@pytest.mark.parametrize("program", ["", "; sys.exit(0)"])
def test_a_program_may_end_before_its_loaders(program):
    lines = (
        "import os, sys; os.dup2(1, 2)",
        "loader = torch.utils.data.DataLoader(range(9), num_workers=2, persistent_workers=True)",
        "batches = iter(loader)",
        f"print(next(batches).item()){program}",
    )
    assert run_script("\n".join(lines)) == "0\n"

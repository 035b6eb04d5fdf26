"""What a worker of a loader knows of itself, and what it and those who ask it for batches tell each other."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

__all__ = ["ManagerWatchdog", "WorkerInfo", "get_worker_info"]

_MASK = 0xFFFFFFFF
_INIT_A, _MULT_A = 0x43B0D7E5, 0x931E8875
_INIT_B, _MULT_B = 0x8B51F9DD, 0x58F38DED
_MIX_L, _MIX_R = 0xCA01F9DD, 0x4973F715
_SHIFT = 16


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker knows of itself: its number, how many there are, its seed, its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None  # Who this process is. Loaders of other libraries write it too.


def get_worker_info() -> WorkerInfo | None:
    """Return what a worker of a loader is to know of itself; None in a process that is none.

    >>> import rushlight as torch
    >>> class Numbers(torch.utils.data.IterableDataset):
    ...     def __iter__(self):
    ...         worker = torch.utils.data.get_worker_info()
    ...         return iter(range(worker.id, 6, worker.num_workers))
    >>> list(torch.utils.data.DataLoader(Numbers(), batch_size=None, num_workers=2))
    [0, 1, 2, 3, 4, 5]
    """
    return _worker_info


@dataclass(frozen=True)
class _IterableDatasetStopIteration:
    """What the process of a worker answers when its data set gives no more."""

    worker_id: int


@dataclass(frozen=True)
class _ResumeIteration:
    """What tells the process of a worker to begin again; workers of other libraries answer it too."""

    seed: int | None = None


class ManagerWatchdog:
    """Tells a worker process whether the process that began it still runs.

    >>> from rushlight.utils.data._utils.worker import ManagerWatchdog
    >>> ManagerWatchdog().is_alive()
    True
    """

    def __init__(self) -> None:
        self.manager_pid = os.getppid()

    def is_alive(self) -> bool:
        """Whether this process still has the parent that it had."""
        return os.getppid() == self.manager_pid


def _generate_state(base_seed: int, worker_id: int) -> list[int]:
    """Return four words of which numpy's generator is seeded, as its `SeedSequence` makes them.

    >>> from rushlight.utils.data._utils.worker import _generate_state
    >>> len(_generate_state(1, 0))
    4
    """
    entropy = [worker_id, base_seed & _MASK, base_seed >> 32, 0]
    constant = _INIT_A

    def hashed(value: int) -> int:
        nonlocal constant
        value = (value ^ constant) & _MASK
        constant = (constant * _MULT_A) & _MASK
        value = (value * constant) & _MASK
        return (value ^ (value >> _SHIFT)) & _MASK

    def mixed(x: int, y: int) -> int:
        found = ((_MIX_L * x & _MASK) - (_MIX_R * y & _MASK)) & _MASK
        return (found ^ (found >> _SHIFT)) & _MASK

    pool = [hashed(one) for one in entropy]
    for source in range(4):
        for target in range(4):
            if source != target:
                pool[target] = mixed(pool[target], hashed(pool[source]))
    constant = _INIT_B
    state = []
    for word in pool:
        value = (word ^ constant) & _MASK
        constant = (constant * _MULT_B) & _MASK
        value = (value * constant) & _MASK
        state.append((value ^ (value >> _SHIFT)) & _MASK)
    return state

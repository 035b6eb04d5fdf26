"""What a worker of a loader knows of itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["WorkerInfo", "get_worker_info"]


@dataclass(frozen=True, slots=True)
class WorkerInfo:
    """What a worker knows of itself: its number, how many there are, its seed, its copy of the data set."""

    id: int
    num_workers: int
    seed: int
    dataset: Any
    rng: Any = None
    worker_method: str | None = "multiprocessing"


_worker_info: WorkerInfo | None = None  # Who this process is.


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

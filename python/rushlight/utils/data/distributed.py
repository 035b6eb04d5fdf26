"""`DistributedSampler`: the share of a data set that one of several processes trains with."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..._rushlight import Generator, randperm
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    """Draws every element for one of `num_replicas` processes, the same number for each.

    >>> import rushlight as torch
    >>> sampler = torch.utils.data.DistributedSampler(range(5), num_replicas=2, rank=1, shuffle=False)
    >>> list(sampler)
    [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        if num_replicas is None or rank is None:
            from ... import distributed

            num_replicas = distributed.get_world_size() if num_replicas is None else num_replicas
            rank = distributed.get_rank() if rank is None else rank
        if not 0 <= rank < num_replicas:
            raise ValueError(f"Invalid rank {rank}, rank should be in the interval [0, {num_replicas - 1}]")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        shared = len(dataset) / num_replicas
        self.num_samples = math.floor(shared) if drop_last else math.ceil(shared)
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        count = len(self.dataset)
        order = list(range(count))
        if self.shuffle:
            # Every process draws the same order.
            order = randperm(count, generator=Generator().manual_seed(self.seed + self.epoch)).tolist()
        if len(order) < self.total_size:
            order *= math.ceil(self.total_size / max(1, count))
        return iter(order[self.rank : self.total_size : self.num_replicas])

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Say which epoch begins, for an order of its own."""
        self.epoch = epoch

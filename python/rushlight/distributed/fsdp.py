"""Models whose parameters are shared out among processes: only their names, for libraries that ask."""

from __future__ import annotations

from .._devices.absent import refusing
from ..nn import Module

__all__ = ["FSDPModule", "FullyShardedDataParallel", "fully_shard"]  # noqa: F822 (made below)


class FullyShardedDataParallel(Module):
    """A model whose parameters are shared out among processes: nothing is one."""

    def __init__(self, module: Module, *args: object, **kwargs: object) -> None:
        raise NotImplementedError(
            "FullyShardedDataParallel is not there: DistributedDataParallel trains with several processes, "
            "and ZeroRedundancyOptimizer shares out the state of the optimizer"
        )


class FSDPModule:
    """A module whose parameters are shared out among processes: nothing is one."""


refusing(
    globals(),
    "fully_shard",
    NotImplementedError,
    "modules whose parameters are shared out among processes are not there",
)

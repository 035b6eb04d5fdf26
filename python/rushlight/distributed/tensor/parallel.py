"""Modules whose weights lie in several processes: plans of them are refused."""

from __future__ import annotations

from typing import Any

from ..._devices.absent import refusing

__all__ = [
    "ColwiseParallel",
    "ParallelStyle",
    "PrepareModuleInput",
    "PrepareModuleInputOutput",
    "PrepareModuleOutput",
    "RowwiseParallel",
    "SequenceParallel",
]

_REFUSED = (
    "torch.distributed.tensor.parallel: there are no modules here whose weights lie in several processes"
)


class ParallelStyle:
    """How a module would lie in several processes."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_REFUSED)


class ColwiseParallel(ParallelStyle):
    """By the columns of its weights."""


class RowwiseParallel(ParallelStyle):
    """By the rows of its weights."""


class SequenceParallel(ParallelStyle):
    """By the places of sequences."""


class PrepareModuleInput(ParallelStyle):
    """What a module would be given."""


class PrepareModuleOutput(ParallelStyle):
    """What a module would return."""


class PrepareModuleInputOutput(ParallelStyle):
    """Both."""


refusing(globals(), "parallelize_module loss_parallel", NotImplementedError, _REFUSED)

"""When parameters of several processes become their mean."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from .... import distributed
from ....autograd import no_grad

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ...._rushlight import Tensor

__all__ = ["ModelAverager", "PeriodicModelAverager"]


class ModelAverager(ABC):
    """What makes the parameters of a model one. It counts in `step` how often it was asked to."""

    def __init__(self, process_group: Any = None) -> None:
        self.process_group = distributed.group.WORLD if process_group is None else process_group
        self.step = 0

    @abstractmethod
    def average_parameters(self, params: Iterable[Any]) -> None:
        """Do so, if it is time."""


class PeriodicModelAverager(ModelAverager):
    """Makes parameters one every `period` steps, after `warmup_steps` in which gradients are."""

    def __init__(self, period: int, warmup_steps: int = 0, process_group: Any = None) -> None:
        super().__init__(process_group)
        if warmup_steps < 0:
            raise ValueError("Arg ``warmup_steps`` must be a non-negative number.")
        if period <= 0:
            raise ValueError("Arg ``period`` must be a positive value.")
        if period == 1:
            warnings.warn(
                "When period is 1, no need to use model averaging because the communication cost of "
                "all-reducing parameters will be no less than the cost of all-reducing gradients by "
                "DistributedDataParallel in the backward pass. Therefore, only DistributedDataParallel "
                "should be used for this case.",
                stacklevel=2,
            )
        self.warmup_steps, self.period = warmup_steps, period

    def average_parameters(self, params: Iterable[Any]) -> None:
        """Set parameters, or those of groups of an optimiser, to their means, if it is time."""
        if self.step >= self.warmup_steps and (self.step - self.warmup_steps) % self.period == 0:
            with no_grad():
                for tensor in _tensors(params):
                    tensor /= distributed.get_world_size(self.process_group)
                    distributed.all_reduce(tensor, group=self.process_group)
        self.step += 1


def _tensors(params: Iterable[Any]) -> Iterable[Tensor]:
    """Yield what has a gradient among parameters or groups of them."""
    for one in params:
        within = one["params"] if isinstance(one, dict) else [one]
        yield from (parameter for parameter in within if parameter.grad is not None)

"""`DistributedDataParallel`: a model that processes train together."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Module):
    """A module whose gradients are the mean of those of several processes. There have to be such processes.

    >>> import rushlight as torch
    >>> torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    Traceback (most recent call last):
        ...
    ValueError: Default process group has not been initialized, please make sure to call init_process_group.
    """

    def __init__(self, module: Module, *args: Any, **kwargs: Any) -> None:
        from ... import distributed

        if not any(parameter.requires_grad for parameter in module.parameters()):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that "
                "requires a gradient."
            )
        if not distributed.is_initialized():
            raise ValueError(
                "Default process group has not been initialized, please make sure to call init_process_group."
            )
        super().__init__()
        self.module = module
        self.require_backward_grad_sync = True

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leave gradients as they are in a block."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self.module(*inputs, **kwargs)

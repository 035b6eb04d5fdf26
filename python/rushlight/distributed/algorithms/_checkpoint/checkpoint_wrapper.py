"""Modules whose forward is computed again for backward."""

from __future__ import annotations

from enum import Enum, auto
from functools import partial
from typing import TYPE_CHECKING, Any

from ....nn.modules.module import Module
from ....utils.checkpoint import checkpoint

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["CheckpointImpl", "CheckpointWrapper", "apply_activation_checkpointing", "checkpoint_wrapper"]


class CheckpointImpl(Enum):
    """How it is computed again."""

    REENTRANT = auto()
    NO_REENTRANT = auto()


class CheckpointWrapper(Module):
    """A module around another, which is computed again for backward.

    >>> import rushlight as torch
    >>> from rushlight.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
    >>> checkpoint_wrapper(torch.nn.Linear(2, 1))(torch.ones(1, 2)).shape
    torch.Size([1, 1])
    """

    def __init__(
        self, mod: Module, checkpoint_impl: CheckpointImpl = CheckpointImpl.NO_REENTRANT, **options: Any
    ) -> None:
        super().__init__()
        self._checkpoint_wrapped_module = mod
        again = checkpoint_impl is CheckpointImpl.REENTRANT
        self.checkpoint_fn: Any = partial(checkpoint, use_reentrant=again, **options)

    def __getattr__(self, name: str) -> Any:
        """Find what the module within has too."""
        try:
            return super().__getattr__(name)
        except AttributeError:
            return getattr(super().__getattr__("_checkpoint_wrapped_module"), name)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module within."""
        return self.checkpoint_fn(self._checkpoint_wrapped_module, *args, **kwargs)


def checkpoint_wrapper(module: Module, **options: Any) -> CheckpointWrapper:
    """Return a module around another, which is computed again for backward."""
    return CheckpointWrapper(module, **options)


def offload_wrapper(module: Module) -> Module:
    """Return a module as it is: what it saves lies with the processor already."""
    return module


def apply_activation_checkpointing(
    model: Module,
    checkpoint_wrapper_fn: Callable[[Module], Module] = checkpoint_wrapper,
    check_fn: Callable[[Module], bool] = lambda module: True,
) -> None:
    """Put such a module around each within a model that a function chooses."""
    for parent in list(model.modules()):
        for name, child in list(parent.named_children()):
            if check_fn(child):
                setattr(parent, name, checkpoint_wrapper_fn(child))

"""Modules without the numbers that they begin with."""

from __future__ import annotations

from inspect import signature
from typing import Any, TypeVar

from ...random import fork_rng
from ..modules.module import Module

__all__ = ["skip_init"]

M = TypeVar("M", bound=Module)


def skip_init(module_cls: type[M], *args: Any, **kwargs: Any) -> M:
    """Return a module whose parameters are yet to be set: no random number of the program is used for them.

    >>> import rushlight as torch
    >>> torch.nn.utils.skip_init(torch.nn.Linear, 5, 1).weight.shape
    torch.Size([1, 5])
    """
    if not issubclass(module_cls, Module):
        raise RuntimeError(f"Expected a Module; got {module_cls}")
    if "device" not in signature(module_cls).parameters:
        raise RuntimeError("Module must support a 'device' arg to skip initialization")
    with fork_rng():
        return module_cls(*args, **kwargs)

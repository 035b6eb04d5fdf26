"""Blocks in which functions are answered by their references."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

from ...overrides import TorchFunctionMode, resolve_name
from .. import _refs

__all__ = ["TorchRefsMode"]


def _never(*_: Any) -> bool:
    return False


class TorchRefsMode(TorchFunctionMode):
    """In such a block a function is what `_refs` has by its name: itself. `strict` refuses those without."""

    def __init__(
        self,
        strict: bool = False,
        should_fallback_fn: Callable[..., bool] = _never,
        prims_mode_cls: Any = nullcontext,
    ) -> None:
        super().__init__()
        self.strict, self.should_fallback_fn, self.prims_mode_cls = strict, should_fallback_fn, prims_mode_cls

    def __torch_function__(self, orig_func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(orig_func, "__name__", "")
        if self.strict and not hasattr(_refs, name.removesuffix("_")):
            raise RuntimeError(f"no _refs support for {resolve_name(orig_func)}")
        return orig_func(*args, **(kwargs or {}))

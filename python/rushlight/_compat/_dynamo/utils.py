"""What programs ask the compiler of torch afterwards: it has done nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any
from warnings import warn

__all__ = ["clone_input", "compile_times", "counters", "is_compile_supported", "warn_once"]

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)


class LazyString:
    """A text that is made when it is read."""

    def __init__(self, func: Any, *args: Any, **kwargs: Any) -> None:
        self.func, self.args, self.kwargs = func, args, kwargs

    def __str__(self) -> str:
        return str(self.func(*self.args, **self.kwargs))


def is_compile_supported(device_type: Any) -> bool:
    """Tell whether functions would be compiled for a device: no."""
    return False


def compile_times(repr: str = "str", aggregate: bool = False) -> str:
    """Return how long compiling took."""
    return "TorchDynamo compilation metrics:\n"


def clone_input(x: Any, *, dtype: Any = None) -> Any:
    """Return a leaf with the numbers of a tensor, which takes a gradient if that is a leaf that does."""
    made = x.detach().clone() if dtype is None else x.detach().clone().to(dtype)
    if x.is_leaf:
        made.requires_grad_(x.requires_grad)
        if x.grad is not None:
            made.grad = clone_input(x.grad, dtype=dtype)
    return made


_warned: set[str] = set()


def warn_once(msg: str, stacklevel: int = 1) -> None:
    """Warn, unless the same was said before."""
    if msg not in _warned:
        _warned.add(msg)
        warn(msg, stacklevel=stacklevel + 1)

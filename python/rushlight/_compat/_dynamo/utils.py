"""What programs ask the compiler of torch afterwards: it has done nothing."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

__all__ = ["compile_times", "counters", "is_compile_supported"]

counters: defaultdict[str, Counter[str]] = defaultdict(Counter)


def is_compile_supported(device_type: Any) -> bool:
    """Tell whether functions would be compiled for a device: no."""
    return False


def compile_times(repr: str = "str", aggregate: bool = False) -> str:
    """Return how long compiling took."""
    return "TorchDynamo compilation metrics:\n"

"""The processor: which of its vector instructions are used."""

from __future__ import annotations

import functools

__all__ = ["get_cpu_capability"]

# As the operating system names what the processor has, the widest first.
_WIDEST = (("AVX512", "avx512f"), ("AVX2", "avx2"))


@functools.cache
def get_cpu_capability() -> str:
    """Return the name of the widest vectors that the processor has.

    >>> import rushlight as torch
    >>> torch.backends.cpu.get_cpu_capability() in ("AVX512", "AVX2", "DEFAULT")
    True
    """
    try:
        with open("/proc/cpuinfo") as file:
            flags = {word for line in file if line.startswith("flags") for word in line.split()}
    except OSError:
        return "DEFAULT"
    return next((name for name, flag in _WIDEST if flag in flags), "DEFAULT")

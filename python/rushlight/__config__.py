"""How the library was built, as text.

>>> import rushlight as torch
>>> print(torch.__config__.show())  # doctest: +ELLIPSIS
rushlight built with:
  - Rust kernels for the CPU
...
"""

from __future__ import annotations

from ._rushlight import __version__, get_num_threads

__all__ = ["parallel_info", "show"]


def show() -> str:
    """Return what was built, and with which settings."""
    lines = [
        "Rust kernels for the CPU",
        "CUDA, MKL, MKLDNN and OpenMP are not used",
        f"Version {__version__}",
    ]
    return "".join(["rushlight built with:\n", *(f"  - {line}\n" for line in lines)])


_show_config = show  # As the compiled module of torch calls it.


def parallel_info() -> str:
    """Return how many threads compute."""
    return f"Threads of kernels:\n\trushlight.get_num_threads() : {get_num_threads()}\n"


def _cxx_flags() -> str:
    return ""

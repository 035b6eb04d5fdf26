"""Extensions in C++ and CUDA: they are written for another library, and cannot be built or loaded.

>>> import rushlight as torch
>>> torch.utils.cpp_extension.CUDA_HOME is None
True
"""

from __future__ import annotations

from typing import Any

__all__ = [
    "BuildExtension",
    "CUDAExtension",
    "CppExtension",
    "include_paths",
    "is_ninja_available",
    "load",
    "load_inline",
    "verify_ninja_availability",
]

CUDA_HOME: str | None = None
CUDNN_HOME: str | None = None
ROCM_HOME: str | None = None
IS_HIP_EXTENSION = False
COMMON_NVCC_FLAGS: list[str] = []

_NONE = (
    "{}: extensions in C++ are written for the library of torch, which is not there. Write the operator in "
    "Python with torch.library.custom_op, or its derivative with torch.autograd.Function."
)


def _refuse(name: str) -> Any:
    raise RuntimeError(_NONE.format(name))


def load(name: str, *args: Any, **kwargs: Any) -> Any:
    """Refuse to build and load an extension.

    >>> import rushlight as torch
    >>> torch.utils.cpp_extension.load("mine", ["mine.cpp"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: load: extensions in C++ are written for the library of torch, which is not there. Write ...
    """
    return _refuse("load")


def load_inline(name: str, *args: Any, **kwargs: Any) -> Any:
    """Refuse to build and load an extension."""
    return _refuse("load_inline")


def CppExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> Any:
    """Refuse to describe an extension."""
    return _refuse("CppExtension")


def CUDAExtension(name: str, sources: Any, *args: Any, **kwargs: Any) -> Any:
    """Refuse to describe an extension."""
    return _refuse("CUDAExtension")


def include_paths(device_type: str = "cpu", *args: Any) -> list[str]:
    """Return where headers are: there are none."""
    return []


library_paths = include_paths


def is_ninja_available() -> bool:
    """Tell whether extensions can be built: no."""
    return False


def verify_ninja_availability() -> None:
    """Refuse to build extensions."""
    _refuse("verify_ninja_availability")


class BuildExtension:
    """What would build extensions."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        _refuse("BuildExtension")

    @classmethod
    def with_options(cls, **options: Any) -> type[BuildExtension]:
        """Return what would build extensions, with options."""
        return cls

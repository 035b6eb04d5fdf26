"""What a program asks about the library and the machine, and memory of files."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _rushlight as native
from ._calls.showing import shown_as_given
from ._tensors.sharing import on_file

if TYPE_CHECKING:
    from ._rushlight import Tensor

__all__ = [
    "compiled_with_cxx11_abi",
    "from_file",
    "get_device",
    "get_num_interop_threads",
    "has_cuda",
    "has_cudnn",
    "has_lapack",
    "has_mkl",
    "has_mkldnn",
    "has_mps",
    "has_openmp",
    "has_spectral",
    "is_distributed",
    "set_num_interop_threads",
]

# There are matrix factorisations and Fourier transforms, though not by these libraries.
has_lapack = has_spectral = True
has_mkl = has_openmp = False
has_cuda = has_cudnn = has_mkldnn = has_mps = False

_wanted: int | None = None


def compiled_with_cxx11_abi() -> bool:
    """Return whether C++ would be called as it is now, which holds where there is none.

    >>> import rushlight as torch
    >>> torch.compiled_with_cxx11_abi()
    True
    """
    return True


@shown_as_given
def get_device(input: Tensor) -> int:
    """Return the number of the device: processors have none.

    >>> import rushlight as torch
    >>> torch.get_device(torch.ones(1))
    -1
    """
    return input.get_device()


@shown_as_given
def is_distributed(input: Tensor) -> bool:
    """Return whether other processes hold parts of the tensor: none do.

    >>> import rushlight as torch
    >>> torch.is_distributed(torch.ones(1))
    False
    """
    return False


def get_num_interop_threads() -> int:
    """Return how many operations may run beside each other.

    >>> import rushlight as torch
    >>> torch.get_num_interop_threads() >= 1
    True
    """
    from os import cpu_count

    return _wanted or cpu_count() or 1


def set_num_interop_threads(n: int) -> None:
    """Say, once, how many operations may run beside each other.

    Branches of a graph share the threads of kernels here, so it is remembered only.

    >>> import rushlight as torch
    >>> torch.set_num_interop_threads(0)
    Traceback (most recent call last):
    RuntimeError: set_num_interop_threads expects a positive integer
    """
    global _wanted
    if not isinstance(n, int) or isinstance(n, bool):
        raise RuntimeError(f"set_num_interop_threads expects an int, but got {type(n).__name__}")
    if n.bit_length() > 63:
        raise ValueError("Overflow when unpacking long long")
    if n <= 0:
        raise RuntimeError("set_num_interop_threads expects a positive integer")
    if _wanted is not None:
        raise RuntimeError(
            "Error: cannot set number of interop threads after parallel work has started or "
            "set_num_interop_threads called"
        )
    _wanted = n


def from_file(
    filename: str,
    shared: bool | None = None,
    size: int | None = 0,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Return the first `size` elements of a file. What is written to a `shared` one goes into the file.

    The file has to stay as long as it is: reading where it was made shorter ends the process (SIGBUS).

    >>> import rushlight as torch
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile() as file:
    ...     _ = file.write(bytes([1, 0, 2, 0]))
    ...     file.flush()
    ...     torch.from_file(file.name, size=2, dtype=torch.int16)
    tensor([1, 2], dtype=torch.int16)
    """
    kind = native.get_default_dtype() if dtype is None else dtype
    native.empty(0, dtype=kind, layout=layout or native.strided, device=device, pin_memory=pin_memory)
    return on_file(filename, bool(shared), (size or 0) * kind.itemsize, kind).requires_grad_(requires_grad)

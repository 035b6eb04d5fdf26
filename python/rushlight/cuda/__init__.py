"""What programs ask before they leave the CPU: there is no other device here."""

from __future__ import annotations

from typing import Any

from .._lazy import on_first_use

__getattr__, __dir__ = on_first_use(globals(), rooms={"amp"})

_NO_DEVICE = "Torch not compiled with CUDA enabled"


def is_available() -> bool:
    """Tell whether there is a CUDA device: never.

    >>> import rushlight as torch
    >>> torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device(type='cpu')
    """
    return False


def is_initialized() -> bool:
    """Tell whether a CUDA device is in use: never."""
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Tell whether the CUDA device calculates with `bfloat16`: there is none."""
    return False


def device_count() -> int:
    """Return the number of CUDA devices: none."""
    return 0


def manual_seed(seed: int) -> None:
    """Seed the generator of the CUDA device, if there were one."""
    int(seed)


def manual_seed_all(seed: int) -> None:
    """Seed the generators of all CUDA devices. There are none.

    >>> import rushlight as torch
    >>> torch.cuda.manual_seed_all(1)
    """
    int(seed)


def empty_cache() -> None:
    """Give back the memory of CUDA devices that nobody uses. There is none."""


def memory_allocated(device: Any = None) -> int:
    """Return how many bytes tensors have on a CUDA device: none."""
    return 0


def max_memory_allocated(device: Any = None) -> int:
    """Return how many bytes tensors have had at most on a CUDA device: none."""
    return 0


def memory_reserved(device: Any = None) -> int:
    """Return how many bytes of a CUDA device are kept: none."""
    return 0


def current_device() -> int:
    """Return the number of the CUDA device in use: an error, since there is none."""
    raise AssertionError(_NO_DEVICE)


def set_device(device: Any) -> None:
    """Choose a CUDA device: an error, since there is none."""
    raise AssertionError(_NO_DEVICE)


def get_device_name(device: Any = None) -> str:
    """Return the name of a CUDA device: an error, since there is none."""
    raise AssertionError(_NO_DEVICE)


def synchronize(device: Any = None) -> None:
    """Wait for a CUDA device: an error, since there is none."""
    raise AssertionError(_NO_DEVICE)

"""What programs ask before they leave the CPU: there is no other device here."""

from __future__ import annotations


def is_available() -> bool:
    """Tell whether there is a CUDA device: never.

    >>> import rushlight as torch
    >>> torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device(type='cpu')
    """
    return False


def device_count() -> int:
    """Return the number of CUDA devices: none."""
    return 0

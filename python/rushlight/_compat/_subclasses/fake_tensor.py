"""Tensors without numbers, by which a compiler finds shapes: there are none.

>>> import rushlight as torch
>>> from rushlight._subclasses.fake_tensor import is_fake
>>> is_fake(torch.ones(1))
False
"""

from __future__ import annotations

from typing import Any

__all__ = ["FakeTensor", "is_fake"]


class FakeTensor:
    """A tensor without numbers. Nothing is an instance, and none can be made."""

    def __new__(cls, *args: Any, **kwargs: Any) -> FakeTensor:
        """Refuse."""
        raise NotImplementedError("FakeTensor: there are no tensors without numbers here")


def is_fake(x: object) -> bool:
    """Tell whether a tensor has no numbers: none is so."""
    return False

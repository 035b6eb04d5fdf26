"""What functions that are written in Python say of arguments that are no tensors."""

from __future__ import annotations

from .._rushlight import Tensor


def require_tensors(function: str, **given: object) -> None:
    """Refuse the first of these arguments, which stand in the order of the parameters, that is no tensor.

    >>> import rushlight as torch
    >>> from rushlight._calls.arguments import require_tensors
    >>> require_tensors("kl_div", input=torch.ones(1), target=2)
    Traceback (most recent call last):
    TypeError: kl_div(): argument 'target' (position 2) must be Tensor, not int
    """
    for place, (name, value) in enumerate(given.items(), 1):
        if not isinstance(value, Tensor):
            found = type(value).__name__
            raise TypeError(f"{function}(): argument '{name}' (position {place}) must be Tensor, not {found}")

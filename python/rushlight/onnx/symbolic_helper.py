"""Decorators of functions that say how operators would be written: they are left as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["parse_args", "quantized_args"]


def parse_args(*arg_descriptors: str) -> Callable[[Any], Any]:
    """Return a decorator that leaves a function as it is."""

    def decorate(function: Any) -> Any:
        function._arg_descriptors = arg_descriptors
        return function

    return decorate


def quantized_args(*arg_q_descriptors: bool, **options: Any) -> Callable[[Any], Any]:
    """Return a decorator that leaves a function as it is."""
    return lambda function: function


def _prepare_onnx_paddings(dim: int, pad: Sequence[int]) -> list[int]:
    """Return paddings in the order of the format: where each dimension begins, then where each ends.

    >>> _prepare_onnx_paddings(3, [1, 2, 3, 4])
    [0, 3, 1, 0, 4, 2]
    """
    whole = [*pad, *[0] * (2 * dim - len(pad))]
    return whole[-2::-2] + whole[-1::-2]

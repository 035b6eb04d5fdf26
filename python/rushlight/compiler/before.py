"""Tensors and counts of schedules as they were before a call, to have the call again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._rushlight import _unsafe_set_version_counter
from ..autograd.grad_mode import no_grad
from ..random import get_rng_state, set_rng_state

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from .._rushlight import Tensor


class Before:
    """The numbers of tensors and of their gradients, what counts, and how far random numbers are."""

    def __init__(
        self, tensors: Iterable[Tensor], counting: Iterable[tuple[dict[str, Any], tuple[str, ...]]] = ()
    ) -> None:
        self._counts = [
            (entries, {name: entries[name] for name in names if name in entries})
            for entries, names in counting
        ]
        tensors = list(tensors)
        self.is_known = not any(tensor.is_inference() for tensor in tensors)
        self._drawn = get_rng_state()
        self._tensors: list[tuple[Tensor, tuple[Tensor, int], Tensor | None, tuple[Tensor, int] | None]] = []
        distinct = {id(tensor): tensor for tensor in tensors} if self.is_known else {}
        for tensor in distinct.values():
            gradient = tensor.grad if tensor.is_leaf else None
            kept = None if gradient is None else self._kept(gradient)
            self._tensors.append((tensor, self._kept(tensor), gradient, kept))

    @staticmethod
    def _kept(tensor: Tensor) -> tuple[Tensor, int]:
        return tensor.detach().clone(), tensor._version

    def restore(self) -> None:
        """Have all as it was."""
        set_rng_state(self._drawn)
        for entries, counts in self._counts:
            entries.update(counts)
        with no_grad():
            for tensor, kept, gradient, kept_gradient in self._tensors:
                self._put(tensor, kept)
                if tensor.is_leaf and tensor.grad is not gradient:
                    tensor.grad = gradient
                if gradient is not None and kept_gradient is not None:
                    self._put(gradient, kept_gradient)

    @staticmethod
    def _put(tensor: Tensor, kept: tuple[Tensor, int]) -> None:
        numbers, version = kept
        # What is shown several times cannot have been written to.
        if 0 not in tensor.stride() or tensor.numel() < 2:
            tensor.data.copy_(numbers)
        _unsafe_set_version_counter([tensor], [version])

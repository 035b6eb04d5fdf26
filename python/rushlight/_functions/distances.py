"""Distances between all pairs of rows."""

from __future__ import annotations

from .. import _rushlight as native
from .._calls.showing import shown, shown_as_given
from .._rushlight import Tensor

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from typing import Any


__all__ = ["cdist", "pdist"]


@shown
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """Return the distances of all rows of one tensor to all rows of another.

    >>> import rushlight as torch
    >>> torch.cdist(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    if compute_mode not in _DISTANCES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return native._nn.cdist(x1, x2, p, _DISTANCES.index(compute_mode))


_DISTANCES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@shown_as_given
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Return the distances of all pairs of rows, each pair once.

    >>> import rushlight as torch
    >>> torch.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    tensor([5.])
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    if not input.numel():
        count = len(input)
        return input.new_zeros(count * (count - 1) // 2)
    return native._nn.pdist(input, p)

"""Something around tensors: zeros, what lies at their edges, or what comes next in a ring."""

from __future__ import annotations

from collections.abc import Sequence

from ... import _rushlight as native
from ..._calls.arguments import require_tensors
from ..._calls.showing import shown
from ..._rushlight import Tensor

__all__ = ["pad"]

_nn = native._nn


@shown
def pad(input: Tensor, pad: Sequence[int], mode: str = "constant", value: float | None = None) -> Tensor:
    """Return the tensor with something around its last dimensions.

    >>> import rushlight as torch
    >>> torch.nn.functional.pad(torch.ones(2), (1, 2))
    tensor([0., 1., 1., 0., 0.])
    """
    require_tensors("pad", input=input)
    if mode == "constant" or not isinstance(mode, str):
        return _nn.pad(input, pad, mode, value)
    if len(pad) % 2 != 0:
        raise RuntimeError("Padding length must be divisible by 2")
    if len(pad) > 2 * input.dim():
        raise RuntimeError(
            "Padding length should be less than or equal to two times the input dimension but got padding "
            f"length {len(pad)} and input of dimension {input.dim()}"
        )
    if mode not in ("reflect", "replicate", "circular"):
        raise NotImplementedError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise RuntimeError(f'Padding mode "{mode}" doesn\'t take in value argument')
    spatial = len(pad) // 2
    if spatial > 3 or input.dim() not in (spatial + 1, spatial + 2):
        raise NotImplementedError(
            f"Padding size {len(pad)} is not supported for {input.dim()}D input tensor.\n"
            "Supported combinations for non-constant padding:\n"
            "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
            "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
            "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
        )
    if mode == "reflect":
        return _nn.reflection_pad(input, pad)
    return _nn.replication_pad(input, pad) if mode == "replicate" else _circular(input, pad)


def _circular(input: Tensor, pad: Sequence[int]) -> Tensor:
    """Pad with what comes next when dimensions are rings."""
    shape = list(input.shape)
    for pair in range(len(pad) // 2):
        dim = input.dim() - 1 - pair
        before, behind = pad[2 * pair], pad[2 * pair + 1]
        size = shape[dim]
        if before > size or behind > size:
            raise RuntimeError("Padding value causes wrapping around more than once.")
        if size + before + behind < 0:
            raise RuntimeError("Negative padding value is resulting in an empty dimension")
        shape[dim] += before + behind
    padded = input.new_empty(shape)
    _nn.fill_rings(padded, input, pad)
    return padded

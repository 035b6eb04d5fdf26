"""Recursive filters: each sample of what comes out depends on those that came out before.

A block of samples solves a triangular system, whose inverse (the beginning of the answer to an impulse) is
the same for all blocks: what would be a loop over samples is one over blocks.
"""

from __future__ import annotations

from ... import _rushlight as native
from ... import linalg
from ..._rushlight import Tensor

__all__ = ["filter_loop", "overdrive_loop"]

_BLOCK = 128


def filter_loop(inputs: Tensor, backward: Tensor, padded: Tensor) -> None:
    """Write y[t] = x[t] - Σ a[k] y[t - k] behind the zeros in front of `padded`.

    `inputs` has samples, channels and times; `backward` has the coefficients of each channel, the last one
    first: the one before y[t] itself is not read, which is one.
    """
    order, times = backward.shape[1] - 1, inputs.shape[-1]
    if order == 0 or times == 0:
        padded[..., order:].copy_(inputs)
        return
    size = min(_BLOCK, times)
    # What a block takes from itself (lower triangle) and from the samples before it.
    within = native.eye(size, dtype=inputs.dtype).repeat(backward.shape[0], 1, 1)
    before = inputs.new_zeros(backward.shape[0], size, order)
    for step in range(1, order + 1):
        factor = backward[:, order - step, None]
        within.diagonal(-step, 1, 2).copy_(factor.expand(-1, max(size - step, 0)))
        reach = min(step, size)
        before.diagonal(order - step, 1, 2)[:, :reach].copy_(factor.expand(-1, reach))
    answer = linalg.solve_triangular(within, native.eye(size, dtype=inputs.dtype), upper=False)
    for start in range(0, times, size):
        count = min(size, times - start)
        earlier = padded[..., start : start + order, None]
        block = inputs[..., start : start + count, None] - before[:, :count] @ earlier
        padded[..., order + start : order + start + count] = (answer[:, :count, :count] @ block)[..., 0]


def overdrive_loop(
    waveform: Tensor, shaped: Tensor, last_in: Tensor, last_out: Tensor, output: Tensor
) -> None:
    """Write half of the wave and what a filter without constant part makes of the shaped one."""
    rises = shaped - native.cat((last_in[:, None], shaped[:, :-1]), 1)
    padded = native.cat((last_out[:, None], native.zeros_like(shaped)), 1)[:, None]
    filter_loop(rises[:, None], shaped.new_tensor([[-0.995, 1.0]]), padded)
    output.copy_(waveform * 0.5 + padded[:, 0, 1:] * 0.75)

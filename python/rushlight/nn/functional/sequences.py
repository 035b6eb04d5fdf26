"""The loss of labels whose places in a sequence are not known (connectionist temporal classification)."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from .reductions import reduction_number

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["ctc_loss"]


def _lengths(lengths: Any) -> list[int]:
    found = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    return [int(length) for length in (found if isinstance(found, list) else [found])]


def _added(*logarithms: Tensor) -> Tensor:
    """Return the logarithms of sums of which the summands' are given; minus infinity is none."""
    stacked = native.stack(logarithms)
    most = native.amax(stacked, 0).detach()
    most = native.where(most == -math.inf, 0.0, most).to(stacked.dtype)
    total = (stacked - most).exp().sum(0)
    # Where there is nothing, the logarithm has no slope rather than one that is not a number.
    nothing = total == 0
    return native.where(nothing, -math.inf, native.where(nothing, 1.0, total).log() + most).to(stacked.dtype)


def ctc_loss(
    log_probs: Tensor,
    targets: Tensor,
    input_lengths: Any,
    target_lengths: Any,
    blank: int = 0,
    reduction: str = "mean",
    zero_infinity: bool = False,
) -> Tensor:
    """Return the negative log-probability of labels, summed over all ways to lay them along a sequence.

    >>> import rushlight as torch
    >>> steps = torch.zeros(2, 1, 2).log_softmax(2)
    >>> torch.nn.functional.ctc_loss(steps, torch.tensor([[1]]), [2], [1])
    tensor(0.2877)
    """
    number = reduction_number(reduction)
    single = log_probs.dim() == 2
    steps = log_probs.unsqueeze(1) if single else log_probs
    inputs, labels = _lengths(input_lengths), _lengths(target_lengths)
    longest, count, classes = steps.shape
    _check(longest, count, classes, inputs, labels, blank)
    if single and targets.dim() == 1:
        targets = targets.unsqueeze(0)
    rows = _rows(targets, labels)

    def losses_of(steps: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        return _losses(steps, rows, inputs, labels, blank)

    losses = native._as_one(
        losses_of,
        ("_ctc_loss", "CtcLossBackward0", "log_probs targets result0 result1"),
        (1, 0, 2),
        {
            "blank": blank,
            "input_lengths": inputs,
            "target_lengths": labels,
            "zero_infinity": zero_infinity,
        },
        steps,
        targets,
    )[0]
    if zero_infinity:
        losses = native.where(losses == math.inf, 0.0, losses).to(steps.dtype)
    if number == 1:
        divisors = native.tensor([max(length, 1) for length in labels], dtype=steps.dtype)
        return (losses / divisors).mean()
    if number == 2:
        return losses.sum()
    return losses.squeeze(0) if single else losses


def _check(
    longest: int, count: int, classes: int, inputs: Sequence[int], labels: Sequence[int], blank: int
) -> None:
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", labels)):
        if len(lengths) != count:
            raise RuntimeError(f"{name} must be of size batch_size")
    for length in inputs:
        if length > longest:
            raise RuntimeError(
                f"Expected input_lengths to have value at most {longest}, but got value {length} (while "
                "checking arguments for ctc_loss_allocate_outputs)"
            )


def _rows(targets: Tensor, labels: Sequence[int]) -> list[list[int]]:
    """Return the labels of every sequence."""
    if targets.dim() == 2:
        return [row[:length] for row, length in zip(targets.tolist(), labels, strict=True)]
    flat, start, rows = targets.tolist(), 0, []
    for length in labels:
        rows.append(flat[start : start + length])
        start += length
    return rows


def _losses(
    steps: Tensor, rows: list[list[int]], inputs: list[int], labels: list[int], blank: int
) -> tuple[Tensor, Tensor]:
    """Go along the steps with the probabilities of all beginnings of the labels with blanks between."""
    longest, count, _ = steps.shape
    width = 2 * max(labels, default=0) + 1
    spread = [[blank] * width for _ in rows]
    for line, row in zip(spread, rows, strict=True):
        line[1 : 2 * len(row) : 2] = row
    places = native.tensor(spread).view(count, width)
    # A label may follow the one before it directly if the two differ: the blank between is skipped.
    skips = native.tensor(
        [
            [at > 1 and line[at] != blank and line[at] != line[at - 2] for at in range(width)]
            for line in spread
        ]
    ).view(count, width)
    none = native.full((count, 1), -math.inf, dtype=steps.dtype)
    logits = steps.gather(2, places.unsqueeze(0).expand(longest, count, width)) if longest else steps
    begun = native.arange(width) < 2
    states = native.where(native.arange(width) < 1, 0.0, -math.inf).to(steps.dtype).expand(count, width)
    kept = []
    for step in range(longest):
        if step == 0:
            states = native.where(begun, logits[0], -math.inf).to(steps.dtype)
        else:
            one = native.cat([none, states[:, :-1]], 1)
            two = native.cat([none, none, states[:, :-2]], 1)[:, :width]
            two = native.where(skips, two, -math.inf).to(steps.dtype)
            states = _added(states, one, two) + logits[step]
        kept.append(states)
    losses = []
    for item, (length, size) in enumerate(zip(inputs, labels, strict=True)):
        if length == 0:
            losses.append(native.full((), 0.0 if size == 0 else math.inf, dtype=steps.dtype))
            continue
        last = kept[length - 1][item]
        ends = (last[2 * size], last[2 * size - 1]) if size > 0 else (last[0],)
        losses.append(-_added(*ends))
    states = native.stack(kept, 1) if kept else steps.new_zeros((count, 0, width))
    return native.stack(losses) if losses else steps.new_zeros(0), states.detach()

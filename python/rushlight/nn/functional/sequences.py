"""The loss of labels whose places in a sequence are not known (connectionist temporal classification)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from ... import _rushlight as native
from ..._calls.precision import exact
from ..._calls.showing import shown_to
from ..._functions.under_vmap import is_any_batched
from ..._rushlight import Tensor
from ..._tensors.typename import scalar_name
from .reductions import reduction_number

__all__ = ["ctc_loss"]


def _lengths(lengths: Any) -> list[int]:
    found = lengths.tolist() if isinstance(lengths, Tensor) else list(lengths)
    return [int(length) for length in (found if isinstance(found, list) else [found])]


_CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def _added(*logarithms: Tensor) -> Tensor:
    """Return the logarithms of sums of which the summands' are given; minus infinity is none."""
    stacked = native.stack(logarithms)
    most = native.amax(stacked, 0).detach()
    most = native.where(most == -math.inf, 0.0, most).to(stacked.dtype)
    total = (stacked - most).exp().sum(0)
    # Where there is nothing, the logarithm has no slope rather than one that is not a number.
    nothing = total == 0
    return native.where(nothing, -math.inf, native.where(nothing, 1.0, total).log() + most).to(stacked.dtype)


@shown_to("log_probs targets input_lengths target_lengths")
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
    (log_probs,) = exact(log_probs)
    number = reduction_number(reduction)
    single = log_probs.dim() != 3
    steps = log_probs.unsqueeze(1) if single else log_probs
    for name, lengths in (("input_lengths", input_lengths), ("target_lengths", target_lengths)):
        if isinstance(lengths, Tensor) and (lengths.is_floating_point() or lengths.is_complex()):
            raise RuntimeError(f"{name} must be integral")
    inputs, labels = _lengths(input_lengths), _lengths(target_lengths)
    _check(steps, targets, inputs, labels, blank)
    if single and targets.dim() == 1:
        targets = targets.unsqueeze(0)

    def losses_of(steps: Tensor, targets: Tensor) -> tuple[Tensor, Tensor]:
        return _losses(steps, _places(targets, labels, blank), inputs, labels, blank)

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


def _check(steps: Tensor, targets: Tensor, inputs: Sequence[int], labels: Sequence[int], blank: int) -> None:
    if steps.numel() == 0:
        raise RuntimeError("log_probs tensor must not be empty")
    if steps.dim() != 3:
        got = f"Expected 3-dimensional tensor, but got {steps.dim()}-dimensional tensor"
        raise RuntimeError(f"{got} for argument #1 'log_probs' {_CHECKING}")
    if not steps.is_floating_point():
        raise NotImplementedError(f"\"ctc_loss_cpu\" not implemented for '{scalar_name(steps)}'")
    if not 1 <= targets.dim() <= 2:
        got = f"Expected 1 to 2 dimensions, but got {targets.dim()}-dimensional tensor"
        raise RuntimeError(f"{got} for argument #2 'targets' {_CHECKING}")
    longest, count, classes = steps.shape
    if not 0 <= blank < classes:
        raise RuntimeError("blank must be in label range")
    for name, lengths in (("input_lengths", inputs), ("target_lengths", labels)):
        if len(lengths) != count:
            raise RuntimeError(f"{name} must be of size batch_size")
    _check_positive("target_lengths", labels)
    if targets.dim() == 1:
        _check_size(targets, 0, sum(labels))
    else:
        _check_size(targets, 0, count)
        if targets.shape[1] < max(labels):
            raise RuntimeError(
                f"Expected tensor to have size at least {max(labels)} at dimension 1, but got size "
                f"{targets.shape[1]} for argument #2 'targets' {_CHECKING}"
            )
    _check_positive("input_lengths", inputs)
    if max(inputs) > longest:
        length = next(length for length in inputs if length > longest)
        raise RuntimeError(
            f"Expected input_lengths to have value at most {longest}, but got value {length} {_CHECKING}"
        )


def _check_positive(name: str, lengths: Sequence[int]) -> None:
    for length in lengths:
        if length < 0:
            raise RuntimeError(
                f"Expected {name} to have value at least 0, but got value {length} {_CHECKING}"
            )


def _check_size(targets: Tensor, dim: int, size: int) -> None:
    if targets.shape[dim] != size:
        raise RuntimeError(
            f"Expected tensor to have size {size} at dimension {dim}, but got size {targets.shape[dim]} for "
            f"argument #2 'targets' {_CHECKING}"
        )


def _places(targets: Tensor, labels: Sequence[int], blank: int) -> Tensor:
    """Return the labels of all sequences with a blank around each, and more behind the shorter ones."""
    whole, counts, at = targets.long(), native.tensor(labels), native.arange(max(labels, default=0))
    if whole.dim() == 1:
        starts = counts.cumsum(0) - counts
        whole = whole[(starts[:, None] + at).clamp(max=max(len(whole) - 1, 0))] if len(whole) else whole[None]
    rows = native.where(at < counts[:, None], whole[:, : len(at)], blank)
    blanks = native.full_like(rows, blank)
    between = native.stack([blanks, rows], 2).reshape(len(labels), 2 * len(at))
    return native.cat([between, native.full((len(labels), 1), blank)], 1)


def _losses(
    steps: Tensor, places: Tensor, inputs: list[int], labels: list[int], blank: int
) -> tuple[Tensor, Tensor]:
    """Go along the steps with the probabilities of all beginnings of the labels with blanks between."""
    count, width = places.shape
    # A label may follow the one before it directly if the two differ: the blank between is skipped.
    later, earlier = places[:, 2:], places[:, :-2]
    first = native.zeros_like(places[:, :2], dtype=native.bool)
    skips = native.cat([first, (later != blank) & (later != earlier)], 1)
    logits = steps.transpose(0, 1).gather(2, places.unsqueeze(1).expand(count, len(steps), width))
    states = native._nn.label_states(logits, skips)
    lengths, sizes = native.tensor(inputs), native.tensor(labels)
    last = (lengths - 1).clamp(min=0)[:, None, None].expand(count, 1, width)
    last = states.gather(1, last).squeeze(1)
    label = last.gather(1, (2 * sizes - 1).clamp(min=0)[:, None]).squeeze(1)
    label = native.where(sizes > 0, label, -math.inf).to(steps.dtype)
    found = -_added(last.gather(1, 2 * sizes[:, None]).squeeze(1), label)
    if 0 in inputs:
        empty = native.where(sizes == 0, 0.0, math.inf)
        found = native.where(lengths == 0, empty, found).to(steps.dtype)
    # Samples do not say whether somebody outside of the mapping differentiates.
    if steps.requires_grad or is_any_batched(steps):
        found = found + _of_normalised(steps, inputs)
    return found, states.detach()


def _of_normalised(steps: Tensor, inputs: list[int]) -> Tensor:
    """Return a zero for each sequence whose gradients are the probabilities at its steps.

    With it, the gradient at `steps` is the one at logits of which they are the `log_softmax`, as in torch:
    that operation's own gradient changes nothing then.
    """
    probabilities = steps.exp()
    within = native.arange(len(steps)).unsqueeze(1) < native.tensor(inputs)
    return ((probabilities - probabilities.detach()) * within.unsqueeze(2)).sum((0, 2))

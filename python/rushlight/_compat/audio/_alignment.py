"""Labels along time: the loss of transducers, and the likeliest alignment of labels that are known."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from ...autograd import grad
from ...autograd.grad_mode import enable_grad

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["forced_align", "transducer_loss"]


def transducer_loss(
    logits: Tensor,
    targets: Tensor,
    logit_lengths: Tensor,
    target_lengths: Tensor,
    blank: int,
    clamp: float,
    fused_log_softmax: bool = True,
) -> tuple[Tensor, Tensor]:
    """Return -log p(targets) of each sample, and its gradient, cut at `clamp` if that is positive."""
    blank %= logits.shape[-1]
    with enable_grad():
        leaf = logits.detach().requires_grad_()
        chances = leaf.log_softmax(-1) if fused_log_softmax else leaf
        losses = native.stack(
            [
                _loss_of_one(chances[sample, :times, : labels + 1], targets[sample, :labels].tolist(), blank)
                for sample, (times, labels) in enumerate(
                    zip(logit_lengths.tolist(), target_lengths.tolist(), strict=True)
                )
            ]
        )
        gradients: Any = grad(losses.sum(), leaf)
    gradient = gradients[0]
    return losses.detach(), gradient.clamp(-clamp, clamp) if clamp > 0 else gradient


def _loss_of_one(chances: Tensor, labels: Sequence[int], blank: int) -> Tensor:
    """Sum the chances of all ways from the first time to the last, a label up or a time on: row by row."""
    on = chances[..., blank]
    up = chances[:, native.arange(len(labels)), list(labels)] if labels else chances[:, :0, 0]
    # Along a row, log(Σ over where the row was entered) of the way up from there, by differences of sums.
    climbs = native.cat((up.new_zeros(len(up), 1), up.cumsum(1)), 1)
    row = climbs[0]
    for time in range(1, len(on)):
        row = climbs[time] + native.logcumsumexp(row + on[time - 1] - climbs[time], 0)
    return -(row[-1] + on[-1, -1])


def forced_align(
    log_probs: Tensor, targets: Tensor, input_lengths: Tensor, target_lengths: Tensor, blank: int
) -> tuple[Tensor, Tensor]:
    """Return the likeliest label of each time, of all alignments that spell the targets, and the chances."""
    if log_probs.shape[0] != 1:
        raise RuntimeError(
            f"The batch dimension for log_probs must be 1 at the current version, got {log_probs.shape[0]}"
        )
    chances, labels = log_probs[0, : int(input_lengths[0])], targets[0, : int(target_lengths[0])].tolist()
    states = [blank]
    for label in labels:
        states += [label, blank]
    repeats = sum(one == other for one, other in pairwise(labels))
    if len(chances) < len(labels) + repeats:
        raise RuntimeError(
            "targets length is too long for CTC. Found too few frames for the targets and their repeats"
        )
    # A blank between two labels that differ may be left out.
    skips = native.tensor([s > 1 and one != blank and one != states[s - 2] for s, one in enumerate(states)])
    seen = chances[:, states]
    best = native.full_like(seen[0], float("-inf"))
    best[:2] = seen[0, :2]
    steps = []
    for one in seen[1:]:
        from_before = native.cat((best.new_full((1,), float("-inf")), best[:-1]))
        from_two = native.cat((best.new_full((2,), float("-inf")), best[:-2]))[: len(best)]
        ways = native.stack((best, from_before, from_two.masked_fill(~skips, float("-inf"))))
        step = ways.argmax(0)
        steps.append(step.tolist())
        best = ways.amax(0) + one
    state = len(states) - 1 if len(states) == 1 or best[-1] > best[-2] else len(states) - 2
    path = [states[state]]
    for taken in reversed(steps):
        state -= taken[state]
        path.append(states[state])
    return native.tensor(path[::-1], dtype=targets.dtype)[None], log_probs

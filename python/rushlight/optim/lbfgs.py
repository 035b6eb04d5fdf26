"""L-BFGS: steps along what the last changes of gradients say of the curvature."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, cat
from ..autograd.grad_mode import enable_grad, no_grad
from .optimizer import Optimizer
from .parameterwise import number

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

__all__ = ["LBFGS"]


def _cubic(
    x1: float, f1: float, g1: float, x2: float, f2: float, g2: float, low: float, high: float
) -> float:
    """Return the lowest place of the cubic through two points with two slopes, between two bounds."""
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square**0.5
    if x1 <= x2:
        place = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        place = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return float(min(max(place, low), high))


class _Point:
    """A place on the line that is searched: the value there, the gradient, and the slope along the line."""

    def __init__(self, at: float, value: float, gradient: Tensor, direction: Tensor) -> None:
        self.at = at
        self.value = value
        self.gradient = gradient
        self.slope = float(gradient.dot(direction))


def _between(a: _Point, b: _Point, low: float, high: float) -> float:
    return _cubic(a.at, a.value, a.slope, b.at, b.value, b.slope, low, high)


def _search(
    probe: Any, start: _Point, step: float, direction: Tensor, tolerance: float, most: int = 25
) -> tuple[_Point, int]:
    """Return a place that lies low and flat enough (the strong conditions of Wolfe), and the calls made."""
    little, flat = 1e-4, 0.9
    longest = float(direction.abs().max())

    def look(at: float) -> _Point:
        value, gradient = probe(at)
        return _Point(at, value, gradient, direction)

    before, here = start, look(step)
    calls = 1
    bracket: list[_Point] = []
    for turn in range(most):
        too_high = here.value > start.value + little * here.at * start.slope
        if too_high or (turn > 0 and here.value >= before.value):
            bracket = [before, here]
            break
        if abs(here.slope) <= -flat * start.slope:
            return here, calls
        if here.slope >= 0:
            bracket = [before, here]
            break
        nearest = here.at + 0.01 * (here.at - before.at)
        further = _between(before, here, nearest, here.at * 10)
        before, here = here, look(further)
        calls += 1
    else:
        bracket = [start, here]
    stuck = False
    low, high = sorted(bracket, key=lambda point: point.value)
    for _ in range(max(most - calls, 0)):
        if abs(high.at - low.at) * longest < tolerance:
            break
        left, right = min(low.at, high.at), max(low.at, high.at)
        at = _between(low, high, left, right)
        margin = 0.1 * (right - left)
        if min(right - at, at - left) < margin:
            if stuck or at >= right or at <= left:
                at = right - margin if abs(at - right) < abs(at - left) else left + margin
                stuck = False
            else:
                stuck = True
        else:
            stuck = False
        here = look(at)
        calls += 1
        if here.value > start.value + little * at * start.slope or here.value >= low.value:
            high = here
            if high.value < low.value:
                low, high = high, low
        else:
            if abs(here.slope) <= -flat * start.slope:
                return here, calls
            if here.slope * (high.at - low.at) >= 0:
                high = low
            low = here
    return low, calls


class LBFGS(Optimizer):
    """Quasi-Newton steps; `step` wants a closure that computes the loss anew.

    >>> import rushlight as torch
    >>> x = torch.tensor([3.0, -2.0], requires_grad=True)
    >>> optimizer = torch.optim.LBFGS([x], line_search_fn="strong_wolfe")
    >>> def closure():
    ...     optimizer.zero_grad()
    ...     loss = (x * x).sum()
    ...     loss.backward()
    ...     return loss
    >>> first = optimizer.step(closure)
    >>> bool(x.abs().max() < 1e-4)
    True
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1,
        max_iter: int = 20,
        max_eval: int | None = None,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 100,
        line_search_fn: str | None = None,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not lr >= 0.0:
            raise ValueError(f"Invalid learning rate: {lr}")
        defaults = {
            "lr": lr,
            "max_iter": max_iter,
            "max_eval": max_iter * 5 // 4 if max_eval is None else max_eval,
            "tolerance_grad": tolerance_grad,
            "tolerance_change": tolerance_change,
            "history_size": history_size,
            "line_search_fn": line_search_fn,
        }
        super().__init__(params, defaults)
        if len(self.param_groups) != 1:
            raise ValueError("LBFGS doesn't support per-parameter options (parameter groups)")
        self._params = self.param_groups[0]["params"]

    def _gathered(self) -> Tensor:
        """Return all gradients in one line."""
        return cat(
            [
                (x.new_zeros(x.numel()) if x.grad is None else x.grad.reshape(-1)).detach().clone()
                for x in self._params
            ]
        )

    def _move(self, step: float, direction: Tensor) -> None:
        start = 0
        for x in self._params:
            x.add_(direction[start : start + x.numel()].view_as(x), alpha=step)
            start += x.numel()

    def step(self, closure: Callable[[], Any]) -> Any:  # type: ignore[override]
        """Take up to `max_iter` steps; return the loss before them."""
        with no_grad():
            return self._steps(enable_grad()(closure))

    def _steps(self, closure: Callable[[], Any]) -> Any:
        group = self.param_groups[0]
        rate = number(group["lr"])
        state = self.state[self._params[0]]
        state.setdefault("func_evals", 0)
        state.setdefault("n_iter", 0)
        first_loss = closure()
        loss, calls = float(first_loss), 1
        state["func_evals"] += 1
        gradient = self._gathered()
        if float(gradient.abs().max()) <= group["tolerance_grad"]:
            return first_loss
        direction, step = state.get("d"), state.get("t")
        turns, iterations = state.get("turns", []), 0
        before, loss_before = state.get("prev_flat_grad"), state.get("prev_loss")
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction, turns, scale = gradient.neg(), [], 1.0
            else:
                change = gradient - before
                moved = direction * step
                curvature = float(change.dot(moved))
                if curvature > 1e-10:
                    turns = [*turns, (change, moved, 1.0 / curvature)][-group["history_size"] :]
                    state["H_diag"] = curvature / float(change.dot(change))
                scale = state.get("H_diag", 1.0)
                direction = _direction(gradient, turns, scale)
            before, loss_before = gradient.clone(), loss
            step = rate
            if state["n_iter"] == 1:
                step = min(1.0, 1.0 / float(gradient.abs().sum())) * rate
            slope = float(gradient.dot(direction))
            if slope > -group["tolerance_change"]:
                break
            spent = 0
            if group["line_search_fn"] is not None:
                if group["line_search_fn"] != "strong_wolfe":
                    raise RuntimeError("only 'strong_wolfe' is supported")
                found, spent = self._searched(closure, loss, gradient, step, direction, group)
                loss, gradient, step = found.value, found.gradient, found.at
                self._move(step, direction)
            else:
                self._move(step, direction)
                if iterations != group["max_iter"]:
                    loss = float(closure())
                    gradient = self._gathered()
                    spent = 1
            calls += spent
            state["func_evals"] += spent
            still = float((direction * step).abs().max()) <= group["tolerance_change"]
            flat = float(gradient.abs().max()) <= group["tolerance_grad"]
            even = abs(loss - loss_before) < group["tolerance_change"]
            if iterations == group["max_iter"] or calls >= group["max_eval"] or flat or still or even:
                break
        state.update(d=direction, t=step, turns=turns, prev_flat_grad=before, prev_loss=loss_before)
        return first_loss

    def _searched(
        self,
        closure: Callable[[], Any],
        loss: float,
        gradient: Tensor,
        step: float,
        direction: Tensor,
        group: dict[str, Any],
    ) -> tuple[_Point, int]:
        here = [x.clone() for x in self._params]

        def probe(at: float) -> tuple[float, Tensor]:
            self._move(at, direction)
            value, slope = float(closure()), self._gathered()
            for x, original in zip(self._params, here, strict=True):
                x.copy_(original)
            return value, slope

        start = _Point(0.0, loss, gradient, direction)
        return _search(probe, start, step, direction, group["tolerance_change"])


def _direction(gradient: Tensor, turns: list[tuple[Tensor, Tensor, float]], scale: float) -> Tensor:
    """Return the step of Newton as far as the last changes tell (the two-loop recursion)."""
    direction = gradient.neg()
    weights = []
    for change, moved, share in reversed(turns):
        weights.append(float(moved.dot(direction)) * share)
        direction = direction - change * weights[-1]
    direction = direction * scale
    for (change, moved, share), weight in zip(turns, reversed(weights), strict=True):
        direction = direction + moved * (weight - float(change.dot(direction)) * share)
    return direction

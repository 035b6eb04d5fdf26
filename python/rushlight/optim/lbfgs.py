"""L-BFGS: steps along what the last changes of gradients say of the curvature."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from .._rushlight import Tensor, _nn, cat, zeros_like
from ..autograd.grad_mode import enable_grad, no_grad
from .optimizer import Optimizer
from .parameterwise import number, parts

__all__ = ["LBFGS"]


def _cubic_interpolate(
    x1: Any, f1: Any, g1: Tensor, x2: Any, f2: Any, g2: Tensor, bounds: tuple[Any, Any] | None = None
) -> Any:
    """Return the lowest place of the cubic through two points with two slopes, between two bounds.

    Without `bounds` it lies between the points. Other searches along lines use it under this name. Slopes
    are tensors, and so is what is calculated with them: in their precision, as in torch.
    """
    low, high = bounds or sorted((x1, x2))
    d1 = g1 + g2 - 3 * (f1 - f2) / (x1 - x2)
    square = d1 * d1 - g1 * g2
    if square < 0:
        return (low + high) / 2.0
    d2 = square.sqrt()
    if x1 <= x2:
        place = x2 - (x2 - x1) * ((g2 + d2 - d1) / (g2 - g1 + 2 * d2))
    else:
        place = x1 - (x1 - x2) * ((g1 + d2 - d1) / (g1 - g2 + 2 * d2))
    return min(max(place, low), high)


class _Point:
    """A place on the line that is searched: the value there, the gradient, and the slope along the line."""

    def __init__(self, at: Any, value: float, gradient: Tensor, direction: Tensor) -> None:
        self.at = at
        self.value = value
        self.gradient = gradient
        self.slope = gradient.dot(direction)


def _between(a: _Point, b: _Point, low: Any, high: Any) -> Any:
    return _cubic_interpolate(a.at, a.value, a.slope, b.at, b.value, b.slope, (low, high))


def _search(
    probe: Any,
    start: _Point,
    step: Any,
    direction: Tensor,
    tolerance: float,
    little: float = 1e-4,
    flat: float = 0.9,
    most: int = 25,
) -> tuple[_Point, int]:
    """Return a place that lies low and flat enough (the strong conditions of Wolfe), and the calls made."""
    longest = direction.abs().max()

    def look(at: Any) -> _Point:
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


def _strong_wolfe(
    obj_func: Callable[[Any, Any, Tensor], tuple[float, Tensor]],
    x: Any,
    t: Any,
    d: Tensor,
    f: float,
    g: Tensor,
    gtd: Tensor,
    c1: float = 1e-4,
    c2: float = 0.9,
    tolerance_change: float = 1e-9,
    max_ls: int = 25,
) -> tuple[float, Tensor, Any, int]:
    """Search along `d` from `x`; `obj_func(x, t, d)` returns the value and the gradient at `x + t*d`.

    The search of `LBFGS` for other optimisers, which know it by this name: the value found, the gradient
    there, the step, and the calls made.
    """
    start = _Point(0.0, f, g, d)
    start.slope = gtd
    found, calls = _search(lambda at: obj_func(x, at, d), start, t, d, tolerance_change, c1, c2, max_ls)
    return found.value, found.gradient, found.at, calls


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
        if not 0.0 <= lr:  # noqa: SIM300 (errors show the order)
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
        gradients = (zeros_like(x) if x.grad is None else x.grad for x in self._params)
        return cat([parts(gradient.to_dense()).reshape(-1) for gradient in gradients]).detach()

    def _move(self, step: Any, direction: Tensor) -> None:
        start = 0
        for x in map(parts, self._params):
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
        before, loss_before = state.get("prev_flat_grad"), state.get("prev_loss")
        iterations = 0
        while iterations < group["max_iter"]:
            iterations += 1
            state["n_iter"] += 1
            if state["n_iter"] == 1:
                direction = gradient.neg()
                state.update(old_dirs=[], old_stps=[], ro=[], H_diag=1)
            else:
                _remember(state, gradient - before, direction * step, group["history_size"])
                direction = _direction(state, gradient, group["history_size"])
            before, loss_before = gradient.clone(), loss
            step = rate
            if state["n_iter"] == 1:
                step = min(1.0, 1.0 / gradient.abs().sum()) * rate
            slope = gradient.dot(direction)
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
        state.update(d=direction, t=step, prev_flat_grad=before, prev_loss=loss_before)
        return first_loss

    def _searched(
        self,
        closure: Callable[[], Any],
        loss: float,
        gradient: Tensor,
        step: Any,
        direction: Tensor,
        group: dict[str, Any],
    ) -> tuple[_Point, int]:
        here = [x.clone() for x in self._params]

        def probe(at: Any) -> tuple[float, Tensor]:
            self._move(at, direction)
            value, slope = float(closure()), self._gathered()
            for x, original in zip(self._params, here, strict=True):
                x.copy_(original)
            return value, slope

        start = _Point(0.0, loss, gradient, direction)
        return _search(probe, start, step, direction, group["tolerance_change"])


def _remember(state: dict[str, Any], change: Tensor, moved: Tensor, most: int) -> None:
    """Keep how the gradient changed over a step, if that says something of the curvature."""
    curvature = change.dot(moved)
    if curvature > 1e-10:
        for name, value in (("old_dirs", change), ("old_stps", moved), ("ro", 1.0 / curvature)):
            state[name] = [*state[name], value][-most:]
        state["H_diag"] = curvature / change.dot(change)


def _direction(state: dict[str, Any], gradient: Tensor, most: int) -> Tensor:
    """Return the step of Newton as far as the last changes tell (the two-loop recursion)."""
    weights = state["al"] = state.get("al") or [None] * most
    if not state["ro"]:
        return gradient.neg().mul_(state["H_diag"])
    turns = (state["old_dirs"], state["old_stps"], state["ro"])
    direction, *weights[: len(state["ro"])] = _nn.lbfgs_direction(gradient, *turns, state["H_diag"])
    return direction

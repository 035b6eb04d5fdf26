"""Rates that rise and fall, once or again and again, and momenta that do so the other way round."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

from ..._rushlight import Tensor
from ..optimizer import Optimizer
from .base import LRScheduler, set_rate

__all__ = ["CosineAnnealingWarmRestarts", "CyclicLR", "OneCycleLR"]


def _each(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """Return a value for each group, that stays as it is when a tensor that was given changes."""
    groups = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        value = [value] * groups
    if len(value) != groups:
        raise ValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, "
            f"param_groups has {groups}."
        )
    return [one.detach().clone() if isinstance(one, Tensor) else one for one in value]


class _Cycling(LRScheduler):
    """What cycles momenta too, if asked to."""

    cycle_momentum: bool
    use_beta1: bool

    def _begin_momenta(self, optimizer: Optimizer, base: Any, most: Any, last_epoch: int) -> None:
        if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
            raise ValueError("optimizer must support momentum or beta1 with `cycle_momentum` option enabled")
        self.use_beta1 = "betas" in optimizer.defaults
        self.base_momentums = _each("base_momentum", optimizer, base)
        self.max_momentums = _each("max_momentum", optimizer, most)
        if last_epoch == -1:
            pairs = zip(self.max_momentums, self.base_momentums, optimizer.param_groups, strict=True)
            for high, low, group in pairs:
                self._set_momentum(group, high)
                group["max_momentum"] = high
                group["base_momentum"] = low

    def _set_momentum(self, group: dict[str, Any], momentum: Any) -> None:
        if self.use_beta1:
            group["betas"] = (momentum, *group["betas"][1:])
        else:
            group["momentum"] = momentum


class CyclicLR(_Cycling):
    """The rate up from `base_lr` to `max_lr` and down again, in cycles that may get lower.

    >>> import rushlight as torch
    >>> optimiser = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.CyclicLR(optimiser, 0.1, 1.0, 2, cycle_momentum=False)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(round(schedule.get_last_lr()[0], 4))
    ...     optimiser.step()
    ...     schedule.step()
    >>> rates
    [0.1, 0.55, 1.0, 0.55]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        base_lr: Any,
        max_lr: Any,
        step_size_up: int = 2000,
        step_size_down: int | None = None,
        mode: str = "triangular",
        gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.8,
        max_momentum: Any = 0.9,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        rates = _each("base_lr", optimizer, base_lr)
        if last_epoch == -1:
            for rate, group in zip(rates, optimizer.param_groups, strict=True):
                set_rate(group, rate)
        self.max_lrs = _each("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        down = up if step_size_down is None else float(step_size_down)
        self.total_size = up + down
        self.step_ratio = up / self.total_size
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError("mode is invalid and scale_fn is None")
        self.mode = mode
        self.gamma = gamma
        self._scale_fn_custom = scale_fn
        if scale_fn is None:
            scale_mode = "iterations" if mode == "exp_range" else "cycle"
        self.scale_mode = scale_mode
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momenta(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = rates

    def scale_fn(self, x: float) -> float:
        """Return how high a cycle is, or what is left of it at an iteration."""
        function = self._scale_fn_custom
        return self._scale_fn_ref(x) if function is None else function(x)

    @property
    def _scale_fn_ref(self) -> Callable[[float], float]:
        if self.mode == "exp_range":
            return partial(self._exp_range_scale_fn, self.gamma)
        return self._triangular_scale_fn if self.mode == "triangular" else self._triangular2_scale_fn

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        found: float = 1 / 2.0 ** (x - 1)
        return found

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        found: float = gamma**x
        return found

    def get_lr(self) -> list[Any]:
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        height = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            pairs = zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups, strict=True)
            for low, high, group in pairs:
                self._set_momentum(group, high - (high - low) * height * scale)
        return [
            low + (high - low) * height * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)
        ]

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimiser; of an object for the scale its state."""
        state = super().state_dict()
        function = state["_scale_fn_custom"]
        kept = function is not None and not isinstance(function, FunctionType)
        state["_scale_fn_custom"] = dict(function.__dict__) if kept else None
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        state = dict(state_dict)
        kept = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if kept is not None:
            self._scale_fn_custom.__dict__.update(kept)


class CosineAnnealingWarmRestarts(LRScheduler):
    """The rate along a cosine down to `eta_min`, and back at once, in rounds that may get longer.

    >>> import rushlight as torch
    >>> optimiser = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimiser, 2)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(round(schedule.get_last_lr()[0], 4))
    ...     optimiser.step()
    ...     schedule.step()
    >>> rates
    [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0.0,
        last_epoch: int = -1,
    ) -> None:
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"Expected positive integer T_0, but got {T_0}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0 = T_0
        self.T_i = T_0
        self.T_mult = T_mult
        self.eta_min = eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        share = (1 + math.cos(math.pi * self.T_cur / self.T_i)) / 2
        return [self.eta_min + (base - self.eta_min) * share for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Begin the next epoch, or go to one, of which a part may have passed."""
        if epoch is None and self.last_epoch < 0:
            epoch = 0
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        elif epoch < 0:
            raise ValueError(f"Expected non-negative epoch, but got {epoch}")
        elif epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            rounds = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**rounds - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**rounds
        self.last_epoch = math.floor(epoch)
        self._apply(self.get_lr())


class OneCycleLR(_Cycling):
    """The rate up to `max_lr` once, and down to almost nothing in the steps that are left.

    >>> import rushlight as torch
    >>> optimiser = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 1.0, total_steps=5, cycle_momentum=False)
    >>> rates = []
    >>> for _ in range(4):
    ...     rates.append(round(schedule.get_last_lr()[0], 4))
    ...     optimiser.step()
    ...     schedule.step()
    >>> rates
    [0.04, 0.9505, 0.6113, 0.1883]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        max_lr: Any,
        total_steps: int | None = None,
        epochs: int | None = None,
        steps_per_epoch: int | None = None,
        pct_start: float = 0.3,
        anneal_strategy: str = "cos",
        cycle_momentum: bool = True,
        base_momentum: Any = 0.85,
        max_momentum: Any = 0.95,
        div_factor: float = 25.0,
        final_div_factor: float = 1e4,
        three_phase: bool = False,
        last_epoch: int = -1,
    ) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        first = float(pct_start * self.total_steps)
        # The ends of the phases, what the rate goes to, and whether the momentum is high there.
        if three_phase:
            self._phases = [(first - 1, "max_lr", False), (2 * first - 2, "initial_lr", True)]
        else:
            self._phases = [(first - 1, "max_lr", False)]
        self._phases.append((self.total_steps - 1, "min_lr", True))
        if pct_start < 0 or pct_start > 1 or not isinstance(pct_start, float):
            raise ValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        self._anneal_func_type = anneal_strategy
        rates = _each("max_lr", optimizer, max_lr)
        if last_epoch == -1:
            for rate, group in zip(rates, optimizer.param_groups, strict=True):
                group["initial_lr"] = rate / div_factor
                group["max_lr"] = rate
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self._begin_momenta(optimizer, base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    @staticmethod
    def _annealing_cos(start: Any, end: Any, pct: float) -> Any:
        return end + (start - end) / 2.0 * (math.cos(math.pi * pct) + 1)

    @staticmethod
    def _annealing_linear(start: Any, end: Any, pct: float) -> Any:
        return (end - start) * pct + start

    @property
    def _between(self) -> Callable[[Any, Any, float], Any]:
        """The way from one value to another, which states of former times have as a function."""
        kept = vars(self)
        if "_anneal_func_type" not in kept:
            return kept["anneal_func"]  # type: ignore[no-any-return]
        return self._annealing_linear if self._anneal_func_type == "linear" else self._annealing_cos

    def get_lr(self) -> list[Any]:
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(
                f"Tried to step {step} times. The specified number of total steps is {self.total_steps}"
            )
        start, origin, high = 0.0, "initial_lr", True
        for end, target, then_high in self._phases:
            if step <= end or target == "min_lr":
                break
            start, origin, high = end, target, then_high
        share = (step - start) / (end - start)
        if self.cycle_momentum:
            names = {True: "max_momentum", False: "base_momentum"}
            for group in self.optimizer.param_groups:
                momentum = self._between(group[names[high]], group[names[then_high]], share)
                self._set_momentum(group, momentum)
        return [self._between(group[origin], group[target], share) for group in self.optimizer.param_groups]


def _total(total_steps: int | None, epochs: int | None, steps_per_epoch: int | None) -> int:
    """Return the number of steps, however it was given."""
    if total_steps is not None:
        if total_steps <= 0 or not isinstance(total_steps, int):
            raise ValueError(f"Expected positive integer total_steps, but got {total_steps}")
        return total_steps
    if epochs is None or steps_per_epoch is None:
        raise ValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    for name, count in (("epochs", epochs), ("steps_per_epoch", steps_per_epoch)):
        if not isinstance(count, int) or count <= 0:
            raise ValueError(f"Expected positive integer {name}, but got {count}")
    return epochs * steps_per_epoch

"""`GradScaler`: losses multiplied before backward, so that gradients in a half type do not vanish."""

from __future__ import annotations

import inspect
import warnings
from collections import defaultdict
from collections.abc import Iterable
from enum import Enum
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad
from ._scaling import _amp_foreach_non_finite_check_and_unscale_, _amp_update_scale_

if TYPE_CHECKING:
    from ..optim import Optimizer

__all__ = ["GradScaler", "OptState"]

_NO_SCALE = (
    "  This may indicate your script did not use scaler.scale(loss or outputs) earlier in the iteration."
)
_NEW_SCALE = (
    "new_scale should be a float or a 1-element torch.cuda.FloatTensor or torch.FloatTensor with "
    "requires_grad=False."
)
_PASSES_ITSELF = (
    "GradScaler is going to stop passing itself as a keyword argument to the passed "
    "optimizer. In the near future GradScaler registers `grad_scale: Tensor` and "
    "`found_inf: Tensor` to the passed optimizer and let the optimizer use them directly."
)


class OptState(Enum):
    """How far an optimiser has come since the last `update`."""

    READY = 0
    UNSCALED = 1
    STEPPED = 2


def _refresh_per_optimizer_state() -> dict[str, Any]:
    return {"stage": OptState.READY, "found_inf_per_device": {}}


def _states() -> defaultdict[int, dict[str, Any]]:
    return defaultdict(_refresh_per_optimizer_state)


class GradScaler:
    """Multiplies losses by a scale, and divides gradients by it before the optimiser steps.

    A step whose gradients are not finite is left out, and the scale shrinks by `backoff_factor`; after
    `growth_interval` steps in a row that were done it grows by `growth_factor`.

    >>> import rushlight as torch
    >>> weight = torch.tensor([1.0], requires_grad=True)
    >>> optimizer, scaler = torch.optim.SGD([weight], lr=0.5), torch.amp.GradScaler("cpu", init_scale=8.0)
    >>> scaler.scale(weight.sum()).backward()
    >>> weight.grad
    tensor([8.])
    >>> scaler.step(optimizer)
    >>> scaler.update()
    >>> weight, weight.grad
    (tensor([0.5000], requires_grad=True), tensor([1.]))
    """

    def __init__(
        self,
        device: str = "cuda",
        init_scale: float = 2.0**16,
        growth_factor: float = 2.0,
        backoff_factor: float = 0.5,
        growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:
        self._device = device
        self._enabled = enabled
        if enabled and device == "cuda":
            warnings.warn(
                "torch.cuda.amp.GradScaler is enabled, but CUDA is not available.  Disabling.", stacklevel=2
            )
            self._enabled = False
        if not self._enabled:
            return
        if growth_factor <= 1.0:
            raise AssertionError("The growth factor must be > 1.0.")
        if backoff_factor >= 1.0:
            raise AssertionError("The backoff factor must be < 1.0.")
        self._init_scale = init_scale
        self._growth_factor = growth_factor
        self._backoff_factor = backoff_factor
        self._growth_interval = growth_interval
        self._init_growth_tracker = 0
        # Both are made by the first `scale`.
        self._scale: Tensor | None = None
        self._growth_tracker: Tensor | None = None
        self._per_optimizer_states = _states()

    def _check_scale_growth_tracker(self, funcname: str) -> tuple[Tensor, Tensor]:
        if self._scale is None:
            raise AssertionError(f"Attempted {funcname} but _scale is None.{_NO_SCALE}")
        if self._growth_tracker is None:
            raise AssertionError(f"Attempted {funcname} but _growth_tracker is None.{_NO_SCALE}")
        return self._scale, self._growth_tracker

    def scale(self, outputs: Any) -> Any:
        """Multiply a tensor, or each of several, by the scale."""
        if not self._enabled:
            return outputs
        if isinstance(outputs, Tensor):
            if self._scale is None:
                self._scale = native.full((), self._init_scale, dtype=native.float32)
                self._growth_tracker = native.full((), self._init_growth_tracker, dtype=native.int32)
            return outputs * self._scale
        if not isinstance(outputs, Iterable):
            raise ValueError("outputs must be a Tensor or an iterable of Tensors")
        scaled: Any = map(self.scale, outputs)
        return type(outputs)(scaled) if isinstance(outputs, (list, tuple)) else scaled

    def _unscale_grads_(
        self, optimizer: Optimizer, inv_scale: Tensor, found_inf: Tensor, allow_fp16: bool
    ) -> dict[Any, Tensor]:
        gradients = []
        with no_grad():
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    if not isinstance(parameter, Tensor):
                        found = type(parameter).__name__
                        raise AssertionError(f"expected param to be torch.Tensor, got {found}")
                    if parameter.grad is None:
                        continue
                    if not allow_fp16 and parameter.grad.dtype is native.float16:
                        raise ValueError("Attempting to unscale FP16 gradients.")
                    gradients.append(parameter.grad)
        if not gradients:
            return {}
        _amp_foreach_non_finite_check_and_unscale_(gradients, found_inf, inv_scale)
        return {found_inf.device: found_inf}

    def unscale_(self, optimizer: Optimizer) -> None:
        """Divide the gradients of an optimiser by the scale, before `step` would: to clip them, say."""
        if not self._enabled:
            return
        scale, _ = self._check_scale_growth_tracker("unscale_")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.UNSCALED:
            raise RuntimeError(
                "unscale_() has already been called on this optimizer since the last update()."
            )
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("unscale_() is being called after step().")
        inverse, found = scale.double().reciprocal().float(), native.full((), 0.0, dtype=native.float32)
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, inverse, found, False)
        state["stage"] = OptState.UNSCALED

    def _maybe_opt_step(
        self, optimizer: Optimizer, optimizer_state: dict[str, Any], *args: Any, **kwargs: Any
    ) -> Any:
        if any(found.item() for found in optimizer_state["found_inf_per_device"].values()):
            return None
        return optimizer.step(*args, **kwargs)

    def step(self, optimizer: Optimizer, *args: Any, **kwargs: Any) -> Any:
        """Step, with gradients divided by the scale; if some are not finite, do not."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        if "closure" in kwargs:
            raise RuntimeError("Closure use is not currently supported if GradScaler is enabled.")
        self._check_scale_growth_tracker("step")
        state = self._per_optimizer_states[id(optimizer)]
        if state["stage"] is OptState.STEPPED:
            raise RuntimeError("step() has already been called since the last update().")
        if getattr(optimizer, "_step_supports_amp_scaling", False):
            returned = self._step_by_itself(optimizer, state, *args, **kwargs)
        else:
            if state["stage"] is OptState.READY:
                self.unscale_(optimizer)
            if not state["found_inf_per_device"]:
                raise AssertionError("No inf checks were recorded for this optimizer.")
            returned = self._maybe_opt_step(optimizer, state, *args, **kwargs)
        state["stage"] = OptState.STEPPED
        return returned

    def _step_by_itself(self, optimizer: Any, state: dict[str, Any], *args: Any, **kwargs: Any) -> Any:
        """Have an optimiser step that divides by the scale itself, and looks for what is not finite."""
        if "grad_scaler" in inspect.signature(optimizer.step).parameters:
            warnings.warn(_PASSES_ITSELF, FutureWarning, stacklevel=3)
            return optimizer.step(*args, **{**kwargs, "grad_scaler": self})
        if state["stage"] is OptState.READY:
            self._check_inf_per_device(optimizer)
        before = getattr(optimizer, "grad_scale", None)
        if state["stage"] is not OptState.UNSCALED:
            before = self._get_scale_async() * (1 if before is None else before)
        optimizer.grad_scale = before
        optimizer.found_inf = sum(state["found_inf_per_device"].values())
        returned = optimizer.step(*args, **kwargs)
        del optimizer.grad_scale, optimizer.found_inf
        return returned

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Let the scale shrink or grow after all optimisers have stepped, or set it."""
        if not self._enabled:
            return
        scale, tracker = self._check_scale_growth_tracker("update")
        if isinstance(new_scale, float):
            scale.fill_(new_scale)
        elif new_scale is not None:
            if new_scale.device.type != self._device or new_scale.numel() != 1 or new_scale.requires_grad:
                raise AssertionError(_NEW_SCALE)
            scale.copy_(new_scale)
        else:
            states = self._per_optimizer_states.values()
            found = [one for state in states for one in state["found_inf_per_device"].values()]
            if not found:
                raise AssertionError("No inf checks were recorded prior to update.")
            together: Any = sum(found)
            _amp_update_scale_(
                scale, tracker, together, self._growth_factor, self._backoff_factor, self._growth_interval
            )
        self._per_optimizer_states.clear()

    def _get_scale_async(self) -> Any:
        return self._scale

    def get_scale(self) -> float:
        """Return the scale; one if nothing is scaled."""
        if not self._enabled:
            return 1.0
        return self._init_scale if self._scale is None else float(self._scale.item())

    def get_growth_factor(self) -> float:
        """Return what the scale is multiplied by when it grows."""
        return self._growth_factor

    def set_growth_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it grows."""
        self._growth_factor = new_factor

    def get_backoff_factor(self) -> float:
        """Return what the scale is multiplied by when it shrinks."""
        return self._backoff_factor

    def set_backoff_factor(self, new_factor: float) -> None:
        """Set what the scale is multiplied by when it shrinks."""
        self._backoff_factor = new_factor

    def get_growth_interval(self) -> int:
        """Return how many steps in a row let the scale grow."""
        return self._growth_interval

    def set_growth_interval(self, new_interval: int) -> None:
        """Set how many steps in a row let the scale grow."""
        self._growth_interval = new_interval

    def _get_growth_tracker(self) -> int:
        if not self._enabled:
            return 0
        return self._init_growth_tracker if self._growth_tracker is None else int(self._growth_tracker.item())

    def is_enabled(self) -> bool:
        """Tell whether anything is scaled."""
        return self._enabled

    def state_dict(self) -> dict[str, Any]:
        """Return the scale and how it changes; nothing if nothing is scaled.

        >>> import rushlight as torch
        >>> torch.amp.GradScaler("cpu", init_scale=4.0).state_dict()["scale"]
        4.0
        """
        if not self._enabled:
            return {}
        return {
            "scale": self.get_scale(),
            "growth_factor": self._growth_factor,
            "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval,
            "_growth_tracker": self._get_growth_tracker(),
        }

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError(
                "The source state dict is empty, possibly because it was saved "
                "from a disabled instance of GradScaler."
            )
        self._init_scale = state_dict["scale"]
        self._growth_factor = state_dict["growth_factor"]
        self._backoff_factor = state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
        self._init_growth_tracker = state_dict["_growth_tracker"]
        if self._scale is not None:
            self._scale.fill_(self._init_scale)
        if self._growth_tracker is not None:
            self._growth_tracker.fill_(self._init_growth_tracker)

    def __getstate__(self) -> dict[str, Any]:
        state = self.__dict__.copy()
        if self._enabled:
            if self._per_optimizer_states:
                raise AssertionError(
                    "A GradScaler instance may only be pickled at the beginning "
                    "of an iteration, or at the end after scaler.update()."
                )
            state["_init_scale"] = self.get_scale()
            state["_init_growth_tracker"] = self._get_growth_tracker()
            state["_scale"] = state["_growth_tracker"] = None
        return state

    def _check_inf_per_device(self, optimizer: Optimizer) -> dict[Any, Tensor]:
        self._check_scale_growth_tracker("_check_inf_per_device")
        one, found = (native.full((), value, dtype=native.float32) for value in (1.0, 0.0))
        state = self._per_optimizer_states[id(optimizer)]
        state["found_inf_per_device"] = self._unscale_grads_(optimizer, one, found, True)
        return self._found_inf_per_device(optimizer)

    def _found_inf_per_device(self, optimizer: Optimizer) -> dict[Any, Tensor]:
        found: dict[Any, Tensor] = self._per_optimizer_states[id(optimizer)]["found_inf_per_device"]
        return found

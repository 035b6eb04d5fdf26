"""The base of optimisers that change one parameter after the other."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from .._rushlight import Tensor, _descend, view_as_real
from ..autograd.grad_mode import enable_grad, no_grad
from .optimizer import Optimizer


def number(option: Any) -> Any:
    """Return an option as a number; a tensor that requires grad stays one, to be differentiated through."""
    return option.item() if isinstance(option, Tensor) and not option.requires_grad else option


def parts(x: Tensor) -> Tensor:
    """Return the numbers of a tensor as real ones: a complex one is two."""
    return view_as_real(x) if x.is_complex() else x


def decayed(parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> Tensor:
    """Apply the weight decay: to the parameter itself, or by way of the gradient, which is returned."""
    decay = number(group["weight_decay"])
    if group.get("decoupled_weight_decay"):
        if decay != 0:
            parameter.mul_(1 - number(group["lr"]) * decay)
        return gradient
    if isinstance(decay, Tensor):
        return gradient + parameter.clone() * decay
    return gradient.add(parameter, alpha=decay) if decay != 0 else gradient


def decoupled(group: dict[str, Any]) -> Any:
    """Return the weight decay that a step applies to the parameter itself."""
    return number(group["weight_decay"]) if group["decoupled_weight_decay"] else 0.0


class Parameterwise(Optimizer):
    """An optimiser that changes each parameter by itself: a subclass says how in `_update`."""

    # Which optimiser to take of sparse gradients, or None if this one takes them.
    _instead_of_sparse: str | None = ""

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        super().__init__(params, defaults)
        if defaults.get("fused"):
            if defaults["differentiable"]:
                raise RuntimeError("`fused` does not support `differentiable`")
            if defaults["foreach"]:
                raise RuntimeError("`fused` and `foreach` cannot be `True` together.")

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Take one step; return what `closure` returns, if there is one."""
        loss = None
        with enable_grad() if self.defaults.get("differentiable") else no_grad():
            if closure is not None:
                with enable_grad():
                    loss = closure()
            for group in self.param_groups:
                self._step(group)
        return loss

    def _step(self, group: dict[str, Any]) -> None:
        """Change the parameters of a group: those that the engine has a step for by that."""
        parameters, done = group["params"], 0
        descent = None if group.get("differentiable") else self._descent(group)
        toward = 0.0 if group.get("decoupled_weight_decay") else number(group.get("weight_decay", 0))
        way = (bool(group.get("maximize")), toward)
        while True:
            if descent is not None:
                done = _descend(*descent, way, parameters, done, self.state)
            if done >= len(parameters):
                return
            parameter = parameters[done]
            gradient = parameter.grad
            if gradient is not None:
                if gradient.is_sparse and self._instead_of_sparse is not None:
                    raise RuntimeError(self._refusal())
                self._update(parameter, -gradient if group.get("maximize") else gradient, group)
            done += 1

    def _descent(self, group: dict[str, Any]) -> tuple[str, tuple[Any, ...]] | None:
        """Return the name and the numbers of the engine's own step for this group, if there is one."""
        return None

    def _refusal(self) -> str:
        """Return what is said of sparse gradients."""
        name = type(self).__name__
        name = "Adam" if name == "AdamW" else name
        advice = f", please consider {self._instead_of_sparse} instead" if self._instead_of_sparse else ""
        return f"{name} does not support sparse gradients{advice}"

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        """Change `parameter` along its gradient, which was turned round where the aim is a maximum."""
        raise NotImplementedError


def stepped(
    kind: type[Parameterwise],
    params: list[Tensor],
    grads: list[Tensor],
    states: dict[str, list[Any]],
    group: dict[str, Any],
) -> None:
    """Take a step of an optimiser of this kind, with its gradients and states in lists."""
    steps = states.get("step", [])
    if not all(isinstance(step, Tensor) for step in steps):
        raise RuntimeError("API has changed, `state_steps` argument must contain a list of singleton tensors")
    optimizer = object.__new__(kind)
    for index, (parameter, gradient) in enumerate(zip(params, grads, strict=False)):
        state = {name: listed[index] for name, listed in states.items() if listed}
        state = {name: value for name, value in state.items() if value is not None}
        optimizer.state = defaultdict(dict, {parameter: state})
        optimizer._update(parameter, -gradient if group["maximize"] else gradient, group)
        for name, listed in states.items():
            if listed:
                listed[index] = state.get(name)

"""Modules as functions of their parameters and buffers, as there were before `functional_call`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, stack
from ..func.modules import _mismatch
from ..nn import Module
from ..nn.utils.stateless import _functional_call

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    Tensors = tuple[Tensor, ...]

_HAS_BUFFERS = (
    "make_functional(model): `model` has buffers. Please use make_functional_with_buffers(model) instead."
)


class FunctionalModuleWithBuffers(Module):
    """A module that is called with its parameters and buffers, and then with arguments."""

    def __init__(
        self, stateless_model: Module, param_names: tuple[str, ...], buffer_names: tuple[str, ...]
    ) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names
        self.buffer_names = buffer_names

    def forward(self, params: Iterable[Tensor], buffers: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with this state."""
        state = dict(zip(self.param_names, params, strict=True))
        state.update(zip(self.buffer_names, buffers, strict=True))
        return _functional_call(self.stateless_model, state, args, kwargs)


class FunctionalModule(Module):
    """A module without buffers that is called with its parameters, and then with arguments."""

    def __init__(self, stateless_model: Module, param_names: tuple[str, ...]) -> None:
        super().__init__()
        self.stateless_model = stateless_model
        self.param_names = param_names

    def forward(self, params: Iterable[Tensor], *args: Any, **kwargs: Any) -> Any:
        """Call the module with these parameters."""
        state = dict(zip(self.param_names, params, strict=True))
        return _functional_call(self.stateless_model, state, args, kwargs)


def _apart(model: Module, disable_autograd_tracking: bool) -> tuple[Module, dict[str, Any], dict[str, Any]]:
    """Return a copy of a module to be called with other state, and the state of another copy."""
    own = copy.deepcopy(model)
    params, buffers = dict(own.named_parameters()), dict(own.named_buffers())
    for param in params.values():
        param.requires_grad_(param.requires_grad and not disable_autograd_tracking)
    return copy.deepcopy(model), params, buffers


def make_functional(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModule, Tensors]:
    """Return a module as a function of its parameters, and these.

    >>> import rushlight as torch
    >>> from rushlight._functorch.make_functional import make_functional
    >>> function, params = make_functional(torch.nn.Linear(2, 3))
    >>> function(params, torch.ones(1, 2)).shape, [param.shape for param in params]
    (torch.Size([1, 3]), [torch.Size([3, 2]), torch.Size([3])])
    """
    if list(model.buffers()):
        raise RuntimeError(_HAS_BUFFERS)
    called, params, _ = _apart(model, disable_autograd_tracking)
    return FunctionalModule(called, tuple(params)), tuple(params.values())


def make_functional_with_buffers(
    model: Module, disable_autograd_tracking: bool = False
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """Return a module as a function of its parameters and buffers, and these."""
    called, params, buffers = _apart(model, disable_autograd_tracking)
    function = FunctionalModuleWithBuffers(called, tuple(params), tuple(buffers))
    return function, tuple(params.values()), tuple(buffers.values())


def combine_state_for_ensemble(
    models: Sequence[Module],
) -> tuple[FunctionalModuleWithBuffers, Tensors, Tensors]:
    """Return modules of one class as a function of parameters and buffers, and theirs, each stacked."""
    if problem := _mismatch(models):
        raise RuntimeError(f"combine_state_for_ensemble: Expected {problem}")
    functions, params, buffers = zip(*(make_functional_with_buffers(model) for model in models), strict=True)
    return functions[0], transpose_stack(params), transpose_stack(buffers)


def transpose_stack(tuple_of_tuple_of_tensors: tuple[Tensors, ...]) -> Tensors:
    """Return the first tensors of several rows as one tensor, the second ones, and so on."""
    return tuple(stack(each).detach() for each in zip(*tuple_of_tuple_of_tensors, strict=True))

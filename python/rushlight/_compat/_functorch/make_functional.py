"""Modules as functions of their parameters and buffers, as there were before `functional_call`."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, stack
from ...func.modules import _mismatch
from ...nn import Module
from ...nn.utils.stateless import _functional_call

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

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


def _deprecated_form(
    model: Module,
) -> tuple[Tensors, Tensors, Callable[..., Any], tuple[str, ...], tuple[str, ...]]:
    """Return the state of a module, a function of it and of a tuple of arguments, and its names."""
    called, params, buffers = _apart(model, disable_autograd_tracking=False)
    names = (*params, *buffers)

    def function(*state_and_data: Any) -> Any:
        *state, data = state_and_data
        tensors = [tensor for part in state for tensor in part]
        return _functional_call(called, dict(zip(names, tensors, strict=True)), data)

    return tuple(params.values()), tuple(buffers.values()), function, tuple(params), tuple(buffers)


def make_functional_deprecated_v1(model: Module) -> tuple[Tensors, Callable[..., Any], tuple[str, ...]]:
    """Return the parameters of a module, a function of them and of a tuple of arguments, and their names."""
    if list(model.buffers()):
        raise RuntimeError(
            "make_functional_deprecated_v1(model): `model` has buffers. Please use "
            "make_functional_with_buffers_deprecated_v1(model) instead."
        )
    params, _, function, names, _ = _deprecated_form(model)
    return params, function, names


def make_functional_with_buffers_deprecated_v1(
    model: Module,
) -> tuple[Tensors, Tensors, Callable[..., Any], tuple[str, ...], tuple[str, ...]]:
    """Return the parameters and buffers of a module, it as a function of both and of a tuple of arguments,
    and their names.
    """
    return _deprecated_form(model)


def _models(model_class: type[Module], shape: Sequence[int], args: Any, kwargs: Any) -> list[Module]:
    """Return as many modules as an ensemble of this shape has."""
    if len(shape) > 1:
        raise ValueError("NYI: ensemble_shape with more than 1 element")
    if shape[0] <= 0:
        raise ValueError(f"num_models {shape[0]} should be > 0")
    return [model_class(*args, **kwargs) for _ in range(shape[0])]


def functional_init(
    model_class: type[Module], ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., tuple[Tensors, Callable[..., Any], tuple[str, ...]]]:
    """Return what makes modules of a class, as a function of their parameters, which are stacked.

    >>> import rushlight as torch
    >>> from rushlight._functorch.make_functional import functional_init
    >>> weights, function, names = functional_init(torch.nn.Linear, (3,))(2, 1)
    >>> names, weights[0].shape
    (('weight', 'bias'), torch.Size([3, 1, 2]))
    >>> torch.vmap(function, (0, None))(weights, (torch.ones(1, 2),)).shape
    torch.Size([3, 1, 1])
    """

    def make(*args: Any, **kwargs: Any) -> tuple[Tensors, Callable[..., Any], tuple[str, ...]]:
        if not ensemble_shape:
            return make_functional_deprecated_v1(model_class(*args, **kwargs).to(device))
        models = _models(model_class, ensemble_shape, args, kwargs)
        all_params, functions, names = zip(
            *(make_functional_deprecated_v1(model.to(device)) for model in models), strict=True
        )
        return transpose_stack(all_params), functions[0], names[0]

    return make


def functional_init_with_buffers(
    model_class: type[Module], ensemble_shape: tuple[int, ...] = (), device: Any = "cpu"
) -> Callable[..., Any]:
    """Return what makes modules of a class, and gives them as a function of their state, which is stacked."""

    def make(*args: Any, **kwargs: Any) -> Any:
        if not ensemble_shape:
            return make_functional_deprecated_v1(model_class(*args, **kwargs).to(device))
        models = _models(model_class, ensemble_shape, args, kwargs)
        all_params, all_buffers, functions, names, buffer_names = zip(
            *(make_functional_with_buffers_deprecated_v1(model.to(device)) for model in models), strict=True
        )
        stacked = transpose_stack(all_params), transpose_stack(all_buffers)
        return *stacked, functions[0], names[0], buffer_names[0]

    return make


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

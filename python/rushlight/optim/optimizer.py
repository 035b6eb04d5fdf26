"""`Optimizer`: parameter groups and their options, state, hooks; what all optimisers share."""

from __future__ import annotations

import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Iterable
from copy import deepcopy
from functools import wraps
from types import MappingProxyType
from typing import Any

from .._hooks import RemovableHandle, register
from .._lazy import on_first_use
from .._rushlight import Tensor, _drop_gradients, _Passage, _profiler_enabled
from .._tensors.typename import typename

__all__ = ["Optimizer", "register_optimizer_step_post_hook", "register_optimizer_step_pre_hook"]

__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "._shared_names": "ParamsT _default_to_fused_or_foreach _dispatch_sqrt "
        "_get_capturable_supported_devices _get_value _params_t _stack_if_compiling "
        "_use_grad_for_differentiable _view_as_real params_t",
        "..utils._foreach_utils": "_get_foreach_kernels_supported_devices "
        "_get_fused_kernels_supported_devices",
    },
)

# Those of every optimiser.
_global_optimizer_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_optimizer_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` before every `step` of any optimiser."""
    return register(_global_optimizer_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., None]) -> RemovableHandle:
    """Call `hook(optimizer, args, kwargs)` after every `step` of any optimiser."""
    return register(_global_optimizer_post_hooks, hook)


_NAMES = "all optimizer param groups should be with/without names. cannot add param group"


_HOOKS = (
    "_optimizer_step_pre_hooks",
    "_optimizer_step_post_hooks",
    "_optimizer_state_dict_pre_hooks",
    "_optimizer_state_dict_post_hooks",
    "_optimizer_load_state_dict_pre_hooks",
    "_optimizer_load_state_dict_post_hooks",
)


class _RequiredParameter:
    """A default that is none: every group has to say what it wants."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()


class Optimizer:
    """Base class; a subclass gives its `defaults` and writes `step`.

    `params` are tensors, pairs of name and tensor, or dictionaries with options for the tensors
    in them.
    """

    defaults: dict[str, Any]
    state: defaultdict[Any, Any]
    param_groups: list[dict[str, Any]]

    # Optimisers around others need not call `__init__`; they have no hooks.
    _optimizer_step_pre_hooks: Any = MappingProxyType({})
    _optimizer_step_post_hooks = _optimizer_step_pre_hooks
    _optimizer_state_dict_pre_hooks = _optimizer_step_pre_hooks
    _optimizer_state_dict_post_hooks = _optimizer_step_pre_hooks
    _optimizer_load_state_dict_pre_hooks = _optimizer_step_pre_hooks
    _optimizer_load_state_dict_post_hooks = _optimizer_step_pre_hooks

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __init__(self, params: Iterable[Any], defaults: dict[str, Any]) -> None:
        if isinstance(params, Tensor):
            raise TypeError(
                "params argument given to the optimizer should be an iterable of Tensors or dicts, but got "
                + typename(params)
            )
        self.defaults = defaults
        self.state = defaultdict(dict)
        self.param_groups = []
        self._make_hooks()
        groups = list(params)
        if not groups:
            raise ValueError("optimizer got an empty parameter list")
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _make_hooks(self) -> None:
        for kind in _HOOKS:
            self.__dict__.setdefault(kind, OrderedDict())

    def _patch_step_function(self) -> None:
        """Have hooks, which optimisers around others ask for; `step` is called between them by its class."""
        self._make_hooks()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients, which `closure` may compute anew."""
        raise NotImplementedError

    @staticmethod
    def _group_tensors_by_device_and_dtype(tensorlistlist: Any, with_indices: bool = False) -> Any:
        """Return lists that belong together in groups of one device and type."""
        from ..utils._foreach_utils import _group_tensors_by_device_and_dtype

        return _group_tensors_by_device_and_dtype(tensorlistlist, with_indices)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of the parameters; with `set_to_none=False` fill them with zeros."""
        if _profiler_enabled():
            _labelled("zero_grad", self, Optimizer._zero_grad, set_to_none)
        else:
            self._zero_grad(set_to_none)

    def _zero_grad(self, set_to_none: bool) -> None:
        for group in self.param_groups:
            done = _drop_gradients(group["params"], 0) if set_to_none else 0
            for parameter in group["params"][done:]:
                if set_to_none:
                    parameter.grad = None
                elif parameter.grad is not None:
                    if parameter.grad.grad_fn is not None:
                        parameter.grad.detach_()
                    else:
                        parameter.grad.requires_grad_(False)
                    parameter.grad.zero_()

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Optimize more parameters, with options of their own."""
        if not isinstance(param_group, dict):
            raise TypeError(f"param_group must be a dict, but got {type(param_group)}")
        _normalise(param_group)
        for parameter in param_group["params"]:
            if not isinstance(parameter, Tensor):
                raise TypeError(
                    f"optimizer can only optimize Tensors, but one of the params is {typename(parameter)}"
                )
            if not (self.defaults.get("differentiable") or parameter.is_leaf or parameter.retains_grad):
                raise ValueError("can't optimize a non-leaf Tensor")
        for option, default in self.defaults.items():
            if default is required and option not in param_group:
                raise ValueError(
                    f"parameter group didn't specify a value of required optimization parameter {option}"
                )
            param_group.setdefault(option, default)
        added = {id(parameter) for parameter in param_group["params"]}
        if len(added) != len(param_group["params"]):
            warnings.warn(
                "optimizer contains a parameter group with duplicate parameters; in future, this "
                "will cause an error; see github.com/pytorch/pytorch/issues/40967 for more information",
                stacklevel=3,
            )
        for group in self.param_groups:
            if ("param_names" in param_group) != ("param_names" in group):
                kind = "with" if "param_names" in param_group else "without"
                raise ValueError(f"{_NAMES} {kind} names to the optimizer")
        if any(id(parameter) in added for group in self.param_groups for parameter in group["params"]):
            raise ValueError("some parameters appear in more than one parameter group")
        self.param_groups.append(param_group)

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` before `step`; it may return others of the two."""
        return register(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> RemovableHandle:
        """Call `hook(optimizer, args, kwargs)` after `step`."""
        return register(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(
        self, hook: Callable[[Optimizer], None], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` before `state_dict` looks."""
        return register(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(
        self, hook: Callable[[Optimizer, dict[str, Any]], dict[str, Any] | None], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` with what `state_dict` found; it may return another.

        >>> import rushlight as torch
        >>> optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
        >>> handle = optimizer.register_state_dict_post_hook(lambda _, found: {**found, "epoch": 3})
        >>> optimizer.state_dict()["epoch"]
        3
        """
        return register(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(
        self, hook: Callable[[Optimizer, dict[str, Any]], dict[str, Any] | None], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer, state_dict)` with a copy of what is to be loaded; it may return another."""
        return register(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(
        self, hook: Callable[[Optimizer], None], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(optimizer)` when a state has been loaded."""
        return register(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    def state_dict(self) -> dict[str, Any]:
        """Return options and state, with numbers in the parameters' place."""
        for hook in tuple(self._optimizer_state_dict_pre_hooks.values()):
            hook(self)
        found = self._packed()
        for hook in tuple(self._optimizer_state_dict_post_hooks.values()):
            changed = hook(self, found)
            found = found if changed is None else changed
        return found

    def _packed(self) -> dict[str, Any]:
        numbers: dict[int, int] = {}
        groups = []
        start = 0
        for group in self.param_groups:
            for position, parameter in enumerate(group["params"], start):
                numbers.setdefault(id(parameter), position)
            start += len(group["params"])
            packed = {option: value for option, value in group.items() if option != "params"}
            packed["params"] = [numbers[id(parameter)] for parameter in group["params"]]
            groups.append(packed)
        state = {
            numbers[id(key)] if isinstance(key, Tensor) else key: value for key, value in self.state.items()
        }
        return {"state": state, "param_groups": groups}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned; tensors are cast to the dtype of their parameters."""
        state_dict = state_dict.copy()
        for hook in tuple(self._optimizer_load_state_dict_pre_hooks.values()):
            changed = hook(self, state_dict)
            state_dict = state_dict if changed is None else changed
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError("loaded state dict has a different number of parameter groups")
        parameters: dict[int, Tensor] = {}
        for group, found in zip(self.param_groups, saved, strict=True):
            if len(group["params"]) != len(found["params"]):
                raise ValueError(
                    "loaded state dict contains a parameter group that doesn't match the size of "
                    "optimizer's group"
                )
            parameters.update(zip(found["params"], group["params"], strict=True))
            found["params"] = group["params"]
            if "param_names" in group:
                found.setdefault("param_names", group["param_names"])
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in parameters:
                state[parameters[key]] = _cast(parameters[key], value)
            else:
                state[key] = value
        self.__setstate__({"state": state, "param_groups": saved})
        for hook in tuple(self._optimizer_load_state_dict_post_hooks.values()):
            hook(self)

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._make_hooks()
        self.defaults.setdefault("differentiable", False)

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for number, group in enumerate(self.param_groups):
            lines += [""] * (number > 0) + [f"Parameter Group {number}"]
            lines += [f"    {option}: {group[option]}" for option in sorted(group) if option != "params"]
        return "\n".join([*lines, ")"])


def _normalise(group: dict[str, Any]) -> None:
    """Make the `params` of a group a list, and move names out of it."""
    params = group["params"]
    if isinstance(params, Tensor):
        params = [params]
    elif isinstance(params, set):
        raise TypeError(
            "optimizer parameters need to be organized in ordered collections, but the ordering of "
            "tensors in sets will change between runs. Please use a list instead."
        )
    params = list(params)
    names = [item[0] for item in params if isinstance(item, tuple)]
    if names:
        if len(names) != len(params):
            raise ValueError(
                "all optimizer params should be with/without names. Some param names are missing"
            )
        group["param_names"] = names
    group["params"] = [item[1] if isinstance(item, tuple) else item for item in params]


def _cast(parameter: Tensor, value: Any, key: Any = None) -> Any:
    """Copy loaded state, giving tensors the dtype of their parameter; a count of steps keeps its own."""
    if isinstance(value, Tensor):
        return (
            value
            if key == "step"
            else value.to(parameter.dtype if parameter.is_floating_point() else value.dtype)
        )
    if isinstance(value, dict):
        return {name: _cast(parameter, item, name) for name, item in value.items()}
    if isinstance(value, (list, tuple, set)):
        return type(value)(_cast(parameter, item) for item in value)
    return value


def _labelled(action: str, optimizer: Optimizer, run: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Run something that an optimiser does, and have profiles say so."""
    passage = _Passage(f"Optimizer.{action}#{type(optimizer).__name__}.{action}")
    try:
        return run(optimizer, *args, **kwargs)
    finally:
        passage.end()


def _is_hooked(optimizer: Optimizer) -> bool:
    """Tell whether anybody is to be called before or after a step."""
    return bool(
        _global_optimizer_pre_hooks
        or optimizer._optimizer_step_pre_hooks
        or optimizer._optimizer_step_post_hooks
        or _global_optimizer_post_hooks
    )


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(step)
    def hooked(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        if _profiler_enabled():
            return _labelled("step", self, run, *args, **kwargs)
        return run(self, *args, **kwargs) if _is_hooked(self) else step(self, *args, **kwargs)

    def run(self: Optimizer, *args: Any, **kwargs: Any) -> Any:
        everything: Any = (self, *args)
        for hook in (*_global_optimizer_pre_hooks.values(), *self._optimizer_step_pre_hooks.values()):
            changed = hook(self, everything, kwargs)
            if changed is not None:
                if not isinstance(changed, tuple) or len(changed) != 2:
                    raise RuntimeError(
                        f"{step} must return None or a tuple of (new_args, new_kwargs), but got {changed}."
                    )
                everything, kwargs = changed
        result = step(*everything, **kwargs)
        for hook in (*self._optimizer_step_post_hooks.values(), *_global_optimizer_post_hooks.values()):
            hook(self, everything, kwargs)
        return result

    return hooked

"""Hooks, by kind: those of one module, and those that every module has."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from ..._hooks import RemovableHandle, register

_KINDS = (
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_backward_pre_hooks",
    "_backward_hooks",
    "_state_dict_pre_hooks",
    "_state_dict_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


def no_hooks() -> dict[str, Any]:
    """Return the attributes of a module that has no hooks."""
    tables: dict[str, Any] = {kind: OrderedDict() for kind in _KINDS}
    # Whether the backward hooks are full ones; nothing until there is one.
    tables["_is_full_backward_hook"] = None
    return tables


class Hooks:
    """The hooks of a module, in a dictionary a kind: by the numbers of their handles."""

    _forward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks: OrderedDict[int, Callable[..., Any]]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _backward_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _backward_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _state_dict_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]]
    _load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]]
    _is_full_backward_hook: bool | None

    def _add_hook(
        self, kind: str, hook: Callable[..., Any], *, prepend: bool = False, **flags: bool
    ) -> RemovableHandle:
        """Add a hook behind the others, or before them; note for which flags, tables of their own, it is."""
        hooks: OrderedDict[int, Callable[..., Any]] = getattr(self, kind)
        flagged = {name: getattr(self, f"{kind}_{name}") for name in flags}
        handle = RemovableHandle(hooks, extra_dict=list(flagged.values()))
        hooks[handle.id] = hook
        for name, table in flagged.items():
            if flags[name]:
                table[handle.id] = True
        if prepend:
            hooks.move_to_end(handle.id, last=False)
        return handle

    def _add_backward_hook(
        self, hook: Callable[..., Any], full: bool, where: str, prepend: bool = False
    ) -> RemovableHandle:
        if self._is_full_backward_hook is (not full):
            raise RuntimeError(
                f"Cannot use both regular backward hooks and full backward hooks {where}. Please use only "
                "one of them."
            )
        self._is_full_backward_hook = full
        return self._add_hook("_backward_hooks", hook, prepend=prepend)


def with_module(hook: Callable[..., Any], module: Any) -> Callable[..., Any]:
    """Return a hook that is given the module first. It does not keep it, which may keep the hook."""
    import weakref
    from functools import update_wrapper

    reference = weakref.ref(module)

    def given_module(*rest: Any) -> Any:
        module = reference()
        if module is None:
            raise RuntimeError("You are trying to call the hook of a dead Module!")
        return hook(module, *rest)

    return update_wrapper(given_module, hook)


class _EveryModule(Hooks):
    def __init__(self) -> None:
        self.__dict__.update(no_hooks())


EVERY = _EveryModule()
_WHERE = "as a global Module hook"


def _of_every(kind: str) -> property:
    """Return an attribute that is a table of hooks: what is assigned to it becomes what is in the table."""

    def assign(_: Any, hooks: Mapping[int, Any]) -> None:
        table = getattr(EVERY, kind)
        kept = dict(hooks)
        table.clear()
        table.update(kept)

    return property(lambda _: getattr(EVERY, kind), assign)


class ShowingHooks(ModuleType):
    """A module that has the hooks of every module by the names that programs look for them by."""

    _global_backward_hooks = _of_every("_backward_hooks")
    _global_backward_pre_hooks = _of_every("_backward_pre_hooks")
    _global_forward_hooks = _of_every("_forward_hooks")
    _global_forward_hooks_always_called = _of_every("_forward_hooks_always_called")
    _global_forward_hooks_with_kwargs = _of_every("_forward_hooks_with_kwargs")
    _global_forward_pre_hooks = _of_every("_forward_pre_hooks")

    @property
    def _global_is_full_backward_hook(self) -> bool | None:
        return EVERY._is_full_backward_hook

    @_global_is_full_backward_hook.setter
    def _global_is_full_backward_hook(self, is_full: bool | None) -> None:
        EVERY._is_full_backward_hook = is_full


def register_module_forward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, args)` before the forward of every module, and before its own hooks."""
    return EVERY._add_hook("_forward_pre_hooks", hook)


def register_module_forward_hook(
    hook: Callable[..., Any], *, with_kwargs: bool = False, always_call: bool = False
) -> RemovableHandle:
    """Call `hook(module, args, result)` after the forward of every module, and before its own hooks."""
    return EVERY._add_hook("_forward_hooks", hook, with_kwargs=with_kwargs, always_called=always_call)


def register_module_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when the last operation of a module has run backward."""
    return EVERY._add_backward_hook(hook, full=False, where=_WHERE)


def register_module_full_backward_pre_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_output)` when the gradients of a module's results are there."""
    return EVERY._add_hook("_backward_pre_hooks", hook)


def register_module_full_backward_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, grad_input, grad_output)` when the gradients of a module's inputs are there."""
    return EVERY._add_backward_hook(hook, full=True, where=_WHERE)


_AT_REGISTRATION: dict[str, OrderedDict[int, Callable[..., Any]]] = {
    role: OrderedDict() for role in ("parameter", "buffer", "module")
}
# As libraries that make modules their own way know them.
_global_parameter_registration_hooks = _AT_REGISTRATION["parameter"]
_global_buffer_registration_hooks = _AT_REGISTRATION["buffer"]
_global_module_registration_hooks = _AT_REGISTRATION["module"]


def at_registration(role: str, module: Any, name: str, value: Any) -> Any:
    """Return what a module takes in under a name: what the hooks of registration make of it."""
    for hook in tuple(_AT_REGISTRATION[role].values()):
        changed = hook(module, name, value)
        if changed is not None:
            value = changed
    return value


def register_module_parameter_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, parameter)` when a module gets a parameter."""
    return register(_AT_REGISTRATION["parameter"], hook)


def register_module_buffer_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, buffer)` when a module gets a buffer."""
    return register(_AT_REGISTRATION["buffer"], hook)


def register_module_module_registration_hook(hook: Callable[..., Any]) -> RemovableHandle:
    """Call `hook(module, name, child)` when a module gets a child."""
    return register(_AT_REGISTRATION["module"], hook)

"""Weights that a hook makes anew before every call: one hook a weight, which can be taken out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ..modules.module import Module

M = TypeVar("M", bound="Module")


def _hooks(module: Module, kind: type[Any], name: str) -> list[tuple[int, Any]]:
    """Return the hooks of a kind that make the weight of that name, with their keys."""
    found = module._forward_pre_hooks.items()
    return [(key, hook) for key, hook in found if isinstance(hook, kind) and hook.name == name]


def refuse_second(module: Module, kind: type[Any], name: str, function: str) -> None:
    """Refuse a second hook of a kind for one weight; `function` is what would register it."""
    if _hooks(module, kind, name):
        raise RuntimeError(f"Cannot register two {function} hooks on the same parameter {name}")


def refuse_shapeless(weight: Any, kind: type[Any], what: str) -> None:
    """Refuse a weight that has no shape yet; `what` is the normalisation that wants one."""
    # By what it can do: with its class there, every call with a parameter is looked at twice.
    if hasattr(weight, "materialize"):
        raise ValueError(
            f"The module passed to `{kind.__name__}` can't have uninitialized parameters. Make sure to run "
            f"the dummy forward before applying {what} normalization"
        )


def taken_out(module: M, kind: type[Any], name: str, function: str) -> M:
    """Make a weight a parameter again, and return its module."""
    for key, hook in _hooks(module, kind, name):
        hook.remove(module)
        del module._forward_pre_hooks[key]
        return module
    raise ValueError(f"{function} of '{name}' not found in {module}")

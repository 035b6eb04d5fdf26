"""Scripts: functions and modules, which stay what they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from ..nn.modules.module import Module
from ._storing import save

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "Attribute",
    "CompilationUnit",
    "Error",
    "RecursiveScriptClass",
    "RecursiveScriptModule",
    "ScriptFunction",
    "ScriptModule",
    "ScriptWarning",
    "freeze",
    "interface",
    "optimize_for_inference",
    "run_frozen_optimizations",
    "script",
    "script_if_tracing",
    "script_method",
]


class Error(RuntimeError):
    """A script has failed."""


class ScriptWarning(Warning):
    """Something about a script that may be meant otherwise."""


class ConcreteTypeStore:
    """What a compiler knows of the classes of modules: nothing, since none is compiled."""


concrete_type_store = ConcreteTypeStore()


class Attribute(NamedTuple):
    """A value, and the type that it has in scripts."""

    value: Any
    type: Any


class ScriptFunction:
    """A compiled function. Nothing is an instance: functions stay what they are."""


class ScriptModule(Module):
    """A module that would be compiled, and runs as it is.

    >>> import rushlight as torch
    >>> class Double(torch.jit.ScriptModule):
    ...     @torch.jit.script_method
    ...     def forward(self, x):
    ...         return 2 * x
    >>> Double()(torch.ones(1))
    tensor([2.])
    """

    def save(self, f: Any, _extra_files: Any = None) -> None:
        """Refuse: scripts cannot be written to files."""
        save(self, f, _extra_files)


class RecursiveScriptModule(ScriptModule):
    """What becomes of a compiled module. Nothing is an instance: modules stay what they are."""


class RecursiveScriptClass:
    """What becomes of an instance of a compiled class."""


class CompilationUnit:
    """Functions of a text in the language of scripts, which is not read."""

    def __init__(self, lang: str | None = None, _frames_up: int = 0) -> None:
        if lang is not None:
            raise RuntimeError("CompilationUnit: the language of scripts is not read; write Python")


def script(
    obj: Any,
    optimize: Any = None,
    _frames_up: int = 0,
    _rcb: Any = None,
    example_inputs: Any = None,
) -> Any:
    """Return a function, a module, a class or a value as it is.

    >>> import rushlight as torch
    >>> linear = torch.nn.Linear(2, 1)
    >>> torch.jit.script(linear) is linear
    True
    """
    return obj


def script_method(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method as it is."""
    return fn


def script_if_tracing(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function as it is."""
    return fn


def interface(obj: Any) -> Any:
    """Return a class as it is."""
    return obj


def _evaluating(mod: Any, what: str) -> Module:
    if not isinstance(mod, Module):
        raise RuntimeError(
            f"{what} expects a ScriptModule as input. Please use torch.jit.script or torch.jit.trace to "
            "script your 'nn.Module'."
        )
    return mod


def freeze(mod: Any, preserved_attrs: list[str] | None = None, optimize_numerics: bool = True) -> Any:
    """Return a module, which has to be in evaluation, as it is."""
    if _evaluating(mod, "Freezing").training:
        raise RuntimeError(
            "Freezing is currently only implemented for modules in evaluation mode. Please call .eval() on "
            "your module before freezing."
        )
    return mod


def optimize_for_inference(mod: Any, other_methods: list[str] | None = None) -> Any:
    """Return a module as it is."""
    return _evaluating(mod, "optimize_for_inference")


def run_frozen_optimizations(
    mod: Any, optimize_numerics: bool = True, preserved_methods: list[str] | None = None
) -> None:
    """Leave a module as it is."""

"""Traces: what a function did once. Functions are returned as they are, and do it again."""

from __future__ import annotations

import warnings
from collections import OrderedDict
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor
from ._scripts import ScriptModule

if TYPE_CHECKING:
    from ..nn.modules.module import Module

__all__ = [
    "ONNXTracedModule",
    "TopLevelTracedModule",
    "TracedModule",
    "TracerWarning",
    "TracingCheckError",
    "trace",
    "trace_module",
]


class TracerWarning(Warning):
    """Something that a trace does not hold for other inputs."""

    @staticmethod
    def ignore_lib_warnings() -> None:
        """Show none of those that come from the package itself."""
        warnings.filterwarnings("ignore", category=TracerWarning, module="(torch|rushlight).(?!jit)")


class TracingCheckError(Exception):
    """A trace answers otherwise than the function."""


class TracedModule(ScriptModule):
    """What becomes of a module by tracing. Nothing is an instance: modules stay what they are."""


class TopLevelTracedModule(TracedModule):
    """What becomes of a module that is traced."""


class ONNXTracedModule(TracedModule):
    """What becomes of a module that is traced to be exported."""


def _get_trace_graph(f: Any, args: Any = (), kwargs: Any = None, **options: Any) -> Any:
    raise NotImplementedError(
        "torch.jit._get_trace_graph: functions are not recorded in that form; fx records modules"
    )


def trace(func: Any, example_inputs: Any = None, *args: Any, **kwargs: Any) -> Any:
    """Return a function or module as it is: what it decides by values stays decided by values.

    >>> import rushlight as torch
    >>> torch.jit.trace(torch.relu, torch.ones(1)) is torch.relu
    True
    """
    if example_inputs is None and kwargs.get("example_kwarg_inputs") is None:
        raise RuntimeError("example_kwarg_inputs should be a dict")
    return func


def trace_module(mod: Module, inputs: dict[str, Any], *args: Any, **kwargs: Any) -> Module:
    """Return a module as it is."""
    if not isinstance(inputs, dict):
        raise AttributeError("expected a dictionary of (method_name, input) pairs")
    return mod


def _unique_state_dict(module: Module, keep_vars: bool = False) -> OrderedDict[str, Tensor]:
    """Return the state of a module, each tensor once."""
    seen: set[int] = set()
    found: OrderedDict[str, Tensor] = OrderedDict()
    for name, value in module.state_dict(keep_vars=True).items():
        if id(value) not in seen:
            seen.add(id(value))
            found[name] = value if keep_vars else value.detach()
    return found


def _flatten(*values: Any) -> tuple[tuple[Tensor, ...], Any]:
    """Return the tensors in nested values, and how they were nested."""
    from ..utils._pytree import tree_flatten

    leaves, structure = tree_flatten(values)
    return tuple(leaf for leaf in leaves if isinstance(leaf, Tensor)), structure

"""How functions and types are called in the code of graphs, and names that are given once each."""

from __future__ import annotations

import builtins
import keyword
import re
import sys
import types
from functools import cache
from typing import TYPE_CHECKING, Any

from .. import overrides
from .._rushlight import Tensor, device, dtype
from ..utils import _pytree as pytree
from . import _pytree as fx_pytree

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["KNOWN", "Namespace", "is_from_torch", "qualified_name", "snake_case", "type_repr"]

_PACKAGE = __package__.partition(".")[0]
_NUMBERED = re.compile(r"^([a-zA-Z_][0-9a-zA-Z_]*?)(?:_(\d+))?$")
# What the code of every graph knows, by the names that values print.
KNOWN: dict[str, Any] = {
    "inf": float("inf"),
    "nan": float("nan"),
    "NoneType": type(None),
    "torch": sys.modules[_PACKAGE],
    "device": device,
    "fx_pytree": fx_pytree,
    "pytree": pytree,
}
_TAKEN = {name: object() for name in keyword.kwlist} | vars(builtins) | KNOWN


class Namespace:
    """Names of which each is given once, and hides nothing that Python knows."""

    def __init__(self) -> None:
        self._names: dict[Any, str] = {}
        self._used: set[str] = set()
        self._counts: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """Return a name for an object, like `candidate`."""
        if obj is not None and obj in self._names:
            return self._names[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = _NUMBERED.match(candidate)
        base, digits = match.group(1, 2) if match else (candidate, None)
        if digits is None or candidate in self._used:
            count = self._counts.get(base, 0)
            if _TAKEN.get(candidate, obj) is not obj:
                count += 1
                candidate = f"{base}_{count}"
        else:
            count = int(digits)
        while candidate in self._used:
            count += 1
            candidate = f"{base}_{count}"
        self._used.add(candidate)
        self._counts[base] = count
        if obj is not None:
            self._names[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Say what an object is called."""
        self._names[obj] = name

    def rename(self, obj: Any, name: str) -> None:
        """Say what an object is called from now on."""
        self._names[obj] = name
        self._used.add(name)


def snake_case(name: str) -> str:
    """Return a name in small letters: `LeakyReLU` becomes `leaky_re_lu`."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


# Functions of `nn.functional` that torch has from its compiled module, and names by that.
_COMPILED = {
    "avg_pool2d": "avg_pool2d",
    "avg_pool3d": "avg_pool3d",
    "elu_": "elu_",
    "gelu": "gelu",
    "hardtanh_": "hardtanh_",
    "leaky_relu_": "leaky_relu_",
    "linear": "linear",
    "logsigmoid": "log_sigmoid",
    "one_hot": "one_hot",
    "scaled_dot_product_attention": "scaled_dot_product_attention",
    "softplus": "softplus",
    "softshrink": "softshrink",
}


@cache
def _of_functional() -> frozenset[str]:
    from .. import functional

    return frozenset(getattr(functional, "__all__", ()))


def qualified_name(function: Callable[..., Any]) -> str:
    """Return where a function is found, as torch names it.

    >>> import rushlight as torch
    >>> from rushlight.fx._naming import qualified_name
    >>> qualified_name(torch.relu), qualified_name(torch.nn.functional.relu), qualified_name(len)
    ('torch.relu', 'torch.nn.functional.relu', 'len')
    """
    name = getattr(function, "__name__", type(function).__name__)
    if getattr(builtins, name, None) is function:
        return name
    from .._ops import OpOverload, OpOverloadPacket

    if isinstance(function, (OpOverload, OpOverloadPacket)):
        return f"torch.ops.{function}"
    known = None
    if not isinstance(function, type):
        try:
            known = overrides.resolve_name(function)
        except TypeError:  # What cannot be hashed is not known.
            known = None
    if known is not None:
        short = known.removeprefix("torch.")
        if short.startswith("nn.functional.") and name in _COMPILED:
            return f"torch._C._nn.{_COMPILED[name]}"
        return f"torch.functional.{short}" if short in _of_functional() else known
    if getattr(sys.modules[_PACKAGE], name, None) is function:
        return f"torch.{name}"
    module = getattr(function, "__module__", None) or ""
    if name == "<lambda>":
        name = "_lambda"
    return f"{_torch_name(module)}.{name}" if module else name


def _torch_name(module: str) -> str:
    first, dot, rest = module.partition(".")
    if first != _PACKAGE:
        return module
    return f"torch{dot}{rest}" if rest != "_rushlight" else "torch"


def is_from_torch(obj: Any) -> bool:
    """Tell whether the code of a graph finds something through the name `torch`."""
    if isinstance(obj, type):
        return obj is Tensor or _torch_name(obj.__module__).partition(".")[0] == "torch"
    if isinstance(obj, dtype):
        return True
    return qualified_name(obj).startswith("torch.") if callable(obj) else False


def type_repr(kind: Any) -> str:
    """Return a type as it is written."""
    if isinstance(kind, type) and not isinstance(kind, types.GenericAlias):
        if kind.__module__ == "builtins":
            return kind.__qualname__
        if issubclass(kind, Tensor) and kind is Tensor:
            return "torch.Tensor"
        if kind is device:
            return "torch.device"
        return f"{_torch_name(kind.__module__)}.{kind.__qualname__}"
    if kind is ...:
        return "..."
    if isinstance(kind, types.FunctionType):
        return kind.__name__
    return repr(kind).replace(f"{_PACKAGE}.Tensor", "torch.Tensor")

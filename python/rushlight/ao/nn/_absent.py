"""Classes of modules that compute with quantised tensors: they have names, and none can be made."""

from __future__ import annotations

from typing import Any

from ...nn.modules.module import Module


def absent(module: dict[str, Any], names: str) -> None:
    """Put classes of these names into a module, whose globals are `module`."""
    for name in names.split():
        module[name] = type(name, (_Absent,), {"__module__": module["__name__"], "__doc__": _TEXT})


_TEXT = "A layer that computes with quantised tensors, which there are not."


class _Absent(Module):
    def __init__(self, *args: Any, **kwargs: Any) -> None:
        name = f"{type(self).__module__}.{type(self).__name__}".replace("rushlight", "torch", 1)
        raise NotImplementedError(f"{name}: tensors are not quantised here")

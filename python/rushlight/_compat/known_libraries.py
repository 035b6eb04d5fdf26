"""Libraries that have a way to be told of a kind of tensor are told of ours when they are imported.

They find torch's by its name. Nothing of theirs is loaded for that.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import ModuleType
    from typing import Any


_PACKAGE = __package__.partition(".")[0]


def _tell_einops(backends: ModuleType) -> None:
    """It asks the subclasses of its backends whose package is loaded."""

    class Backend(backends.TorchBackend):  # type: ignore[misc, name-defined]
        framework_name = _PACKAGE

        def __init__(self) -> None:
            self.torch = sys.modules[_PACKAGE]

    backends.RushlightBackend = Backend  # type: ignore[attr-defined]


def _tell_opt_einsum(dispatch: ModuleType) -> None:
    """It looks functions up in a module, by the package that a tensor's class is from."""
    dispatch._aliases.setdefault(_PACKAGE, f"{_PACKAGE}._functions.opt_einsum")


_TELL = {"einops._backends": _tell_einops, "opt_einsum.backends.dispatch": _tell_opt_einsum}


class _Finder:
    """Finds nothing itself: waits until one of the libraries is looked for."""

    @staticmethod
    def find_spec(name: str, path: Sequence[str] | None = None, target: Any = None) -> Any:
        """Return how a library is loaded, with telling it at the end."""
        if name not in _TELL:
            return None
        from importlib.machinery import PathFinder

        spec = PathFinder.find_spec(name, path)
        loader: Any = spec and spec.loader
        if loader is None:
            return None
        run = loader.exec_module

        def exec_module(module: ModuleType) -> None:
            run(module)
            _TELL[name](module)

        loader.exec_module = exec_module
        return spec


def register_tensor() -> None:
    """Tell those that are there already, and wait for the others."""
    for name, tell in _TELL.items():
        if name in sys.modules:
            tell(sys.modules[name])
    sys.meta_path.insert(0, _Finder)

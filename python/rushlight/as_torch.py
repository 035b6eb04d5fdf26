"""One word for programs that import torch: after `rushlight.as_torch()`, `import torch` means rushlight.

The word may stand in front of a program as well: `python -m rushlight program.py`, `pytest -p
rushlight.as_torch`, or RUSHLIGHT_AS_TORCH=1 in the environment. How it is done
stands in `_compat.torch_alias`.
"""

from __future__ import annotations

import os
import sys
from types import ModuleType
from typing import Any

__all__ = ["activate"]

_FOLDER = os.path.join(os.path.dirname(__file__), "_compat", "torch_path")


def activate() -> None:
    """Let `import torch` mean rushlight here, and in the processes that `multiprocessing` and its kin start.

    Modules, classes and functions say that they are torch's from then on, pickles as well, and so do
    `__version__` and the metadata of the distribution. Calling it again changes nothing.

    >>> import rushlight
    >>> rushlight.as_torch()  # doctest: +SKIP
    >>> import torch, torch.nn.functional as F  # doctest: +SKIP
    >>> torch is rushlight  # doctest: +SKIP
    True
    """
    package = sys.modules[__package__]
    there = sys.modules.get("torch")
    if there is package and f"{__package__}._compat.torch_alias" in sys.modules:
        return
    if there not in (None, package):
        place = getattr(there, "__file__", None) or "memory"
        raise ImportError(
            f"torch has been imported already, from {place}: rushlight can take its place only before that. "
            "Call rushlight.as_torch() first, or start the program with `python -m rushlight`."
        )
    from ._compat import torch_alias

    torch_alias.begin(package)
    if _FOLDER not in sys.path:
        # After the folder of the program. Processes that are started get the path, and find torch there.
        sys.path.insert(1, _FOLDER)


def inherit() -> None:
    """Let programs that this one starts find rushlight in torch's place, too."""
    others = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if _FOLDER not in others:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [_FOLDER, *others]))
    os.environ["RUSHLIGHT_AS_TORCH"] = "1"


def pytest_addoption(parser: Any) -> None:
    """Begin before pytest imports a test: it calls this as soon as it knows the plugin."""
    activate()


class _Word(ModuleType):
    """The module, which can be called."""

    def __call__(self) -> None:
        activate()


sys.modules[__name__].__class__ = _Word

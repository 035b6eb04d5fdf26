"""`jit.save` and `jit.load`, which refuse: there are no scripts to write, nor is anything to run them."""

from __future__ import annotations

import os
from typing import Any

__all__ = ["jit_module_from_flatbuffer", "load", "save", "save_jit_module_to_flatbuffer"]

_NOT_WRITTEN = (
    "torch.jit.save: modules run as Python here and have no script that could be written to a file. Save "
    "`module.state_dict()` with torch.save."
)
_NOT_READ = (
    "torch.jit.load: scripts in files cannot be run here. Save `module.state_dict()` with torch.save where "
    "the script was made, and load it into the module."
)


def save(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Refuse: there is no script that could be written.

    >>> import rushlight as torch
    >>> torch.jit.save(torch.nn.ReLU(), "relu.pt")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    RuntimeError: torch.jit.save: modules run as Python here ...
    """
    raise RuntimeError(_NOT_WRITTEN)


def load(f: Any, map_location: Any = None, _extra_files: Any = None, _restore_shapes: bool = False) -> Any:
    """Refuse: what is in the file cannot be run."""
    if isinstance(f, (str, os.PathLike)):
        if not os.path.exists(f):
            raise ValueError(f"The provided filename {f} does not exist")
        if os.path.isdir(f):
            raise ValueError(f"The provided filename {f} is a directory")
    raise RuntimeError(_NOT_READ)


def save_jit_module_to_flatbuffer(m: Any, f: Any, _extra_files: Any = None) -> None:
    """Refuse: there is no script that could be written."""
    raise RuntimeError(_NOT_WRITTEN)


def jit_module_from_flatbuffer(f: Any) -> Any:
    """Refuse: what is in the file cannot be run."""
    raise RuntimeError(_NOT_READ)

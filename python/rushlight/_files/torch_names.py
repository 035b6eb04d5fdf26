"""By which names torch knows what stands elsewhere here: for files that both read, and for who runs as torch.

`_files/torch_names.txt` lists what torch has in a module of another name; all else has its name with `torch` in
front.
"""

from __future__ import annotations

import os
import sys
from functools import cache

_OWN, _TORCH = "rushlight", "torch"


@cache
def _tables() -> tuple[dict[tuple[str, str], str], dict[tuple[str, str], str]]:
    """Read the list: torch's modules by module and name here, and the other way about."""
    theirs, ours = {}, {}
    with open(os.path.join(os.path.dirname(__file__), "_files/torch_names.txt"), encoding="utf-8") as lines:
        for line in lines:
            if line[0] != "#":
                own, place, *names = line.split()
                for name in names:
                    theirs[own, name] = place
                    ours[place, name] = own
    return theirs, ours


def is_torch() -> bool:
    """Tell whether torch means this package."""
    return sys.modules.get(_TORCH) is sys.modules[_OWN]


def is_own(module: object) -> bool:
    """Tell whether this is the name of a module of the package."""
    return isinstance(module, str) and (module == _OWN or module.startswith(f"{_OWN}."))


def is_of_torch(module: str) -> bool:
    """Tell whether this is the name of a module of torch."""
    return module == _TORCH or module.startswith(f"{_TORCH}.")


def torch_module(module: str) -> str:
    """Return what torch calls a module of the package.

    >>> from rushlight._files.torch_names import torch_module
    >>> torch_module("rushlight.nn")
    'torch.nn'
    """
    return _TORCH + module[len(_OWN) :]


def own_module(module: str) -> str:
    """Return what a module of torch is called here."""
    return _OWN + module[len(_TORCH) :]


def torch_place(module: str, name: str) -> str:
    """Return the module in which torch has what is written in this module under this name.

    >>> from rushlight._files.torch_names import torch_place
    >>> torch_place("rushlight.nn.modules.layers", "Linear")
    'torch.nn.modules.linear'
    """
    return _tables()[0].get((module, name)) or torch_module(module)


def own_place(module: str, name: str) -> str:
    """Return the module here for what torch has in this module under this name.

    >>> from rushlight._files.torch_names import own_place
    >>> own_place("torch.nn.modules.linear", "Linear")
    'rushlight.nn.modules.layers'
    """
    return _tables()[1].get((module, name)) or own_module(module)

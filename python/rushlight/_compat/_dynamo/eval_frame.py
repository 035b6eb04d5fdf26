"""`OptimizedModule`: a module around the one that `compile` was given."""

from __future__ import annotations

from typing import Any

from ...nn.modules.module import Module

__all__ = ["OptimizedModule"]


class OptimizedModule(Module):
    """Calls the module that it was made of, and has what that has.

    >>> import rushlight as torch
    >>> compiled = torch.compile(torch.nn.Linear(2, 1))
    >>> list(compiled.state_dict()), compiled.out_features
    (['_orig_mod.weight', '_orig_mod.bias'], 1)
    """

    _orig_mod: Module

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._orig_mod = mod
        self.training = mod.training

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the module."""
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        if name == "_orig_mod" or "_modules" not in self.__dict__:
            return super().__getattr__(name)
        return getattr(self._orig_mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "_orig_mod" or name in self.__dict__ or name == "training":
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

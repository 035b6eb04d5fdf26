"""Modules under names that are no longer used, each of which says what to use."""

from __future__ import annotations

import warnings
from typing import Any

from .losses import NLLLoss
from .module import Module

__all__ = ["Container", "NLLLoss2d"]


class Container(Module):
    """A module of the modules that are given by name; `Module` itself is what to build upon.

    >>> import rushlight as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.nn.Container(unit=torch.nn.ReLU())
    Container(
      (unit): ReLU()
    )
    """

    def __init__(self, **kwargs: Any) -> None:
        warnings.warn(
            "`nn.Container` is deprecated. All of its functionality is now implemented in `nn.Module`. "
            "Subclass that instead.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__()
        for name, module in kwargs.items():
            self.add_module(name, module)


class NLLLoss2d(NLLLoss):
    """The same as `NLLLoss`.

    >>> import rushlight as torch
    >>> import warnings
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore")
    ...     torch.nn.NLLLoss2d()(torch.tensor([[[[-1.0]]]]), torch.tensor([[[0]]]))
    tensor(1.)
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        warnings.warn(
            "`NLLLoss2d` has been deprecated. Please use `NLLLoss` instead as a drop-in replacement and see "
            "https://pytorch.org/docs/main/nn.html#torch.nn.NLLLoss for more details.",
            FutureWarning,
            stacklevel=2,
        )
        super().__init__(*args, **kwargs)

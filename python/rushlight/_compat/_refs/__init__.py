"""Operations by the names of torch's references, which are functions in Python that answer as operations do.

The operations here are their own reference: a name is that of a function, of what a method of tensors
does, or of what a method that writes does, done to a copy.
"""

from __future__ import annotations

import sys
from functools import wraps
from typing import Any

from ... import _rushlight as native
from ..._module_aliases import add_module_aliases
from ..._rushlight import Tensor
from .reductions import all, amax, amin, any, mean, prod, std, std_mean, sum, var, var_mean

__all__ = ["all", "amax", "amin", "any", "mean", "prod", "std", "std_mean", "sum", "var", "var_mean"]

add_module_aliases(
    globals(),
    {
        "_conversions": {f"{__name__}": ""},
        "fft": {"...fft": ""},
        "linalg": {"...linalg": ""},
        "nn": {"...nn": ""},
        "special": {"...special": ""},
    },
)
add_module_aliases(vars(sys.modules[f"{__name__}.nn"]), {"functional": {"...nn.functional": ""}})


def T(a: Tensor) -> Tensor:
    """Return a tensor with its dimensions in reverse."""
    return a.T


def __getattr__(name: str) -> Any:
    """Find what answers as the operation of this name."""
    function = getattr(sys.modules["rushlight"], name, None)
    if function is None or isinstance(function, native.dtype):
        function = getattr(Tensor, name, None)
    if function is None and hasattr(Tensor, f"{name}_"):
        write = getattr(Tensor, f"{name}_")

        @wraps(write)
        def function(a: Tensor, *args: Any, **kwargs: Any) -> Tensor:
            return write(a.clone(), *args, **kwargs)  # type: ignore[no-any-return]

    if function is None or not callable(function):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return function

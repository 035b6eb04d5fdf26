"""`functionalize`: a function without visible writes in place."""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import wraps
from typing import Any


def functionalize(func: Callable[..., Any], *, remove: str = "mutations") -> Callable[..., Any]:
    """Return a function that does what `func` does, in whose graph writes in place are computations.

    `make_fx` records new tensors, and at the end what is copied to the inputs. To those who call it such a
    function is no different from `func`.

    >>> import rushlight as torch
    >>> torch.func.functionalize(lambda x: x.clone().add_(1))(torch.zeros(2))
    tensor([1., 1.])
    """
    if remove not in ("mutations", "mutations_and_views"):
        raise RuntimeError(
            "functionalize(f, remove='mutations'): received invalid argument for"
            f" remove={remove}. Valid options are:\n     remove='mutations': all inplace and out= operators"
            " will be removed from the program, and replaced with their out-of-place equivalents.\n"
            "     remove='mutations_and_views': In addition to the above, all aliasing operators {view}"
            " will be replaced with their non-aliasing counterparts, {view}_copy.\n"
        )

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        tracing = sys.modules.get("rushlight.fx.experimental.proxy_tensor")
        if tracing is None:
            return func(*args, **kwargs)
        with tracing.writes_computed((args, kwargs), remove == "mutations_and_views"):
            return func(*args, **kwargs)

    return wrapper

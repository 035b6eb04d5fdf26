"""How references are given `out=`: what they return is written there."""

from __future__ import annotations

import inspect
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from ... import _rushlight as native
from ..._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

_F = TypeVar("_F")
_MARK = "_torch_decompositions_out_wrapper"


def _write(found: Tensor, out: Tensor, exact_dtype: bool) -> None:
    if exact_dtype and found.dtype is not out.dtype:
        raise RuntimeError(f"Expected out tensor to have dtype {found.dtype} but got {out.dtype} instead")
    if not native.can_cast(found.dtype, out.dtype):
        raise RuntimeError(
            f"Attempting to cast from {found.dtype} to out tensor with dtype {out.dtype}, "
            "but this can't be cast because it is not safe!"
        )
    if out.shape != found.shape:
        out.resize_(found.shape)
    out.copy_(found)


def out_wrapper(
    *out_names: str, exact_dtype: bool = False, pass_is_out: bool = False, **_: Any
) -> Callable[[_F], _F]:
    """Let a function take `out=`: a tensor, or as many as there are names.

    >>> import rushlight as torch
    >>> from rushlight._prims_common.wrappers import out_wrapper
    >>> @out_wrapper()
    ... def twice(x):
    ...     return 2 * x
    >>> y = torch.empty(2)
    >>> _ = twice(torch.ones(2), out=y)
    >>> y
    tensor([2., 2.])
    """
    names = out_names or ("out",)

    def wrap(function: Any) -> Any:
        signature = inspect.signature(function)
        makes_tensors = {"device", "dtype"} <= signature.parameters.keys()
        fields: Any = [(name, Tensor) for name in names]
        name = f"return_types_{function.__name__}"
        together: Any = NamedTuple(name, fields) if len(names) > 1 else tuple

        @wraps(function)
        def wrapped(*args: Any, out: Any = None, **kwargs: Any) -> Any:
            if makes_tensors and out is not None:
                kwargs = {"device": out.device, "dtype": out.dtype, **kwargs}
            if pass_is_out:
                kwargs["is_out"] = out is not None
            result = function(*args, **kwargs)
            if result is NotImplemented or (out is None and len(names) == 1):
                return result
            if len(names) == 1:
                _write(result, out, exact_dtype)
                return out
            if out is None:
                return together(*result)
            if len(out) != len(result):
                raise TypeError(f"expected tuple of {len(result)} elements but got {len(out)}")
            for found, place in zip(result, out, strict=True):
                _write(found, place, exact_dtype)
            return together(*out)

        parameter = inspect.Parameter("out", inspect.Parameter.KEYWORD_ONLY, default=None, annotation=Any)
        parameters = sorted([*signature.parameters.values(), parameter], key=lambda one: one.kind)
        vars(wrapped)["__signature__"] = signature.replace(parameters=parameters)
        setattr(wrapped, _MARK, f"This function is wrapped by {out_wrapper.__module__}.out_wrapper")
        return wrapped

    return wrap


def _maybe_remove_out_wrapper(fn: Callable[..., Any]) -> Any:
    """Return the function below what takes `out=`."""
    return inspect.unwrap(fn, stop=lambda one: not hasattr(one, _MARK))

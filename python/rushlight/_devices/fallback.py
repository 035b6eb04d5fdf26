"""Calls that name a device, a layout or a type of elements which the engine's tensors do not have, once they
have been refused: tensors of other kinds answer them. `NotImplemented` says that the refusal stands.
"""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor

_MAKING = ("zeros", "empty", "zeros_like", "empty_like", "new_zeros", "new_empty")


def answer(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answer a call, or say that nobody here can."""
    layout = kwargs.get("layout")
    if isinstance(layout, native.layout) and layout is not native.strided:
        return _in_layout(func, args, kwargs)
    device = kwargs.get("device", next((one for one in args if isinstance(one, (str, native.device))), None))
    if device is not None and str(device).partition(":")[0] == "meta":
        from .._tensors.meta import called

        return called(func, args, kwargs)
    return NotImplemented


def _in_layout(func: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    name, layout = func.__name__, kwargs["layout"]
    rest = {key: value for key, value in kwargs.items() if key != "layout"}
    if name in ("ones", "full"):
        raise RuntimeError("full(...) is not implemented for sparse layout")
    if name not in _MAKING:
        return NotImplemented
    from ..sparse import of_no_values

    # What is empty has elements that are not there: none is kept of either.
    made: Tensor = getattr(native, name.replace("empty", "zeros"), func)(*args, **rest)
    return of_no_values(made, layout, name)

"""`autocast` for CUDA, and the decorators of functions of one's own, as they were once called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import float16
from ...amp import _former, autocast_mode

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["autocast", "custom_bwd", "custom_fwd"]


class autocast(_former.FormerAutocast):
    """`amp.autocast("cuda", …)`."""

    _kind = "cuda"
    _half = float16


def custom_fwd(fwd: Callable[..., Any] | None = None, *, cast_inputs: Any = None) -> Callable[..., Any]:
    """`amp.custom_fwd(…, device_type="cuda")`."""
    _former.warn("cuda.amp.custom_fwd(args...)", "custom_fwd(args..., device_type='cuda')")
    return autocast_mode.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable[..., Any]) -> Callable[..., Any]:
    """`amp.custom_bwd(…, device_type="cuda")`."""
    _former.warn("cuda.amp.custom_bwd(args...)", "custom_bwd(args..., device_type='cuda')")
    return autocast_mode.custom_bwd(bwd, device_type="cuda")

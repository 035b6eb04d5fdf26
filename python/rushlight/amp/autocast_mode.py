"""Blocks and functions in mixed precision, and functions of one's own that are called there."""

from __future__ import annotations

import warnings
from functools import partial, wraps
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from ._state import (
    autocast_decrement_nesting,
    autocast_increment_nesting,
    cast,
    clear_autocast_cache,
    get_autocast_dtype,
    is_autocast_available,
    is_autocast_cache_enabled,
    is_autocast_enabled,
    set_autocast_cache_enabled,
    set_autocast_dtype,
    set_autocast_enabled,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from typing_extensions import Self

__all__ = ["autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

_UNSUPPORTED = (
    "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
    "CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently."
)


class autocast:
    """A block, or a function that it decorates, in mixed precision.

    Products of matrices and convolutions are computed in `dtype`, losses and what else has to be exact in
    single precision, everything else in the type that its arguments have.

    >>> import rushlight as torch
    >>> @torch.autocast("cpu")
    ... def product(x):
    ...     return x @ x
    >>> product(torch.ones(2, 2)).dtype
    torch.bfloat16
    """

    def __init__(
        self,
        device_type: str,
        dtype: Any = None,
        enabled: bool = True,
        cache_enabled: bool | None = None,
    ) -> None:
        if not isinstance(device_type, str):
            raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.fast_dtype = get_autocast_dtype(device_type) if dtype is None else dtype
        self.device = device_type
        self._cache_enabled = is_autocast_cache_enabled() if cache_enabled is None else cache_enabled
        if enabled and device_type == "cuda":
            warnings.warn("CUDA is not available or torch_xla is imported. Disabling autocast.", stacklevel=2)
            enabled = False
        if enabled and device_type == "cpu" and self.fast_dtype not in (native.bfloat16, native.float16):
            warnings.warn(_UNSUPPORTED, stacklevel=2)
            enabled = False
        self._enabled = enabled
        self._before: list[tuple[bool, Any, bool]] = []

    def __enter__(self) -> Self:
        kind = self.device
        self._before.append(
            (is_autocast_enabled(kind), get_autocast_dtype(kind), is_autocast_cache_enabled())
        )
        autocast_increment_nesting()
        set_autocast_enabled(kind, self._enabled)
        set_autocast_dtype(kind, self.fast_dtype)
        set_autocast_cache_enabled(self._cache_enabled)
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        enabled, dtype, caches = self._before.pop()
        if autocast_decrement_nesting() == 0:
            clear_autocast_cache()
        set_autocast_enabled(self.device, enabled)
        set_autocast_dtype(self.device, dtype)
        set_autocast_cache_enabled(caches)

    def __call__(self, func: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(func)
        def decorated(*args: Any, **kwargs: Any) -> Any:
            with self:
                return func(*args, **kwargs)

        return decorated


def custom_fwd(
    fwd: Callable[..., Any] | None = None, *, device_type: str, cast_inputs: Any = None
) -> Callable[..., Any]:
    """Decorate the `forward` of a function of one's own that is called in mixed precision.

    With `cast_inputs` it gets tensors in that type, and runs without mixed precision; without, it runs as it
    is called, and `custom_bwd` runs `backward` likewise.
    """
    _check(device_type)
    if fwd is None:
        return partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @wraps(fwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        args[0]._dtype = get_autocast_dtype(device_type)
        enabled = is_autocast_enabled(device_type)
        args[0]._fwd_used_autocast = enabled and cast_inputs is None
        if not enabled or cast_inputs is None:
            return fwd(*args, **kwargs)
        with autocast(device_type=device_type, enabled=False):
            return fwd(*cast(args, cast_inputs), **cast(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable[..., Any] | None = None, *, device_type: str) -> Callable[..., Any]:
    """Decorate the `backward` of a function whose `forward` `custom_fwd` decorates: it runs as that did."""
    _check(device_type)
    if bwd is None:
        return partial(custom_bwd, device_type=device_type)

    @wraps(bwd)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with autocast(device_type=device_type, enabled=args[0]._fwd_used_autocast, dtype=args[0]._dtype):
            return bwd(*args, **kwargs)

    return decorated


def _check(device_type: Any) -> None:
    if not isinstance(device_type, str):
        raise ValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")

"""Switches that programs set for other machines: whether results repeat, and how exact products are."""

from __future__ import annotations

import warnings
from typing import Any

_PRECISIONS = ("highest", "high", "medium")
_MODES = ("default", "warn", "error")

# The number of the mode in `_MODES`. Whatever it is, results repeat bit by bit.
_mode = 0
_precision = "highest"


def _expect_bool(value: Any, name: str, position: str) -> None:
    if not isinstance(value, bool):
        found = type(value).__name__
        raise TypeError(
            f"_set_deterministic_algorithms(): argument '{name}'{position} must be bool, not {found}"
        )


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Say that results have to repeat. They do anyway, bit by bit, on any number of threads.

    >>> import rushlight as torch
    >>> torch.use_deterministic_algorithms(True)
    >>> torch.are_deterministic_algorithms_enabled()
    True
    >>> torch.use_deterministic_algorithms(False)
    """
    global _mode
    _expect_bool(mode, "mode", " (position 1)")
    _expect_bool(warn_only, "warn_only", "")
    _mode = (1 if warn_only else 2) if mode else 0


def are_deterministic_algorithms_enabled() -> bool:
    """Tell whether somebody has asked that results repeat."""
    return _mode != 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Tell whether a result that may not repeat would be a warning, not an error."""
    return _mode == 1


def get_deterministic_debug_mode() -> int:
    """Return what is to happen at a result that may not repeat: nothing (0), a warning (1), an error (2)."""
    return _mode


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """Say what is to happen at a result that may not repeat, by number or as `default`, `warn`, `error`."""
    global _mode
    if not isinstance(debug_mode, (int, str)):
        raise TypeError(f"debug_mode must be str or int, but got {type(debug_mode)}")
    if isinstance(debug_mode, str):
        if debug_mode not in _MODES:
            raise RuntimeError(
                "invalid value of debug_mode, expected one of `default`, `warn`, `error`, "
                f"but got {debug_mode}"
            )
        debug_mode = _MODES.index(debug_mode)
    if debug_mode not in (0, 1, 2):
        raise RuntimeError(f"invalid value of debug_mode, expected 0, 1, or 2, but got {debug_mode}")
    _mode = debug_mode


def get_float32_matmul_precision() -> str:
    """Return how exact products of matrices in single precision have to be.

    >>> import rushlight as torch
    >>> torch.get_float32_matmul_precision()
    'highest'
    """
    return _precision


def set_float32_matmul_precision(precision: str) -> None:
    """Say how exact products of matrices in single precision have to be. They are always exact."""
    global _precision
    if not isinstance(precision, str):
        found = type(precision).__name__
        raise RuntimeError(f"set_float32_matmul_precision expects a str, but got {found}")
    if precision in _PRECISIONS:
        _precision = precision
        return
    warnings.warn(
        f"{precision} is not one of 'highest', 'high', or 'medium'; the current"
        "setFloat32MatmulPrecision call has no effect.",
        stacklevel=2,
    )


def set_vital(*args: Any) -> None:
    """Note nothing: what loaders of other libraries tell about themselves, nobody asks for any longer.

    >>> import rushlight as torch
    >>> torch.set_vital("Dataloader", "enabled", "True")
    """
    warnings.warn("'set_vital' is deprecated, please do not call", stacklevel=2)

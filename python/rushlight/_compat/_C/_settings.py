"""What programs ask torch's compiled module of settings, which live in the modules that are theirs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ..._settings import are_deterministic_algorithms_enabled as _get_deterministic_algorithms
from ..._settings import get_float32_matmul_precision as _get_float32_matmul_precision
from ..._settings import is_deterministic_algorithms_warn_only_enabled as _is_warn_only
from ..._settings import set_float32_matmul_precision as _set_float32_matmul_precision
from ..._settings import use_deterministic_algorithms as _use_deterministic_algorithms
from ...amp._state import is_autocast_available as _is_autocast_available
from ...amp._state import is_autocast_enabled
from ...amp.autocast_mode import autocast
from ...backends.cuda import cudnn_sdp_enabled as _get_cudnn_sdp_enabled
from ...backends.cuda import enable_cudnn_sdp as _set_sdp_use_cudnn
from ...backends.cuda import enable_flash_sdp as _set_sdp_use_flash
from ...backends.cuda import enable_math_sdp as _set_sdp_use_math
from ...backends.cuda import enable_mem_efficient_sdp as _set_sdp_use_mem_efficient
from ...backends.cuda import flash_sdp_enabled as _get_flash_sdp_enabled
from ...backends.cuda import math_sdp_enabled as _get_math_sdp_enabled
from ...backends.cuda import mem_efficient_sdp_enabled as _get_mem_efficient_sdp_enabled
from ...backends.cuda import preferred_blas_library as _get_blas_preferred_backend
from ...backends.cuda import preferred_linalg_library as _get_linalg_preferred_backend

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "_DisableAutocast",
    "_autocast_supported_devices",
    "_get_blas_preferred_backend",
    "_get_cpu_allow_fp16_reduced_precision_reduction",
    "_get_cudnn_allow_tf32",
    "_get_cudnn_benchmark",
    "_get_cudnn_deterministic",
    "_get_cudnn_enabled",
    "_get_cudnn_sdp_enabled",
    "_get_deterministic_algorithms",
    "_get_deterministic_algorithms_warn_only",
    "_get_deterministic_fill_uninitialized_memory",
    "_get_flash_sdp_enabled",
    "_get_float32_matmul_precision",
    "_get_linalg_preferred_backend",
    "_get_math_sdp_enabled",
    "_get_mem_efficient_sdp_enabled",
    "_get_mkldnn_enabled",
    "_get_qengine",
    "_is_any_autocast_enabled",
    "_is_autocast_available",
    "_set_blas_preferred_backend",
    "_set_cpu_allow_fp16_reduced_precision_reduction",
    "_set_cudnn_allow_tf32",
    "_set_cudnn_benchmark",
    "_set_cudnn_deterministic",
    "_set_cudnn_enabled",
    "_set_deterministic_algorithms",
    "_set_deterministic_fill_uninitialized_memory",
    "_set_float32_matmul_precision",
    "_set_linalg_preferred_backend",
    "_set_mkldnn_enabled",
    "_set_sdp_use_cudnn",
    "_set_sdp_use_flash",
    "_set_sdp_use_math",
    "_set_sdp_use_mem_efficient",
    "_supported_qengines",
]

_set_blas_preferred_backend = _get_blas_preferred_backend
_set_linalg_preferred_backend = _get_linalg_preferred_backend
_get_deterministic_algorithms_warn_only = _is_warn_only


def _set_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """Have operations answer the same every time, or refuse."""
    _use_deterministic_algorithms(mode, warn_only=warn_only)


def _kept(module: str, name: str) -> tuple[Callable[[], Any], Callable[[Any], None]]:
    """Return what asks a module for one of its settings, and what changes it."""

    def get() -> Any:
        return getattr(import_module(module, __package__), name)

    def change(value: Any) -> None:
        setattr(import_module(module, __package__), name, value)

    return get, change


_get_cudnn_enabled, _set_cudnn_enabled = _kept("...backends.cudnn", "enabled")
_get_cudnn_benchmark, _set_cudnn_benchmark = _kept("...backends.cudnn", "benchmark")
_get_cudnn_deterministic, _set_cudnn_deterministic = _kept("...backends.cudnn", "deterministic")
_get_cudnn_allow_tf32, _set_cudnn_allow_tf32 = _kept("...backends.cudnn", "allow_tf32")
_get_mkldnn_enabled, _set_mkldnn_enabled = _kept("...backends.mkldnn", "enabled")
_get_deterministic_fill_uninitialized_memory, _set_deterministic_fill_uninitialized_memory = _kept(
    "...utils.deterministic", "fill_uninitialized_memory"
)

_halves_in_short = {"cpu": False}


def _get_cpu_allow_fp16_reduced_precision_reduction() -> bool:
    """Tell whether sums of halves may be made in halves, which nothing here does."""
    return _halves_in_short["cpu"]


def _set_cpu_allow_fp16_reduced_precision_reduction(allowed: bool) -> None:
    """Say whether sums of halves may be made in halves."""
    _halves_in_short["cpu"] = allowed


# Libraries of quantised operations have a number in torch, by which they are asked for.
_ENGINES = {"none": 0, "fbgemm": 1, "qnnpack": 2, "onednn": 3, "x86": 4}


def _get_qengine() -> int:
    """Return the number of the library that quantised operations are computed by."""
    quantized: Any = import_module("...backends.quantized", __package__)

    return _ENGINES[quantized.engine]


def _supported_qengines() -> list[int]:
    """Return the numbers of those that could be chosen."""
    quantized: Any = import_module("...backends.quantized", __package__)

    return [_ENGINES[name] for name in quantized.supported_engines]


def _autocast_supported_devices() -> list[str]:
    """Return the types of devices that `autocast` has a meaning for."""
    known = ("cpu", "cuda", "mtia", "maia", "xpu", "ipu", "hpu", "xla", "privateuseone", "mps")
    return [name for name in known if _is_autocast_available(name)]


def _is_any_autocast_enabled() -> bool:
    """Tell whether some device computes in mixed precision."""
    return any(is_autocast_enabled(kind) for kind in _autocast_supported_devices())


class _DisableAutocast:
    """In the block, nothing is computed in mixed precision."""

    def __enter__(self) -> None:
        self._blocks = [autocast(kind, enabled=False) for kind in _autocast_supported_devices()]
        for block in self._blocks:
            block.__enter__()

    def __exit__(self, *exception: Any) -> None:
        for block in reversed(self._blocks):
            block.__exit__(*exception)

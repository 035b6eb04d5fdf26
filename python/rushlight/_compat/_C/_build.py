"""What programs ask of the build and of the machine: element types, instructions, idle settings."""

from __future__ import annotations

from ... import _rushlight as native
from ...backends.cpu import get_cpu_capability as _get_cpu_capability

__all__ = [
    "_GLIBCXX_USE_CXX11_ABI",
    "_get_all_dtypes",
    "_get_cpu_capability",
    "_get_graph_executor_optimize",
    "_has_cuda",
    "_has_cudnn",
    "_has_cusparselt",
    "_has_distributed",
    "_has_eigen_sparse",
    "_has_kleidiai",
    "_has_magma",
    "_has_mkldnn",
    "_has_mkldnn_acl",
    "_has_mps",
    "_has_xpu",
    "_is_xnnpack_enabled",
    "_llvm_enabled",
    "_set_graph_executor_optimize",
]

_GLIBCXX_USE_CXX11_ABI = _has_distributed = True
# Other devices, and libraries that torch may be built with.
_has_cuda = _has_cudnn = _has_cusparselt = _has_magma = _has_mps = _has_xpu = False
_has_eigen_sparse = _has_kleidiai = _has_mkldnn = _has_mkldnn_acl = False

_executor = {"optimize": True}


def _get_all_dtypes() -> list[native.dtype]:
    """Return every type that elements can have."""
    return [each for each in vars(native).values() if isinstance(each, native.dtype)]


def _get_graph_executor_optimize(new_setting: bool | None = None) -> bool:
    """Tell whether graphs are optimised before they are run, and say so; nothing is run by graphs."""
    before = _executor["optimize"]
    if new_setting is not None:
        _executor["optimize"] = new_setting
    return before


def _set_graph_executor_optimize(optimize: bool) -> None:
    """Say whether graphs are optimised."""
    _executor["optimize"] = optimize


def _is_xnnpack_enabled() -> bool:
    """Tell whether operations are computed by that library: never."""
    return False


_llvm_enabled = _is_xnnpack_enabled

"""What programs ask before they leave the CPU: there is no other device here."""

from __future__ import annotations

from typing import Any

from .._devices.absent import idle, refusing
from .._lazy import on_first_use
from .._module_aliases import add_module_aliases
from . import graphs, memory, random, streams
from ._utils import NO_DEVICE, device, device_of
from ._utils import _get_device_index as _get_device_index
from .graphs import *  # noqa: F403 - each says what it has
from .memory import *  # noqa: F403
from .random import *  # noqa: F403
from .streams import *  # noqa: F403

_CLASSES = (
    "BFloat16Tensor BoolTensor ByteTensor CharTensor DoubleTensor FloatTensor HalfTensor IntTensor "
    "LongTensor ShortTensor"
)
_REFUSED = (
    "current_device set_device get_device_name get_device_capability get_device_properties synchronize init "
    "_lazy_init current_stream default_stream get_stream_from_external current_blas_handle "
    "current_solver_handle ipc_collect can_device_access_peer cudart get_sync_debug_mode set_sync_debug_mode "
    "utilization memory_usage temperature power_draw clock_rate device_memory_used _sleep"
)

_ANSWERS: dict[str, Any] = {
    "is_initialized is_tf32_supported": False,
    "check_error": None,
    "get_arch_list": list,
    "get_gencode_flags": "",
}

idle(globals(), _ANSWERS)
# Calls that are put off are made when a device comes into use: never.
idle(globals(), {"_is_in_bad_fork": False, "_lazy_call": None})
refusing(globals(), _REFUSED, AssertionError, NO_DEVICE)

__getattr__, __dir__ = on_first_use(
    globals(),
    rooms={"amp", "jiterator", "nccl", "nvtx", "profiler"},
    places={"._classes": f"{_CLASSES} sparse"},
)

add_module_aliases(
    globals(),
    {
        "comm": {
            "rushlight.nn.parallel.comm": "broadcast broadcast_coalesced gather reduce_add "
            "reduce_add_coalesced scatter"
        }
    },
)

__all__ = [
    *(name for name in _REFUSED.split() if name[0] != "_"),
    *(name for names in _ANSWERS for name in names.split()),
    *graphs.__all__,
    *memory.__all__,
    *random.__all__,
    *streams.__all__,
    "device",
    "device_count",
    "device_of",
    "is_available",
    "is_bf16_supported",
]

default_generators: tuple[Any, ...] = ()
has_half = has_magma = _initialized = False


class DeferredCudaCallError(Exception):
    """A call that was put off until a device comes into use has failed."""


class CudaError(RuntimeError):
    """A device has failed."""

    def __init__(self, code: int) -> None:
        super().__init__(f"({code})")


def is_available() -> bool:
    """Tell whether there is a CUDA device: never.

    >>> import rushlight as torch
    >>> torch.device("cuda" if torch.cuda.is_available() else "cpu")
    device(type='cpu')
    """
    return False


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Tell whether the CUDA device calculates with `bfloat16`: there is none."""
    return False


def device_count() -> int:
    """Return the number of CUDA devices: none."""
    return 0

"""What programs for any device ask of the one that they run on."""

from __future__ import annotations

from typing import Any

from .._devices.absent import Switch
from .._lazy import on_first_use

__all__ = [
    "Event",
    "Stream",
    "StreamContext",
    "current_device",
    "current_stream",
    "device_count",
    "get_capabilities",
    "is_available",
    "is_initialized",
    "set_device",
    "stream",
    "synchronize",
]

__getattr__, __dir__ = on_first_use(globals(), rooms={"amp"})


def is_available() -> bool:
    """Tell whether there is a CPU.

    >>> import rushlight as torch
    >>> torch.cpu.is_available(), torch.cpu.device_count(), torch.cpu.current_device()
    (True, 1, 'cpu')
    """
    return True


def is_initialized() -> bool:
    """Tell whether the CPU can be used: always."""
    return True


def device_count() -> int:
    """Return the number of CPUs as devices: one, however many cores there are."""
    return 1


def current_device() -> str:
    """Return the name of the device."""
    return "cpu"


def get_capabilities() -> dict[str, Any]:
    """Return what the processor has, by name.

    >>> import rushlight as torch
    >>> isinstance(torch.cpu.get_capabilities()["avx2"], bool)
    True
    """
    from ..backends.cpu import capabilities

    return capabilities()


def _supports(name: str, *instructions: str) -> Any:
    def supported() -> bool:
        found = get_capabilities()
        return all(found[instruction] for instruction in instructions)

    supported.__name__ = supported.__qualname__ = name
    supported.__doc__ = "Tell whether the processor has these instructions."
    return supported


_is_avx2_supported = _supports("_is_avx2_supported", "avx2")
_is_avx512_supported = _supports("_is_avx512_supported", "avx512_f", "avx512_vl", "avx512_bw", "avx512_dq")
_is_avx512_bf16_supported = _supports("_is_avx512_bf16_supported", "avx512_bf16")
_is_vnni_supported = _supports("_is_vnni_supported", "avx512_vnni")
_is_amx_tile_supported = _supports("_is_amx_tile_supported", "amx_tile")
_is_amx_fp16_supported = _supports("_is_amx_fp16_supported", "amx_fp16")


def set_device(device: Any) -> None:
    """Choose the device. There is nothing to choose."""


def synchronize(device: Any = None) -> None:
    """Wait until everything is computed. Whatever was called is."""


class Stream:
    """The queue of the CPU, in which everything is done when its call returns."""

    def __init__(self, priority: int = -1) -> None:
        pass

    def wait_stream(self, stream: Any) -> None:
        """Do what comes after what is in another queue."""

    def record_event(self) -> None:
        """Record an event."""

    def wait_event(self, event: Any) -> None:
        """Do what comes after an event."""


class Event:
    """A moment in the queue."""

    def __init__(self, enable_timing: bool = False) -> None:
        pass

    def query(self) -> bool:
        """Tell whether everything before it is done: always."""
        return True

    def record(self, stream: Any = None) -> None:
        """Say that it is now."""

    def synchronize(self) -> None:
        """Wait for it."""

    def wait(self, stream: Any = None) -> None:
        """Do what comes after it."""


class StreamContext(Switch):
    """A block whose work goes into a queue."""


_stream = Stream()


def current_stream(device: Any = None) -> Stream:
    """Return the queue."""
    return _stream


def stream(stream: Stream) -> StreamContext:
    """Return a block whose work goes into a queue."""
    return StreamContext(stream)

"""The device that functions make tensors on where none is named."""

from __future__ import annotations

from threading import local
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from ..overrides import TorchFunctionMode
from ._contextlib import context_decorator

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_NAMES = """
arange as_tensor asarray bartlett_window blackman_window empty empty_permuted empty_strided eye fftfreq full
hamming_window hann_window kaiser_window linspace logspace ones rand randint randn randperm range rfftfreq
scalar_tensor tensor tril_indices triu_indices zeros
"""
_MAKING = frozenset(_NAMES.split())


class _Chosen(local):
    """What a thread has chosen: the innermost block, and the default outside of all blocks."""

    context: DeviceContext | None = None
    default: DeviceContext | None = None


_chosen = _Chosen()


class DeviceContext(TorchFunctionMode):
    """A block in which tensors are made on a device; there is none but the CPU that they can be made on."""

    def __init__(self, device: Any) -> None:
        self.device = native.device(device)
        self._outer: DeviceContext | None = None
        self._looks = False

    def __enter__(self) -> DeviceContext:
        self._outer, _chosen.context = _chosen.context, self
        # Where the CPU is chosen anyway, no call has to be looked at.
        self._looks = self.device.type != "cpu" or (self._outer is not None and self._outer._looks)
        if self._looks:
            super().__enter__()
        return self

    def __exit__(self, exc_type: object, exc_val: object, exc_tb: object) -> None:
        _chosen.context = self._outer
        if self._looks:
            super().__exit__(exc_type, exc_val, exc_tb)

    def __torch_function__(
        self, func: Callable[..., Any], types: Sequence[type], args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if getattr(func, "__name__", "") in _MAKING and kwargs.get("device") is None:
            kwargs["device"] = self.device
        return func(*args, **kwargs)


def _enter(device: native.device) -> native.device:
    """Begin a block of a device: `with torch.device("cpu"):`."""
    context = DeviceContext(device)
    context.__enter__()
    return device


def _exit(_: native.device, *exception: Any) -> None:
    """End the innermost block of a device."""
    if _chosen.context is not None:
        _chosen.context.__exit__(None, None, None)


def get_default_device() -> native.device:
    """Return the device that tensors are made on where none is named.

    >>> import rushlight as torch
    >>> torch.get_default_device()
    device(type='cpu')
    """
    chosen = _chosen.context
    if chosen is None:
        return native.device("cpu")
    return (
        chosen.device if chosen.device.index is not None else native.tensor([], device=chosen.device).device
    )


def set_default_device(device: Any) -> None:
    """Say which device tensors are made on where none is named. There is none but the CPU.

    >>> import rushlight as torch
    >>> torch.set_default_device("cpu")
    """
    if _chosen.default is not None:
        _chosen.default.__exit__(None, None, None)
    _chosen.default = None
    if device is not None:
        context = DeviceContext(device)
        context.__enter__()
        _chosen.default = context


def device_decorator(device: Any, func: Any) -> Any:
    """Have a function make tensors on a device where none is named."""
    return context_decorator(lambda: DeviceContext(device), func)


def set_device(device: Any) -> Callable[[Any], Any]:
    """Have the functions that this decorates, or a class's, make tensors on a device where none is named."""
    return lambda func: device_decorator(native.device(device), func)

"""Windows of signals, as spectra are seen through."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from .. import _rushlight as native
from .._calls.showing import taking
from .._messages.formatting import name_in_c
from .._rushlight import Tensor

if TYPE_CHECKING:
    from typing import Any

    from .._calls.showing import Function

__all__ = ["bartlett_window", "blackman_window", "hamming_window", "hann_window", "kaiser_window"]


def _window(name: str, length: int, periodic: bool, options: dict[str, Any], shape: Any) -> Tensor:
    """Return a window that `shape` makes of the places of its elements and the last of them."""
    dtype = options.get("dtype") or native.get_default_dtype()
    if not dtype.is_floating_point:
        # The default is said in full, as tensor options are.
        raise RuntimeError(
            f"{name} expects floating point dtypes, got: TensorOptions(dtype={name_in_c(dtype)}, "
            "device=cpu, layout=Strided (default), requires_grad=false (default), pinned_memory=false, "
            "memory_format=(nullopt))"
        )
    if length < 0:
        raise RuntimeError(f"{name} requires non-negative window_length, got window_length={length}")
    grad = options.get("requires_grad", False)
    device = options.get("device")
    if length < 2:
        return native.ones(length, dtype=dtype, device=device, requires_grad=grad)
    last = length if periodic else length - 1
    made: Tensor = shape(native.arange(length, dtype=dtype, device=device), last)
    return made.requires_grad_() if grad else made


def _taking(*numbers: str) -> Callable[[Function], Function]:
    """Decorate a window: whether it is periodic may be given, and then its numbers, one after the other."""
    options = (
        "*, dtype? dtype=None, layout? layout=None, device? device=None, bool? pin_memory=False, "
        "bool requires_grad=False"
    )
    given = ["int window_length", "bool periodic", *(f"float {number}" for number in numbers)]
    return taking(*(f"({', '.join(given[:count])}, {options})" for count in range(1, len(given) + 1)))


@_taking()
def hann_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Return von Hann's window; a periodic one lacks the element at its end.

    >>> import rushlight as torch
    >>> torch.hann_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """

    def shape(places: Tensor, last: int) -> Tensor:
        return 0.5 - 0.5 * (places * (2 * math.pi / last)).cos()

    return _window("hann_window", window_length, periodic, options, shape)


@_taking("alpha", "beta")
def hamming_window(
    window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, **options: Any
) -> Tensor:
    """Return Hamming's window; a periodic one lacks the element at its end.

    >>> import rushlight as torch
    >>> torch.hamming_window(4)
    tensor([0.0800, 0.5400, 1.0000, 0.5400])
    """

    def shape(places: Tensor, last: int) -> Tensor:
        return alpha - beta * (places * (2 * math.pi / last)).cos()

    return _window("hamming_window", window_length, periodic, options, shape)


@_taking()
def bartlett_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Return a triangle; a periodic one lacks the element at its end.

    >>> import rushlight as torch
    >>> torch.bartlett_window(4)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """

    def shape(places: Tensor, last: int) -> Tensor:
        return 1 - (places * (2 / last) - 1).abs()

    return _window("bartlett_window", window_length, periodic, options, shape)


@_taking()
def blackman_window(window_length: int, periodic: bool = True, **options: Any) -> Tensor:
    """Return Blackman's window; a periodic one lacks the element at its end.

    >>> import rushlight as torch
    >>> torch.blackman_window(4)
    tensor([-2.9802e-08,  3.4000e-01,  1.0000e+00,  3.4000e-01])
    """

    def shape(places: Tensor, last: int) -> Tensor:
        angles = places * (math.pi / last)
        return (4 * angles).cos() * 0.08 - (2 * angles).cos() * 0.5 + 0.42

    return _window("blackman_window", window_length, periodic, options, shape)


@_taking("beta")
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, **options: Any) -> Tensor:
    """Return Kaiser's window; a periodic one lacks the element at its end.

    >>> import rushlight as torch
    >>> torch.kaiser_window(3, False, 0.0)
    tensor([1., 1., 1.])
    """

    def shape(places: Tensor, last: int) -> Tensor:
        from_middle = places * (2 / last) - 1
        height = native.i0(native.tensor(float(beta), dtype=places.dtype))
        return native.i0(beta * (1 - from_middle**2).clamp(min=0).sqrt()) / height

    return _window("kaiser_window", window_length, periodic, options, shape)

"""Windows that fade signals out at their ends, with a maximum of one.

>>> import rushlight as torch
>>> torch.signal.windows.bartlett(5)
tensor([0.0000, 0.5000, 1.0000, 0.5000, 0.0000])
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native

if TYPE_CHECKING:
    from .._rushlight import Tensor, dtype

__all__ = [
    "bartlett",
    "blackman",
    "cosine",
    "exponential",
    "gaussian",
    "general_cosine",
    "general_hamming",
    "hamming",
    "hann",
    "kaiser",
    "nuttall",
]


def _options(
    name: str, length: int, dtype: dtype | None, layout: Any, device: Any, requires_grad: bool
) -> dict[str, Any]:
    """Return the options of the elements, after a look at them and at the length."""
    kind = dtype or native.get_default_dtype()
    if length < 0:
        raise ValueError(f"{name} requires non-negative window length, got M={length}")
    if layout is not native.strided:
        raise ValueError(f"{name} is implemented for strided tensors only, got: {layout}")
    if kind not in (native.float32, native.float64):
        shown = str(kind).replace("rushlight", "torch")
        raise ValueError(f"{name} expects float32 or float64 dtypes, got: {shown}")
    return {"dtype": kind, "layout": layout, "device": device, "requires_grad": requires_grad}


def _places(start: float, step: float, length: int, options: dict[str, Any]) -> Tensor:
    return native.linspace(start=start, end=start + (length - 1) * step, steps=length, **options)


def _span(length: int, sym: bool) -> int:
    """Return over how many steps a window goes: a periodic one stops one before the end."""
    return length - 1 if sym else length


def exponential(
    M: int,
    *,
    center: float | None = None,
    tau: float = 1.0,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a window that falls off exponentially on both sides of its middle.

    >>> import rushlight as torch
    >>> torch.signal.windows.exponential(3, tau=1.0)
    tensor([0.3679, 1.0000, 0.3679])
    """
    made = _options("exponential", M, dtype, layout, device, requires_grad)
    if tau <= 0:
        raise ValueError(f"Tau must be positive, got: {tau} instead.")
    if sym and center is not None:
        raise ValueError("Center must be None for symmetric windows")
    if M == 0:
        return native.empty((0,), **made)
    if center is None:
        center = _span(M, sym or M == 1) / 2.0
    return (-_places(-center / tau, 1 / tau, M, made).abs()).exp()


def cosine(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return half a wave.

    >>> import rushlight as torch
    >>> torch.signal.windows.cosine(3)
    tensor([0.5000, 1.0000, 0.5000])
    """
    made = _options("cosine", M, dtype, layout, device, requires_grad)
    if M == 0:
        return native.empty((0,), **made)
    step = math.pi / (M if sym or M == 1 else M + 1)
    return _places(0.5 * step, step, M, made).sin()


def gaussian(
    M: int,
    *,
    std: float = 1.0,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a bell of that width.

    >>> import rushlight as torch
    >>> torch.signal.windows.gaussian(3, std=1.0)
    tensor([0.6065, 1.0000, 0.6065])
    """
    made = _options("gaussian", M, dtype, layout, device, requires_grad)
    if std <= 0:
        raise ValueError(f"Standard deviation must be positive, got: {std} instead.")
    if M == 0:
        return native.empty((0,), **made)
    step = 1 / (std * math.sqrt(2))
    return (-(_places(-_span(M, sym or M == 1) / 2.0 * step, step, M, made) ** 2)).exp()


def kaiser(
    M: int,
    *,
    beta: float = 12.0,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return the window that has most of its energy in its main lobe, whose width `beta` says.

    >>> import rushlight as torch
    >>> torch.signal.windows.kaiser(3, beta=0.0)
    tensor([1., 1., 1.])
    """
    made = _options("kaiser", M, dtype, layout, device, requires_grad)
    if beta < 0:
        raise ValueError(f"beta must be non-negative, got: {beta} instead.")
    if M in (0, 1):
        return native.ones((int(M),), **made)
    shape = native.tensor(beta, dtype=made["dtype"])
    step = 2.0 * shape / _span(M, sym)
    end = min(shape.item(), (-shape + (M - 1) * step).item())
    places = native.linspace(start=-shape.item(), end=end, steps=M, **made)
    return native.i0((shape * shape - places**2).sqrt()) / native.i0(shape)


def bartlett(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a triangle.

    >>> import rushlight as torch
    >>> torch.signal.windows.bartlett(4, sym=False)
    tensor([0.0000, 0.5000, 1.0000, 0.5000])
    """
    made = _options("bartlett", M, dtype, layout, device, requires_grad)
    if M in (0, 1):
        return native.ones((int(M),), **made)
    return 1 - _places(-1, 2 / _span(M, sym), M, made).abs()


def general_cosine(
    M: int,
    *,
    a: Iterable[float],
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a sum of waves of these weights, whose signs alternate.

    >>> import rushlight as torch
    >>> torch.signal.windows.general_cosine(3, a=[0.5, 0.5])
    tensor([0., 1., 0.])
    """
    made = _options("general_cosine", M, dtype, layout, device, requires_grad)
    if M in (0, 1):
        return native.ones((int(M),), **made)
    if not isinstance(a, Iterable):
        raise TypeError("Coefficients must be a list/tuple")
    if not a:
        raise ValueError("Coefficients cannot be empty")
    angles = _places(0, 2 * math.pi / _span(M, sym), M, made)
    del made["layout"]
    weights = native.tensor([(-1) ** number * weight for number, weight in enumerate(a)], **made)
    numbers = native.arange(weights.shape[0], **made)
    return (weights.unsqueeze(-1) * (numbers.unsqueeze(-1) * angles).cos()).sum(0)


def general_hamming(
    M: int,
    *,
    alpha: float = 0.54,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return a wave and what lifts it.

    >>> import rushlight as torch
    >>> torch.signal.windows.general_hamming(3, alpha=0.5)
    tensor([0., 1., 0.])
    """
    return general_cosine(
        M,
        a=[alpha, 1.0 - alpha],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def hamming(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return Hamming's window, which does not fall to zero.

    >>> import rushlight as torch
    >>> torch.signal.windows.hamming(3)
    tensor([0.0800, 1.0000, 0.0800])
    """
    return general_hamming(M, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad)


def hann(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return von Hann's window, one wave that touches zero.

    >>> import rushlight as torch
    >>> torch.signal.windows.hann(3)
    tensor([0., 1., 0.])
    """
    return general_hamming(
        M, alpha=0.5, sym=sym, dtype=dtype, layout=layout, device=device, requires_grad=requires_grad
    )


def blackman(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return Blackman's window of three waves.

    >>> import rushlight as torch
    >>> torch.signal.windows.blackman(3)
    tensor([-1.4901e-08,  1.0000e+00, -1.4901e-08])
    """
    _options("blackman", M, dtype, layout, device, requires_grad)
    return general_cosine(
        M,
        a=[0.42, 0.5, 0.08],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )


def nuttall(
    M: int,
    *,
    sym: bool = True,
    dtype: dtype | None = None,
    layout: Any = native.strided,
    device: Any = None,
    requires_grad: bool = False,
) -> Tensor:
    """Return Nuttall's window of four waves.

    >>> import rushlight as torch
    >>> torch.signal.windows.nuttall(3)
    tensor([3.6280e-04, 1.0000e+00, 3.6280e-04])
    """
    return general_cosine(
        M,
        a=[0.3635819, 0.4891775, 0.1365995, 0.0106411],
        sym=sym,
        dtype=dtype,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )

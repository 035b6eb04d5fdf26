"""Fourier transforms.

>>> import rushlight as torch
>>> torch.fft.fft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
tensor([10.+0.j, -2.+2.j, -2.+0.j, -2.-2.j])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import _rushlight as native
from ._calls.showing import shown_as_given, taking
from ._functions.fourier import check_size, dimension, dimensions_and_sizes, divisor, inexact, points, resized
from ._rushlight import Tensor
from ._tensors.typename import scalar_name

if TYPE_CHECKING:
    from typing import Any


__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

_nn = native._nn


def _one(
    input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool, out: Tensor | None
) -> Tensor:
    name = "fft_fft" if forward else "fft_ifft"
    input = inexact(input, False)
    dim = dimension(input, dim)
    input = resized(input, [dim], [points(n)])
    if input.is_complex():
        return native._written(name, _nn.fft_c2c(input, [dim], divisor(norm, forward), forward), out)
    # The direction counts for the conjugates of the result only.
    found = _nn.fft_r2c(input, [dim], divisor(norm, forward), False)
    return native._written(name, found if forward else found.conj(), out)


def _several(input: Tensor, s: Any, dim: Any, norm: str | None, forward: bool, out: Tensor | None) -> Tensor:
    input = inexact(input, True)
    dims, sizes = dimensions_and_sizes(input, s, dim)
    input = resized(input, dims, sizes)
    return native._written(
        "fft_fftn" if forward else "fft_ifftn", _nn.fft_c2c(input, dims, divisor(norm, forward), forward), out
    )


@shown_as_given
def fft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the Fourier transform along a dimension, of `n` elements.

    >>> import rushlight as torch
    >>> torch.fft.fft(torch.tensor([1.0, 0.0]))
    tensor([1.+0.j, 1.+0.j])
    """
    return _one(input, n, dim, norm, True, out)


@shown_as_given
def ifft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return what has this Fourier transform along a dimension.

    >>> import rushlight as torch
    >>> torch.fft.ifft(torch.fft.fft(torch.tensor([1.0, 2.0]))).real
    tensor([1., 2.])
    """
    return _one(input, n, dim, norm, False, out)


@shown_as_given
def fftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the Fourier transform along several dimensions.

    >>> import rushlight as torch
    >>> torch.fft.fftn(torch.ones(2, 2)).real
    tensor([[4., 0.],
            [0., 0.]])
    """
    return _several(input, s, dim, norm, True, out)


@shown_as_given
def ifftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return what has this Fourier transform along several dimensions."""
    return _several(input, s, dim, norm, False, out)


@shown_as_given
def fft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the Fourier transform along two dimensions."""
    return fftn(input, s, dim, norm, out=out)


@shown_as_given
def ifft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return what has this Fourier transform along two dimensions."""
    return ifftn(input, s, dim, norm, out=out)


def _of_real(input: Tensor, function: str) -> Tensor:
    if input.is_complex():
        kind = "real-valued" if function.endswith("n") else "real"
        if function == "ihfftn":
            raise RuntimeError(f"Only supports floating-point dtypes, but found: {scalar_name(input)}")
        raise RuntimeError(f"{function} expects a {kind} input tensor, but got {scalar_name(input)}")
    return inexact(input, False)


def _half(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    """Return the half of the transform of real numbers along one dimension."""
    dim = dimension(input, dim)
    input = resized(input, [dim], [points(n)])
    return _nn.fft_r2c(input, [dim], divisor(norm, forward), True)


@shown_as_given
def rfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the half of the Fourier transform of real numbers that says the rest too.

    >>> import rushlight as torch
    >>> torch.fft.rfft(torch.tensor([1.0, 2.0, 3.0, 4.0]))
    tensor([10.+0.j, -2.+2.j, -2.+0.j])
    """
    return native._written("fft_rfft", _half(_of_real(input, "rfft"), n, dim, norm, True), out)


def _as_half(input: Tensor, dims: list[int], sizes: list[int]) -> tuple[Tensor, int]:
    """Resize what is half of its transform along the last dimension; return also the full size there."""
    last = 2 * (input.shape[dims[-1]] - 1) if sizes[-1] == -1 else sizes[-1]
    check_size(last)
    return resized(input, dims, [*sizes[:-1], last // 2 + 1]), last


def _axes(input: Tensor, s: Any, dim: Any, function: str) -> tuple[list[int], list[int]]:
    """Return the dimensions to transform over, of which there has to be one, and sizes for them."""
    dims, sizes = dimensions_and_sizes(input, s, dim)
    if not dims:
        raise RuntimeError(f"{function} must transform at least one axis")
    return dims, sizes


def _of_half(input: Tensor, n: int | None, dim: int, norm: str | None, forward: bool) -> Tensor:
    """Return the real numbers whose transform along one dimension has this half, or that it stands for."""
    input = inexact(input, True)
    dim = dimension(input, dim)
    input, size = _as_half(input, [dim], [points(n)])
    return _nn.fft_c2r(input.conj() if forward else input, [dim], divisor(norm, forward), size)


@shown_as_given
def irfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the real numbers whose Fourier transform has this half.

    >>> import rushlight as torch
    >>> torch.fft.irfft(torch.fft.rfft(torch.tensor([1.0, 2.0, 3.0, 4.0])))
    tensor([1., 2., 3., 4.])
    """
    return native._written("fft_irfft", _of_half(input, n, dim, norm, False), out)


@shown_as_given
def rfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return `rfft` along the last of several dimensions, and `fft` along the others."""
    input = _of_real(input, "rfftn")
    dims, sizes = _axes(input, s, dim, "rfftn")
    input = resized(input, dims, sizes)
    return native._written("fft_rfftn", _nn.fft_r2c(input, dims, divisor(norm, True), True), out)


@shown_as_given
def irfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return the real numbers that have this `rfftn`."""
    input = inexact(input, True)
    dims, sizes = _axes(input, s, dim, "irfftn")
    input, last = _as_half(input, dims, sizes)
    return native._written("fft_irfftn", _nn.fft_c2r(input, dims, divisor(norm, False), last), out)


@shown_as_given
def rfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return `rfftn` along two dimensions."""
    return rfftn(input, s, dim, norm, out=out)


@shown_as_given
def irfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return `irfftn` along two dimensions."""
    return irfftn(input, s, dim, norm, out=out)


@shown_as_given
def hfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the Fourier transform, which is real, of the numbers that this half stands for.

    >>> import rushlight as torch
    >>> torch.fft.hfft(torch.tensor([1.0, 2.0]))
    tensor([ 3., -1.])
    """
    return native._written("fft_hfft", _of_half(input, n, dim, norm, True), out)


@shown_as_given
def ihfft(
    input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None, *, out: Tensor | None = None
) -> Tensor:
    """Return the half of the numbers whose Fourier transform is real."""
    return native._written("fft_ihfft", _half(_of_real(input, "ihfft"), n, dim, norm, False).conj(), out)


@shown_as_given
def hfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return `hfft` along the last of several dimensions, and `fft` along the others."""
    input = inexact(input, True)
    dims, sizes = _axes(input, s, dim, "hfftn")
    input, last = _as_half(input, dims, sizes)
    if dims[:-1]:
        input = _nn.fft_c2c(input, dims[:-1], divisor(norm, True), True)
    return native._written("fft_hfftn", _nn.fft_c2r(input.conj(), dims[-1:], divisor(norm, True), last), out)


@shown_as_given
def ihfftn(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] | None = None,
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return what has this `hfftn`, as far as the half that says the rest too."""
    dims, sizes = _axes(input, s, dim, "ihfftn")
    input = resized(_of_real(input, "ihfftn"), dims, sizes)
    if any(input.shape[place] == 0 for place in dims):
        raise RuntimeError("Invalid number of data points (0) specified")
    found = _nn.fft_r2c(input, dims[-1:], divisor(norm, False), True)
    if not dims[:-1]:
        return native._written("fft_ihfftn", found.conj(), out)
    return native._written(
        "fft_ihfftn", _nn.fft_c2c(found.conj_physical(), dims[:-1], divisor(norm, False), False), out
    )


@shown_as_given
def hfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return `hfftn` along two dimensions."""
    return hfftn(input, s, dim, norm, out=out)


@shown_as_given
def ihfft2(
    input: Tensor,
    s: int | Sequence[int] | None = None,
    dim: int | Sequence[int] = (-2, -1),
    norm: str | None = None,
    *,
    out: Tensor | None = None,
) -> Tensor:
    """Return `ihfftn` along two dimensions."""
    return ihfftn(input, s, dim, norm, out=out)


def _numbers(function: str, count: int, options: dict[str, Any]) -> Tensor:
    """Return so many numbers from zero on, in a type that has fractions."""
    if count < 0:
        raise RuntimeError(f"Trying to create tensor with negative dimension {count}: [{count}]")
    kind = options.get("dtype")
    if kind is not None and not (kind.is_floating_point or kind.is_complex):
        raise RuntimeError(f"{function} requires a floating point or complex dtype")
    return native.arange(count, **{"dtype": native.get_default_dtype(), **options})


def _inverse(length: float) -> float:
    return 1.0 / length if length != 0 else math.inf


_taking_options = taking(
    "(int n, float d=1.0, *, Tensor? out=None, dtype? dtype=None, layout? layout=None, device? device=None, "
    "bool? pin_memory=False, bool requires_grad=False)"
)


@_taking_options
def fftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, **options: Any) -> Tensor:
    """Return the frequencies of the elements of a transform of `n` elements that are `d` apart.

    >>> import rushlight as torch
    >>> torch.fft.fftfreq(4)
    tensor([ 0.0000,  0.2500, -0.5000, -0.2500])
    """
    numbers = _numbers("fftfreq", n, options)
    numbers[(n + 1) // 2 :] -= n
    return native._written("fft_fftfreq", numbers * _inverse(n * d), out)


@_taking_options
def rfftfreq(n: int, d: float = 1.0, *, out: Tensor | None = None, **options: Any) -> Tensor:
    """Return the frequencies of the elements of `rfft` of `n` elements that are `d` apart.

    >>> import rushlight as torch
    >>> torch.fft.rfftfreq(4)
    tensor([0.0000, 0.2500, 0.5000])
    """
    return native._written(
        "fft_rfftfreq", _numbers("rfftfreq", int(n / 2) + 1, options) * _inverse(n * d), out
    )


def _moved(input: Tensor, dim: Any, back: bool) -> Tensor:
    dims = list(range(input.dim())) if dim is None else [dim] if isinstance(dim, int) else list(dim)
    if not dims:
        return input.clone()
    sizes = [input.shape[dimension(input, one)] for one in dims]
    return native.roll(input, [(size + 1) // 2 if back else size // 2 for size in sizes], dims)


@shown_as_given
def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Move the frequency zero from the front to the middle.

    >>> import rushlight as torch
    >>> torch.fft.fftshift(torch.fft.fftfreq(4))
    tensor([-0.5000, -0.2500,  0.0000,  0.2500])
    """
    return _moved(input, dim, False)


@shown_as_given
def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Move the frequency zero back from the middle to the front.

    >>> import rushlight as torch
    >>> torch.fft.ifftshift(torch.tensor([-1, 0, 1]))
    tensor([ 0,  1, -1])
    """
    return _moved(input, dim, True)

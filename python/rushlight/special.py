"""Special functions, under the names that mathematics has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _rushlight as native

if TYPE_CHECKING:
    from ._rushlight import Tensor

_HALF_ROOT = 0.5**0.5
_nn = native._nn

digamma = psi = native.digamma
entr = _nn.special_entr
erf = native.erf
erfc = native.erfc
erfcx = _nn.special_erfcx
erfinv = native.erfinv
exp2 = native.exp2
expit = native.sigmoid
expm1 = native.expm1
gammaln = native.lgamma
i0 = native.i0
i0e = _nn.special_i0e
i1 = _nn.special_i1
i1e = _nn.special_i1e
log1p = native.log1p
log_softmax = native.log_softmax
logit = native.logit
logsumexp = native.logsumexp
multigammaln = _nn.special_multigammaln
polygamma = native.polygamma
round = native.round
sinc = native.sinc
softmax = native.softmax
xlog1py = _nn.special_xlog1py
xlogy = native.xlogy

__all__ = [
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammaln",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]


def _real(input: Tensor) -> Tensor:
    return input if input.is_floating_point() else input.to(native.get_default_dtype())


def ndtr(input: Tensor) -> Tensor:
    """Return the probability of normal numbers up to each element.

    >>> import rushlight as torch
    >>> torch.special.ndtr(torch.tensor([0.0, 3.0]))
    tensor([0.5000, 0.9987])
    """
    return native.erfc(_real(input) * -_HALF_ROOT) / 2


def log_ndtr(input: Tensor) -> Tensor:
    """Return the logarithm of `ndtr`, exact far below zero too."""
    (found,) = native._as_one(
        _log_ndtr, ("special_log_ndtr", "SpecialLogNdtrBackward0", "self result"), (1, 0, 0), {}, input
    )
    return found


def _log_ndtr(input: Tensor) -> Tensor:
    t = _real(input) * _HALF_ROOT
    low = t.clamp(max=0)
    far = (erfcx(-low) / 2).log() - low * low
    # Where the probability is near to one, what is missing from one says more.
    near = (-native.erfc(t.clamp(min=-1.0)) / 2).log1p()
    return native.where(t < -_HALF_ROOT, far, near)


def ndtri(input: Tensor) -> Tensor:
    """Return the number below which normal numbers are with each probability."""
    (found,) = native._as_one(
        _ndtri, ("special_ndtri", "SpecialNdtriBackward0", "- result"), (1, 0, 0), {}, input
    )
    return found


def _ndtri(input: Tensor) -> Tensor:
    return native.erfinv(_real(input) * 2 - 1) / _HALF_ROOT

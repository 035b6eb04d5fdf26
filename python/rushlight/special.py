"""Special functions, under the names that mathematics has for them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from . import _rushlight as native
from ._calls.showing import shown_as_given

if TYPE_CHECKING:
    from ._rushlight import Tensor

_HALF_ROOT = 0.5**0.5
_nn = native._nn

airy_ai = _nn.special_airy_ai
bessel_j0 = _nn.special_bessel_j0
bessel_j1 = _nn.special_bessel_j1
bessel_y0 = _nn.special_bessel_y0
bessel_y1 = _nn.special_bessel_y1
chebyshev_polynomial_t = _nn.special_chebyshev_polynomial_t
chebyshev_polynomial_u = _nn.special_chebyshev_polynomial_u
chebyshev_polynomial_v = _nn.special_chebyshev_polynomial_v
chebyshev_polynomial_w = _nn.special_chebyshev_polynomial_w
digamma = _nn.special_digamma
entr = _nn.special_entr
erf = _nn.special_erf
erfc = _nn.special_erfc
erfcx = _nn.special_erfcx
erfinv = _nn.special_erfinv
exp2 = _nn.special_exp2
expit = _nn.special_expit
expm1 = _nn.special_expm1
gammainc = _nn.special_gammainc
gammaincc = _nn.special_gammaincc
gammaln = _nn.special_gammaln
hermite_polynomial_h = _nn.special_hermite_polynomial_h
hermite_polynomial_he = _nn.special_hermite_polynomial_he
i0 = _nn.special_i0
i0e = _nn.special_i0e
i1 = _nn.special_i1
i1e = _nn.special_i1e
laguerre_polynomial_l = _nn.special_laguerre_polynomial_l
legendre_polynomial_p = _nn.special_legendre_polynomial_p
log1p = _nn.special_log1p
log_softmax = _nn.special_log_softmax
logit = _nn.special_logit
logsumexp = _nn.special_logsumexp
modified_bessel_i0 = _nn.special_modified_bessel_i0
modified_bessel_i1 = _nn.special_modified_bessel_i1
modified_bessel_k0 = _nn.special_modified_bessel_k0
modified_bessel_k1 = _nn.special_modified_bessel_k1
multigammaln = _nn.special_multigammaln
ndtri = _nn.special_ndtri
polygamma = _nn.special_polygamma
psi = _nn.special_psi
scaled_modified_bessel_k0 = _nn.special_scaled_modified_bessel_k0
scaled_modified_bessel_k1 = _nn.special_scaled_modified_bessel_k1
shifted_chebyshev_polynomial_t = _nn.special_shifted_chebyshev_polynomial_t
shifted_chebyshev_polynomial_u = _nn.special_shifted_chebyshev_polynomial_u
shifted_chebyshev_polynomial_v = _nn.special_shifted_chebyshev_polynomial_v
shifted_chebyshev_polynomial_w = _nn.special_shifted_chebyshev_polynomial_w
sinc = _nn.special_sinc
softmax = _nn.special_softmax
spherical_bessel_j0 = _nn.special_spherical_bessel_j0
xlog1py = _nn.special_xlog1py
xlogy = _nn.special_xlogy
zeta = _nn.special_zeta

__all__ = [
    "airy_ai",
    "bessel_j0",
    "bessel_j1",
    "bessel_y0",
    "bessel_y1",
    "chebyshev_polynomial_t",
    "chebyshev_polynomial_u",
    "chebyshev_polynomial_v",
    "chebyshev_polynomial_w",
    "digamma",
    "entr",
    "erf",
    "erfc",
    "erfcx",
    "erfinv",
    "exp2",
    "expit",
    "expm1",
    "gammainc",
    "gammaincc",
    "gammaln",
    "hermite_polynomial_h",
    "hermite_polynomial_he",
    "i0",
    "i0e",
    "i1",
    "i1e",
    "laguerre_polynomial_l",
    "legendre_polynomial_p",
    "log1p",
    "log_ndtr",
    "log_softmax",
    "logit",
    "logsumexp",
    "modified_bessel_i0",
    "modified_bessel_i1",
    "modified_bessel_k0",
    "modified_bessel_k1",
    "multigammaln",
    "ndtr",
    "ndtri",
    "polygamma",
    "psi",
    "round",
    "scaled_modified_bessel_k0",
    "scaled_modified_bessel_k1",
    "shifted_chebyshev_polynomial_t",
    "shifted_chebyshev_polynomial_u",
    "shifted_chebyshev_polynomial_v",
    "shifted_chebyshev_polynomial_w",
    "sinc",
    "softmax",
    "spherical_bessel_j0",
    "xlog1py",
    "xlogy",
    "zeta",
]


def _real(input: Tensor) -> Tensor:
    return input if input.is_floating_point() else input.to(native.get_default_dtype())


@shown_as_given
def ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the probability of normal numbers up to each element.

    >>> import rushlight as torch
    >>> torch.special.ndtr(torch.tensor([0.0, 3.0]))
    tensor([0.5000, 0.9987])
    """
    root = native._nn.mul_number(_real(input), _HALF_ROOT)
    found = native._nn.mul_number(native._nn.add_number(native.erf(root), 1.0), 0.5)
    return native._written("ndtr", found, out)


@shown_as_given
def log_ndtr(input: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Return the logarithm of `ndtr`, exact far below zero too.

    >>> import rushlight as torch
    >>> torch.special.log_ndtr(torch.tensor([0.0]))
    tensor([-0.6931])
    """
    found = native._nn.special_log_ndtr(_real(input))
    return native._written("special_log_ndtr", found, out)


@shown_as_given
def round(input: Tensor, *, decimals: int = 0, out: Tensor | None = None) -> Tensor:
    """Return every element rounded to so many decimal places, halves to even ones.

    >>> import rushlight as torch
    >>> torch.special.round(torch.tensor([0.5, 1.5]))
    tensor([0., 2.])
    """
    return native.round(input, decimals=decimals, out=out)

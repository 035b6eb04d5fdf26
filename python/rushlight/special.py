"""Special functions, under the names that mathematics has for them."""

from __future__ import annotations

from . import _rushlight as native

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
    "log_softmax",
    "logit",
    "logsumexp",
    "polygamma",
    "psi",
    "round",
    "sinc",
    "softmax",
    "xlog1py",
    "xlogy",
]

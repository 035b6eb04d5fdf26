"""Gradients of recorded computations: `backward` accumulates them, `grad` returns them."""

from . import forward_ad
from . import function
from .anomaly_mode import detect_anomaly, set_detect_anomaly
from .differentiate import backward, grad
from .function import Function
from .grad_mode import enable_grad, no_grad, set_grad_enabled

# `gradcheck` is the function, as in torch; its module of the same name stays importable.
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "detect_anomaly",
    "enable_grad",
    "forward_ad",
    "function",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "no_grad",
    "set_detect_anomaly",
    "set_grad_enabled",
]

"""Gradients of recorded computations: `backward` accumulates them, `grad` returns them."""

from .._rushlight import _is_multithreading_enabled as is_multithreading_enabled
from . import forward_ad
from .differentiate import backward, grad
from .grad_mode import (
    enable_grad,
    enforce_grad_layout_policy,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)

# `gradcheck` is the function, as in torch; its module of the same name stays importable.
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "GradcheckError",
    "backward",
    "enable_grad",
    "enforce_grad_layout_policy",
    "forward_ad",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "inference_mode",
    "is_multithreading_enabled",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

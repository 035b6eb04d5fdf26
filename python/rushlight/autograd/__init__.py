"""Gradients of recorded computations: `backward` accumulates them, `grad` returns them."""

from . import function, graph
from .differentiate import backward, grad
from .function import Function
from .graph import _unsafe_preserve_version_counter as _unsafe_preserve_version_counter
from .grad_mode import enable_grad, no_grad, set_grad_enabled

# `gradcheck` is the function, as in torch; its module of the same name stays importable.
from .gradcheck import GradcheckError, gradcheck, gradgradcheck

__all__ = [
    "Function",
    "GradcheckError",
    "backward",
    "enable_grad",
    "function",
    "grad",
    "gradcheck",
    "gradgradcheck",
    "graph",
    "no_grad",
    "set_grad_enabled",
]

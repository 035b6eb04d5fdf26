"""Comparing gradients with finite differences."""

from ._tensors import GradcheckError
from .check import gradcheck, gradgradcheck
from .helpers import get_analytical_jacobian, get_numerical_jacobian
from .numerical import get_numerical_jacobian_wrt_specific_input

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]

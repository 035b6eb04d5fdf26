"""Comparing gradients with finite differences."""

from __future__ import annotations

from ..._lazy import on_first_use
from ._tensors import GradcheckError
from .check import gradcheck, gradgradcheck

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from .helpers import get_analytical_jacobian as get_analytical_jacobian
    from .helpers import get_numerical_jacobian as get_numerical_jacobian
    from .numerical import (
        get_numerical_jacobian_wrt_specific_input as get_numerical_jacobian_wrt_specific_input,
    )
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        places={
            ".helpers": "_get_numerical_jacobian _iter_tensors get_analytical_jacobian "
            "get_numerical_jacobian",
            ".numerical": "get_numerical_jacobian_wrt_specific_input",
        },
    )

__all__ = [
    "GradcheckError",
    "get_analytical_jacobian",
    "get_numerical_jacobian",
    "get_numerical_jacobian_wrt_specific_input",
    "gradcheck",
    "gradgradcheck",
]

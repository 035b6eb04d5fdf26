"""What divides by neighbours across channels, recorded as one operation. Loaded when somebody needs it."""

from __future__ import annotations

from typing import Any

from ..._rushlight import Tensor
from ...autograd.differentiate import grad
from ...autograd.function import Function, once_differentiable
from ...autograd.grad_mode import enable_grad


class CrossMapLRN2d(Function):
    """A function of a tensor, which is differentiated once."""

    @staticmethod
    def forward(ctx: Any, input: Tensor, function: Any) -> Tensor:
        """Call the function."""
        ctx.function = function
        ctx.save_for_backward(input)
        result: Tensor = function(input)
        return result

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> Any:
        """Call it again, and differentiate that."""
        with enable_grad():
            input = ctx.saved_tensors[0].detach().requires_grad_()
            result = ctx.function(input)
        return *grad(result, input, gradient), None

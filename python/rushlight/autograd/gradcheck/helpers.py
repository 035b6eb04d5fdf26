"""What older programs call for the two Jacobians that are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._tensors import as_tuple
from ._tensors import iter_tensors as _iter_tensors
from .analytical import summary
from .numerical import numerical_jacobians

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..._rushlight import Tensor

__all__ = ["_iter_tensors", "get_analytical_jacobian", "get_numerical_jacobian"]

_DEPRECATED = (
    "`{name}` was part of PyTorch's private API and not meant to be exposed. We are deprecating it and it "
    "will be removed in a future version of PyTorch. If you have a specific use for this or feature request "
    "for this to be a stable API, please file us an issue at https://github.com/pytorch/pytorch/issues/new"
)

_COMPLEX = (
    "Expected output to be non-complex. {name} no longer supports functions that return complex outputs."
)


def get_numerical_jacobian(
    fn: Callable[..., Any], inputs: Any, target: Any = None, eps: float = 1e-3, grad_out: float = 1.0
) -> tuple[Tensor, ...]:
    """Return the Jacobians of the first output of `fn`, which takes the inputs as one tuple. Deprecated."""
    _check("get_numerical_jacobian", grad_out)
    matrices = _get_numerical_jacobian(lambda *arguments: fn(arguments), inputs, None, target, eps)
    return tuple(row[0] for row in matrices)


def _get_numerical_jacobian(
    fn: Callable[..., Any],
    inputs: Any,
    outputs: Any = None,
    target: Any = None,
    eps: float = 1e-3,
    is_forward_ad: bool = False,
) -> list[tuple[Tensor, ...]]:
    """Return, for each input to differentiate by, the Jacobians of the outputs."""
    outputs = as_tuple(fn(*as_tuple(inputs))) if outputs is None else outputs
    if not is_forward_ad and any(output.is_complex() for output in outputs):
        raise ValueError(_COMPLEX.format(name="get_numerical_jacobian"))
    return numerical_jacobians(fn, inputs, outputs, target, eps)


def get_analytical_jacobian(
    inputs: Any, output: Tensor, nondet_tol: float = 0.0, grad_out: float = 1.0
) -> tuple[tuple[Tensor, ...], bool, bool, bool]:
    """Return the Jacobians of `output`, and whether they are repeatable and of the right sizes and types.

    Deprecated.
    """
    _check("get_analytical_jacobian", grad_out)
    if output.is_complex():
        raise ValueError(_COMPLEX.format(name="get_analytical_jacobian"))
    return summary(inputs, output, nondet_tol)


def _check(name: str, grad_out: float) -> None:
    import warnings

    warnings.warn(_DEPRECATED.format(name=name), FutureWarning, stacklevel=3)
    if grad_out != 1.0:
        raise ValueError(f"Expected grad_out to be 1.0. {name} no longer supports values of grad_out != 1.0.")

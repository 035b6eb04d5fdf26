"""Derivatives of functions of tensors: products of a vector with them, and whole matrices."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import _tensors
from .matrices import hessian, jacobian
from .products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

if TYPE_CHECKING:
    from ..._rushlight import Tensor
    from ._tensors import Tensors

# Under the names that programs know, which prepare inputs and results themselves.
_as_tuple = _tensors.as_tuple
_autograd_grad = _tensors.gradients
_grad_postprocess = _tensors.detached
_grad_preprocess = _tensors.fresh
_validate_v = _tensors.check_vector


def _construct_standard_basis_for(tensors: Tensors, tensor_numels: tuple[int, ...]) -> tuple[Tensor, ...]:
    """Return the unit vectors of all elements of `tensors`, a matrix for each tensor's part of them.

    >>> import rushlight as torch
    >>> torch.autograd.functional._construct_standard_basis_for((torch.ones(1), torch.ones(2)), (1, 2))
    (tensor([[1.],
            [0.],
            [0.]]), tensor([[0., 0.],
            [1., 0.],
            [0., 1.]]))
    """
    if len(tensors) != len(tensor_numels):
        raise AssertionError(
            "Expected tensors and tensor_numels to have the same length, "
            f"but got {len(tensors)} and {len(tensor_numels)}"
        )
    if not tensors:
        raise AssertionError("Expected at least one tensor")
    from ...func._basis import standard_basis

    (basis,) = standard_basis(tensors)
    return tuple(part.reshape(len(part), numel) for part, numel in zip(basis, tensor_numels, strict=True))


def _tuple_postprocess(res: Any, to_unpack: bool | tuple[bool, bool]) -> Any:
    """Take the results out of the tuples that their callers did not give.

    A matrix of results has two marks: whether there was a tuple of outputs, and of inputs.

    >>> import rushlight as torch
    >>> torch.autograd.functional._tuple_postprocess(((1, 2),), (False, True))
    (1, 2)
    """
    if isinstance(to_unpack, tuple):
        outer, inner = to_unpack
        return _tensors.as_given([_tensors.as_given(row, inner) for row in res], outer)
    return _tensors.as_given(res, to_unpack)

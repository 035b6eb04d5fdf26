"""Derivatives of functions of tensors: products of a vector with them, and whole matrices."""

from . import _tensors
from .matrices import hessian, jacobian
from .products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

# Under the names that programs know, which prepare inputs and results themselves.
_as_tuple = _tensors.as_tuple
_autograd_grad = _tensors.gradients
_grad_postprocess = _tensors.detached
_grad_preprocess = _tensors.fresh
_validate_v = _tensors.check_vector

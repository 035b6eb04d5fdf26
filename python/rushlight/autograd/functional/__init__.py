"""Derivatives of functions of tensors: products of a vector with them, and whole matrices."""

from ._tensors import as_tuple as _as_tuple
from ._tensors import check_vector as _validate_v
from ._tensors import detached as _grad_postprocess
from ._tensors import fresh as _grad_preprocess
from ._tensors import gradients as _autograd_grad
from .matrices import hessian, jacobian
from .products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

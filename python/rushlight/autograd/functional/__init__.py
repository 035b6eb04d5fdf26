"""Derivatives of functions of tensors: products of a vector with them, and whole matrices."""

from .matrices import hessian, jacobian
from .products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]

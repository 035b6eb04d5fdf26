"""Classes of tensors that torch itself has below `Tensor`."""

from .fake_tensor import FakeTensor

__all__ = ["FakeTensor"]

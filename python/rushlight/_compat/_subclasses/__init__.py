"""Classes of tensors that torch itself has below `Tensor`."""

from .fake_tensor import FakeTensor, FakeTensorMode, UnsupportedFakeTensorException
from .fake_utils import CrossRefFakeMode

__all__ = ["CrossRefFakeMode", "FakeTensor", "FakeTensorMode", "UnsupportedFakeTensorException"]

"""Comparing results in tests, and making what they begin with."""

from .comparison import assert_allclose, assert_close
from .making import make_tensor

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

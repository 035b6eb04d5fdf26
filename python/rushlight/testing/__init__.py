"""Comparing results in tests, and making what they begin with."""

from .comparison import assert_close
from .making import make_tensor

__all__ = ["assert_close", "make_tensor"]

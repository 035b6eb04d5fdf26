"""What `compile` makes of modules."""

from .eval_frame import OptimizedModule

__all__ = ["OptimizedModule"]

"""What is useful around modules."""

from . import stateless

__all__ = ["stateless"]

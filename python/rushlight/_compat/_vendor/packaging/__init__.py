"""Versions of libraries."""

from . import version

__all__ = ["version"]

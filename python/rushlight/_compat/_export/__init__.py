"""What programs tell the recorder of whole models by torch's inner names."""

from . import wrappers

__all__ = ["wrappers"]

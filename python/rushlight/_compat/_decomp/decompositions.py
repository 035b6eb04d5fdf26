"""The functions that stand for operators, by the names of these."""

from . import _activations, _arithmetic, _losses, _normalising, _slopes
from ._table import register_decomposition, tables

__all__ = ["register_decomposition"]

globals().update(
    {
        name: function
        for place in (_activations, _arithmetic, _losses, _normalising, _slopes)
        for name, function in vars(place).items()
        if function in tables["post_autograd"].values()
    }
)

"""Functions of tensors that are written in Python, a file a family.

What `rushlight` has from the start is listed here; the other files load when a function of theirs is asked
for.
"""

from __future__ import annotations

from . import composites, deprecated, diagonals, histograms, uniques
from .composites import (
    atleast_1d,
    atleast_2d,
    atleast_3d,
    block_diag,
    broadcast_shapes,
    cartesian_prod,
    combinations,
    einsum,
    is_same_size,
    nonzero_static,
    norm,
    norm_except_dim,
    split,
    tensordot,
    unravel_index,
)
from .deprecated import lu, range
from .diagonals import diagflat, tril_indices, triu_indices, vander
from .distances import cdist, pdist
from .finite_differences import gradient
from .histograms import bucketize, histc, histogram, histogramdd, searchsorted
from .uniques import unique, unique_consecutive

__all__ = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "block_diag",
    "broadcast_shapes",
    "bucketize",
    "cartesian_prod",
    "cdist",
    "combinations",
    "diagflat",
    "einsum",
    "gradient",
    "histc",
    "histogram",
    "histogramdd",
    "is_same_size",
    "lu",
    "nonzero_static",
    "norm",
    "norm_except_dim",
    "pdist",
    "range",
    "searchsorted",
    "split",
    "tensordot",
    "tril_indices",
    "triu_indices",
    "unique",
    "unique_consecutive",
    "unravel_index",
    "vander",
]

# What is a method of tensors too.
METHODS = (
    *composites.METHODS,
    *deprecated.METHODS,
    *diagonals.METHODS,
    *histograms.METHODS,
    *uniques.METHODS,
)

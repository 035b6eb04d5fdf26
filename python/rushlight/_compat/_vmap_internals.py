"""Where programs find the mapping over samples that there was before `vmap`."""

from ._functorch._mapping import (
    _as_tuple,
    _num_outputs,
    _validate_and_get_batch_size,
    _vmap,
    in_dims_t,
    out_dims_t,
)

vmap = _vmap

__all__ = [
    "_as_tuple",
    "_num_outputs",
    "_validate_and_get_batch_size",
    "_vmap",
    "in_dims_t",
    "out_dims_t",
    "vmap",
]

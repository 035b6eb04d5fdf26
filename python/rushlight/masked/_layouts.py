"""Masks and elements of sparse tensors: reductions of them are sparse too, where anything was seen."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices import absent_types as layouts

if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import TypeVar

    from .._rushlight import Tensor

    Function = TypeVar("Function", bound=Callable[..., Any])

__all__: list[str] = []

_OF_LAYOUTS = {
    "sum": "strided, sparse_coo or sparse_csr",
    "prod": "strided, sparse_coo or sparse_csr",
    "amax": "strided, sparse_coo or sparse_csr",
    "amin": "strided, sparse_coo or sparse_csr",
    "mean": "strided or sparse_csr",
}
_LAYOUT_OF_INPUT = "_input_mask expects strided or sparse COO or sparse CSR tensor but got {}"


def is_strided(tensor: Any) -> bool:
    """Tell whether a tensor has all of its elements."""
    return tensor.layout is native.strided


def dense_mask(mask: Any) -> Any:
    """Return a mask that may be sparse with all of its elements."""
    return mask.to_dense() if isinstance(mask, native.Tensor) and not is_strided(mask) else mask


def of_any_layout(function: Function) -> Function:
    """Let a function of dense elements and masks take sparse ones, as far as torch's does."""
    name = "std/var" if function.__name__ in ("std", "var") else function.__name__

    @wraps(function)
    def call(input: Any, *args: Any, mask: Any = None, **options: Any) -> Any:
        if is_strided(input):
            return function(input, *args, mask=dense_mask(mask), **options)
        known = _OF_LAYOUTS.get(name, "strided")
        of_this = {layouts.sparse_coo: "sparse_coo", layouts.sparse_csr: "sparse_csr"}.get(input.layout)
        if of_this is None or of_this not in known:
            if of_this is None and mask is not None and "sparse_coo" in known:
                raise ValueError(_LAYOUT_OF_INPUT.format(input.layout))
            raise ValueError(f"masked {name} expects {known} tensor (got {input.layout} tensor)")
        return _reduced(function, name, input, args, mask, options)

    return call  # type: ignore[return-value]


def _reduced(
    function: Callable[..., Any], name: str, input: Any, args: tuple[Any, ...], mask: Any, options: Any
) -> Any:
    is_coo = input.layout is layouts.sparse_coo
    if mask is None and name != "sum":
        kind = "sparse_coo" if is_coo else "sparse_csr"
        known_as = "amax" if is_coo and name == "amin" else name
        raise ValueError(f"masked {known_as} expects explicit mask for {kind} tensor input")
    if not is_coo and not options.get("keepdim"):
        error = RuntimeError if name in ("sum", "prod") else AssertionError
        raise error("reduction operations on CSR tensors with keepdim=False is unsupported")
    from ._conventions import _output_mask

    seen = _there(input) if mask is None else dense_mask(mask)
    found = function(input.to_dense(), *args, mask=seen, **options)
    where = _output_mask(function, input.to_dense(), *args, **{**options, "mask": seen})
    return found.sparse_mask(in_layout(where, input, found.dim()))


def _there(tensor: Any) -> Tensor:
    """Return where a sparse tensor has values, zeros too."""
    from ..sparse._forms import like

    every: Tensor = like(tensor, native.ones(tensor._pieces.values.shape, dtype=native.bool)).to_dense()
    return every


def in_layout(mask: Tensor, form: Any, dim: int | None = None) -> Any:
    """Return a dense mask in the layout of a tensor, with as many dimensions within the values."""
    if form.layout is layouts.sparse_csr:
        return mask.to_sparse_csr()
    inner = form.dense_dim() if dim in (None, form.dim()) else 0
    return mask.to_sparse(mask.dim() - inner)

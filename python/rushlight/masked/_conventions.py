"""What functions of masks are made of, by the names that torch has for that."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._rushlight import Tensor
from ._functions import _dims
from ._layouts import dense_mask, in_layout, is_strided

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

_REDUCTIONS = frozenset(
    ["sum", "prod", "amax", "amin", "argmax", "argmin", "mean", "median", "norm", "var", "std", "logsumexp"]
)
_NORMALISATIONS = frozenset(["softmax", "log_softmax", "softmin", "normalize", "cumsum", "cumprod"])
_LARGEST = frozenset(["amin", "argmin"])
_SMALLEST = frozenset(["amax", "argmax", "logaddexp", "logsumexp"])


def _canonical_dim(dim: Any, ndim: int) -> tuple[int, ...]:
    """Return the dimensions that are meant, in order, counted from the first.

    >>> from rushlight.masked import _canonical_dim
    >>> _canonical_dim((-1, 0), 3), _canonical_dim(None, 2)
    ((0, 2), (0, 1))
    """
    return tuple(sorted(_dims(native.empty([1] * ndim), dim)))


def _reduction_identity(op_name: str, input: Tensor, *args: Any) -> Tensor | None:
    """Return what changes nothing in a reduction; None where nothing does.

    >>> import rushlight as torch
    >>> from rushlight.masked import _reduction_identity
    >>> _reduction_identity("amin", torch.ones(1))
    tensor(inf)
    """
    dtype, name = input.dtype, op_name.rpartition(".")[2]
    is_floating = dtype.is_floating_point
    if name in ("sum", "cumsum"):
        return native.tensor(0, dtype=dtype)
    if name in ("prod", "cumprod"):
        return native.tensor(1, dtype=dtype)
    if name in _SMALLEST and not (dtype.is_complex and name != "logsumexp") and dtype != native.bool:
        least = -float("inf") if is_floating or dtype.is_complex else native.iinfo(dtype).min
        return native.tensor(least, dtype=dtype)
    if name in _LARGEST and not dtype.is_complex and dtype != native.bool:
        return native.tensor(float("inf") if is_floating else native.iinfo(dtype).max, dtype=dtype)
    if name in ("mean", "var", "std"):
        return None
    if name == "norm":
        order = args[0] if args else 2
        return native.tensor(float("inf") if order == -float("inf") else 0, dtype=dtype)
    if name == "median":
        return native.tensor(float("nan"), dtype=dtype if is_floating else native.float32)
    raise NotImplementedError(f"identity of {op_name} on {dtype} input")


def _where(mask: Any, input: Any, fill_value: Tensor) -> Any:
    """Return the elements where a mask holds, and `fill_value` elsewhere: sparse if the mask is."""
    if is_strided(mask):
        return native.where(mask, input, fill_value)
    if mask.layout is layouts.sparse_coo and input.layout is not mask.layout:
        raise AssertionError(f"input.layout must be sparse_coo, got {input.layout}")
    whole = mask.to_dense()
    return native.where(whole, input.to_dense(), fill_value).sparse_mask(in_layout(whole, mask))


def _input_mask(input: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Return the mask of a call in the shape of what it is about.

    >>> import rushlight as torch
    >>> from rushlight.masked import _input_mask
    >>> _input_mask(torch.ones(2, 2), mask=torch.tensor([True, False])).tolist()
    [[True, False], [True, False]]
    """
    mask = kwargs.get("mask")
    if mask is None:
        raise ValueError("_input_mask requires explicit mask")
    if mask.shape != input.shape:
        if mask.ndim > input.ndim:
            raise IndexError(
                "_input_mask expected broadcastable mask (got mask dimensionality higher than of the input)"
            )
        mask = native.broadcast_to(mask.to_dense(), input.shape)
    found: Tensor = dense_mask(mask).to(native.bool)
    return found if is_strided(input) else in_layout(found, input)


def _output_mask(op: Callable[..., Any], input: Any, *args: Any, **kwargs: Any) -> Tensor:
    """Return the mask of what a masked operation returns: where any element was seen."""
    name = getattr(op, "__name__", "")
    if name in _NORMALISATIONS:
        return _input_mask(input, *args, **kwargs)
    if name not in _REDUCTIONS:
        raise ValueError(
            f"_output_mask expected masked operation (got callable {getattr(op, '__module__', '')}.{name})"
        )
    given = args[1:] if name == "norm" else args
    dim = given[0] if given else kwargs.get("dim")
    mask = _input_mask(input, *args, **kwargs)
    dims = _canonical_dim(dim, input.ndim)
    return mask.any(dims, keepdim=bool(kwargs.get("keepdim", False))) if dims else mask


def _combine_input_and_mask(op: Callable[..., Any], input: Any, mask: Any, *args: Any) -> Tensor:
    """Return the elements with what changes nothing in the place of those that are not seen."""
    if hasattr(input, "get_mask"):
        input, mask = input.get_data(), input.get_mask() if mask is None else mask
    if mask is None:
        found: Tensor = input
        return found
    identity = _reduction_identity(op.__name__, input, *args)
    filling = native.zeros((), dtype=input.dtype) if identity is None else identity
    combined: Tensor = _where(_input_mask(input, mask=mask), input, filling)
    return combined

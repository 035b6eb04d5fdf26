"""What functions are of nested tensors: of their pieces, or, where parts have to be apart, of each part."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ._attention import attended, attended_by_heads
from ._tensor import NestedTensor, Ragged, alike, from_parts

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["answer", "padded"]

# Functions of elements, and those that leave the ragged dimension alone whatever they are given.
_OF_PIECES = frozenset(
    [
        "abs",
        "abs_",
        "add",
        "add_",
        "clamp",
        "clamp_max",
        "clamp_min",
        "clamp_",
        "clone",
        "contiguous",
        "copysign",
        "cos",
        "cosh",
        "detach",
        "detach_",
        "div",
        "div_",
        "dropout",
        "elu",
        "embedding",
        "empty_like",
        "eq",
        "erf",
        "exp",
        "expm1",
        "fill_",
        "float",
        "double",
        "half",
        "bfloat16",
        "floor",
        "ge",
        "gelu",
        "gt",
        "hardswish",
        "hardtanh",
        "isfinite",
        "isinf",
        "isnan",
        "le",
        "leaky_relu",
        "linear",
        "log",
        "log1p",
        "log_sigmoid",
        "logical_and",
        "logical_not",
        "logical_or",
        "logsigmoid",
        "lt",
        "masked_fill",
        "mish",
        "mul",
        "mul_",
        "nan_to_num",
        "ne",
        "neg",
        "normal_",
        "ones_like",
        "pow",
        "rand_like",
        "randn_like",
        "reciprocal",
        "relu",
        "relu_",
        "remainder",
        "round",
        "rsqrt",
        "rsub",
        "selu",
        "sigmoid",
        "sign",
        "silu",
        "sin",
        "sinh",
        "softplus",
        "sqrt",
        "square",
        "sub",
        "sub_",
        "tan",
        "tanh",
        "to",
        "true_divide",
        "type_as",
        "uniform_",
        "where",
        "zero_",
        "zeros_like",
        "full_like",
        "layer_norm",
        "rms_norm",
        "bitwise_not",
        "bitwise_and",
        "bitwise_or",
        "dropout_",
        "__add__",
        "__radd__",
        "__iadd__",
        "__sub__",
        "__rsub__",
        "__isub__",
        "__mul__",
        "__rmul__",
        "__imul__",
        "__truediv__",
        "__rtruediv__",
        "__neg__",
        "__pow__",
        "__rpow__",
        "__eq__",
        "__ne__",
        "__lt__",
        "__le__",
        "__gt__",
        "__ge__",
        "__invert__",
        "__and__",
        "__or__",
        "__abs__",
        "__mod__",
    ]
)
# Tensors beside the nested one are of the layer, and not of its elements.
_WITH_WEIGHTS = frozenset(("embedding", "layer_norm", "linear", "rms_norm"))
# Functions along dimensions, which are counted from that of the parts.
_ALONG = frozenset(
    [
        "amax",
        "amin",
        "argmax",
        "argmin",
        "cat",
        "chunk",
        "cumsum",
        "flip",
        "log_softmax",
        "logsumexp",
        "mean",
        "narrow",
        "norm",
        "prod",
        "select",
        "softmax",
        "split",
        "std",
        "sum",
        "unflatten",
        "unsqueeze",
        "squeeze",
        "var",
        "normalize",
        "stack",
    ]
)
_WHOLE = frozenset(["sum", "mean", "max", "min", "amax", "amin", "prod", "any", "all"])


def answer(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Compute a function of arguments of which some are nested."""
    name = getattr(func, "__name__", str(func))
    own = _OWN.get(name)
    nested = next((one for one in _flat([*args, *kwargs.values()]) if isinstance(one, NestedTensor)), None)
    if nested is None:
        return NotImplemented
    if own is not None:
        return own(func, *args, **kwargs)
    if name in _WHOLE and len(args) == 1 and not kwargs:
        return func(native.cat([part.reshape(-1) for part in nested.parts()]))
    if name in _ALONG:
        return _along(func, name, nested, args, kwargs)
    if name in _OF_PIECES:
        return _of_pieces(func, nested, args, kwargs)
    raise NotImplementedError(f"aten.{name.strip('_')}.default is not computed of nested tensors")


def _flat(values: Sequence[Any]) -> list[Any]:
    return [
        one for value in values for one in (_flat(value) if isinstance(value, (list, tuple)) else [value])
    ]


def _of_pieces(func: Any, like: NestedTensor, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function with the pieces of each place."""
    results = []
    spreads = getattr(func, "__name__", "") not in _WITH_WEIGHTS
    for place in range(len(like._pieces)):

        def piece(value: Any, place: int = place) -> Any:
            if isinstance(value, NestedTensor):
                _check_alike(like, value)
                return value._pieces[place]
            if isinstance(value, (list, tuple)):
                return type(value)(piece(one) for one in value)
            if spreads and isinstance(value, Tensor) and value.ndim == like.dim() and value.ndim > 1:
                return _spread(value, like, place)
            return value

        results.append(func(*map(piece, args), **{name: piece(value) for name, value in kwargs.items()}))
    if results and isinstance(results[0], (tuple, list)):
        return tuple(alike(like, list(column)) for column in zip(*results, strict=True))
    if getattr(func, "__name__", "").endswith("_") and not getattr(func, "__name__", "").endswith("__"):
        return like
    return alike(like, results)


def _check_alike(one: NestedTensor, other: NestedTensor) -> None:
    if one is other or one._ragged is other._ragged:
        return
    sizes = [[part.shape for part in nested.parts()] for nested in (one, other)]
    if one._offsets is None and other._offsets is None:
        if len(sizes[0]) == len(sizes[1]):
            return
    elif (one._offsets is None) == (other._offsets is None):
        if [size[one._ragged_idx - 1] for size in sizes[0]] == [
            size[other._ragged_idx - 1] for size in sizes[1]
        ]:
            return
        raise RuntimeError(
            "cannot call binary pointwise function with inputs of shapes "
            f"{tuple(one.shape)} and {tuple(other.shape)}"
        )
    raise RuntimeError("nested tensors of other sizes or another layout do not go together")


def _spread(dense: Tensor, like: NestedTensor, place: int) -> Tensor:
    """Return of a tensor with a row a part what goes together with a piece."""
    if dense.shape[0] == 1:
        return dense[0]
    if like._offsets is None:
        return dense[place]
    lengths = native.tensor([part.shape[like._ragged_idx - 1] for part in like.parts()])
    if dense.shape[like._ragged_idx] != 1:
        raise RuntimeError(
            "a dense tensor goes together with a jagged one where it has one element in that dimension"
        )
    return (
        dense.movedim(like._ragged_idx, 1)[:, 0]
        .repeat_interleave(lengths, 0)
        .movedim(0, like._ragged_idx - 1)
    )


def _along(func: Any, name: str, like: NestedTensor, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """Call a function along dimensions behind that of the parts."""
    ndim = like.dim() + (name in ("unsqueeze", "stack"))
    place = 0 if name in ("select", "narrow") else -1 if name in ("chunk", "split") else 0
    args = list(args)
    rest = args[1:]
    if "dim" in kwargs:
        dim = kwargs["dim"]
    elif name in ("chunk", "split"):
        dim = rest[1] if len(rest) > 1 else 0
    elif name in ("norm", "normalize"):
        dim = rest[1] if len(rest) > 1 else (1 if name == "normalize" else None)
    else:
        dim = rest[place] if rest else 0 if name in ("cat", "stack") else None
    if dim is None:
        raise NotImplementedError(f"{name} of nested tensors without a dimension is not computed")
    dims = [one % ndim for one in (dim if isinstance(dim, (list, tuple)) else [dim])]
    if 0 in dims and name == "cat":
        return from_parts([part for one in args[0] for part in one.parts()], like.layout)
    if 0 in dims:
        raise RuntimeError(f"{name}(): not supported along the batch dimension of a nested tensor")
    ragged = like._ragged_idx if like._offsets is not None else None
    if ragged in dims and name != "unsqueeze":
        return _along_ragged(func, name, like, args, kwargs, dims)
    inner: Any = [one - 1 for one in dims]
    inner = inner if isinstance(dim, (list, tuple)) else inner[0]
    if "dim" in kwargs:
        kwargs = {**kwargs, "dim": inner}
    elif name in ("chunk", "split", "norm"):
        args[2:3] = [inner]
    elif len(args) > 1:
        args[1] = inner
    else:
        kwargs = {**kwargs, "dim": inner}
    found = _of_pieces(func, like, args, kwargs)
    if ragged is None:
        return found
    moved = ragged
    if name == "unsqueeze" and dims[0] <= ragged:
        moved += 1
    if name in (
        "select",
        "squeeze",
        "sum",
        "mean",
        "amax",
        "amin",
        "prod",
        "var",
        "std",
        "norm",
    ) and not kwargs.get("keepdim"):
        moved -= sum(one < ragged for one in dims)
    for one in found if isinstance(found, tuple) else (found,):
        one._ragged_idx = moved
    return found


def _along_ragged(
    func: Any, name: str, like: NestedTensor, args: Sequence[Any], kwargs: dict[str, Any], dims: Sequence[int]
) -> Any:
    """Call a function along the ragged dimension: of each part."""
    if len(dims) > 1:
        raise NotImplementedError(f"{name} along several dimensions of which one is ragged is not computed")
    kwargs = {**kwargs, "dim": like._ragged_idx - 1}
    parts = [func(part, **kwargs) for part in like.parts()]
    if name in ("softmax", "log_softmax", "cumsum", "flip", "normalize"):
        return alike(like, [native.cat(parts, like._ragged_idx - 1)])
    return native.stack(parts)


def _getitem(func: Any, x: NestedTensor, index: Any) -> Any:
    if isinstance(index, tuple) and index and isinstance(index[0], int):
        return x.parts()[index[0]][index[1:]] if len(index) > 1 else x.parts()[index[0]]
    if isinstance(index, int):
        return x.parts()[index]
    if isinstance(index, slice) and index == slice(None):
        return x
    raise NotImplementedError("nested tensors are indexed by the number of a part")


def padded(x: NestedTensor, padding: float, output_size: Sequence[int] | None = None) -> Tensor:
    """Return a tensor in which all parts have the size of the largest."""
    from ..nn.functional import pad

    parts = x.parts()
    sizes = [max(column) for column in zip(*(part.shape for part in parts), strict=True)]
    if output_size is not None:
        wanted = list(output_size)[1:]
        if len(wanted) != len(sizes) or any(one < other for one, other in zip(wanted, sizes, strict=True)):
            raise RuntimeError(
                "Value in output_size is less than NestedTensor padded size. Truncation is not supported."
            )
        sizes = wanted
    rows = []
    for part in parts:
        missing = [size - own for size, own in zip(sizes, part.shape, strict=True)]
        rows.append(pad(part, [one for count in reversed(missing) for one in (0, count)], value=padding))
    return native.stack(rows)


def _transposed(func: Any, x: NestedTensor, one: int, other: int) -> NestedTensor:
    one, other = one % x.dim(), other % x.dim()
    if 0 in (one, other):
        raise RuntimeError("Nested tensor dimension 0 cannot be transposed")
    where = {one: other, other: one}.get(x._ragged_idx, x._ragged_idx)
    return alike(x, [piece.transpose(one - 1, other - 1) for piece in x._pieces], where)


def _permuted(func: Any, x: NestedTensor, *dims: Any) -> NestedTensor:
    order = [dim % x.dim() for dim in (dims[0] if isinstance(dims[0], (list, tuple)) else dims)]
    if order[0] != 0:
        raise RuntimeError("Permute is not supported on the batch dimension for jagged NT")
    inner = [dim - 1 for dim in order[1:]]
    return alike(x, [piece.permute(inner) for piece in x._pieces], order.index(x._ragged_idx))


def _flattened(func: Any, x: NestedTensor, start_dim: int = 0, end_dim: int = -1) -> NestedTensor:
    if x._offsets is None:
        raise RuntimeError("Internal error: NestedTensorImpl doesn't support sizes. Please file an issue.")
    start, end = start_dim % x.dim(), end_dim % x.dim()
    if start == 0 or start <= x._ragged_idx <= end:
        where = "dim=0" if start == 0 else "ragged dim"
        raise RuntimeError(f"flatten(): not supported for NestedTensor on {where}")
    moved = x._ragged_idx - (end - start if x._ragged_idx > end else 0)
    return alike(x, [func(piece, start - 1, end - 1) for piece in x._pieces], moved)


def _viewed(func: Any, x: NestedTensor, *size: Any) -> NestedTensor:
    sizes = list(size[0] if size and isinstance(size[0], (list, tuple)) else size)
    if sizes[0] not in (len(x), -1):
        raise RuntimeError(f"view: the first dimension of a nested tensor is that of its {len(x)} parts")
    if x._offsets is None:
        pieces = []
        for piece in x._pieces:
            # The first -1 is the size that the part has there; another is found.
            inner = [
                own if one == -1 and place == 0 else one
                for place, (one, own) in enumerate(_pairs(sizes[1:], piece))
            ]
            pieces.append(func(piece, inner))
        return alike(x, pieces)
    ragged = next((place for place, one in enumerate(sizes[1:], 1) if isinstance(one, Ragged)), None)
    ragged = ragged or next((place for place, one in enumerate(sizes[1:], 1) if one == -1), None)
    if ragged is None:
        raise RuntimeError("view: the ragged dimension of a nested tensor stays: say -1, or its size")
    inner = list(sizes[1:])
    inner[ragged - 1] = x._pieces[0].shape[x._ragged_idx - 1]
    return alike(x, [func(x._pieces[0], [int(one) for one in inner])], ragged)


def _pairs(sizes: Sequence[int], piece: Tensor) -> list[tuple[int, int]]:
    own = list(piece.shape) + [-1] * len(sizes)
    return list(zip(sizes, own, strict=False))


def _product(func: Any, left: Any, right: Any) -> Any:
    if isinstance(left, NestedTensor) and isinstance(right, NestedTensor):
        parts = [one @ other for one, other in zip(left.parts(), right.parts(), strict=True)]
        if left._offsets is not None and all(part.shape == parts[0].shape for part in parts):
            return native.stack(parts)
        return from_parts(parts, left.layout)
    if isinstance(left, NestedTensor) and right.ndim <= 2:
        return alike(left, [piece @ right for piece in left._pieces])
    if isinstance(left, NestedTensor) and right.ndim == 3:
        return from_parts([part @ one for part, one in zip(left.parts(), right, strict=True)], left.layout)
    raise RuntimeError("Expected both to be nested, but got a nested self and non-nested other")


_OWN: dict[str, Callable[..., Any]] = {
    "__getitem__": _getitem,
    "__matmul__": _product,
    "bmm": _product,
    "flatten": _flattened,
    "matmul": _product,
    "permute": _permuted,
    "reshape": _viewed,
    "scaled_dot_product_attention": attended,
    "_native_multi_head_attention": attended_by_heads,
    "transpose": _transposed,
    "unbind": lambda func, x, dim=0: tuple(x.parts()),
    "view": _viewed,
    "to_dense": lambda func, x: padded(x, 0.0),
    "is_floating_point": lambda func, x: x.dtype.is_floating_point,
    "is_complex": lambda func, x: x.dtype.is_complex,
    "element_size": lambda func, x: x._pieces[0].element_size(),
}

"""What torch's references ask about types, shapes and strides of tensors, for libraries that ask the same."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from functools import reduce
from math import prod
from numbers import Number
from typing import Any

from ... import _rushlight as native
from ..._functions.assertions import _check
from ..._rushlight import Tensor

TensorLike = TensorLikeType = Tensor
NumberType = bool | int | float | complex
ShapeType = StrideType = DimsSequenceType = Sequence[int]
Dim = int
DimsType = int | Sequence[int]
DeviceLikeType = str | native.device | int

_ORDERED = (bool, int, float, complex)
_TO_COMPLEX = {
    native.float16: native.complex32,
    native.bfloat16: native.complex64,
    native.float32: native.complex64,
    native.float64: native.complex128,
}
_TO_REAL = {
    native.complex32: native.float16,
    native.complex64: native.float32,
    native.complex128: native.float64,
}
# In what half types are computed.
_COMPUTED = {
    native.float16: native.float32,
    native.bfloat16: native.float32,
    native.complex32: native.complex64,
}


class ELEMENTWISE_TYPE_PROMOTION_KIND(Enum):
    """Which type elements have after an operation of elements, beside that of what was given."""

    DEFAULT = (0,)
    NO_OPMATH = (1,)
    INT_TO_FLOAT = (2,)
    ALWAYS_BOOL = (3,)
    COMPLEX_TO_FLOAT = (4,)
    BOOL_TO_LONG = (5,)


class REDUCTION_OUTPUT_TYPE_KIND(Enum):
    """Which type a reduction has, beside that of its input."""

    SAME = (0,)
    COMPLEX_TO_FLOAT = (1,)
    KEEP_PROMOTED_TYPE = (2,)
    ALWAYS_BOOL = (3,)


class RETURN_TYPE(Enum):
    """What a primitive returns."""

    NEW = (0,)
    VIEW = (1,)
    INPLACE = (2,)
    NONE = (3,)


def is_boolean_dtype(dtype: native.dtype) -> bool:
    """Tell whether elements are truth values."""
    return dtype is native.bool


def is_integer_dtype(dtype: native.dtype) -> bool:
    """Tell whether elements are whole numbers; truth values are not."""
    return not (dtype.is_floating_point or dtype.is_complex or dtype is native.bool)


def is_low_precision_dtype(dtype: native.dtype) -> bool:
    """Tell whether elements are computed in a wider type than they have."""
    return dtype in _COMPUTED


def is_float_dtype(dtype: native.dtype) -> bool:
    """Tell whether elements are real numbers."""
    return dtype.is_floating_point


def is_complex_dtype(dtype: native.dtype) -> bool:
    """Tell whether elements are complex."""
    return dtype.is_complex


def is_grad_dtype(dtype: native.dtype) -> bool:
    """Tell whether tensors of this type can require a gradient."""
    return dtype.is_floating_point or dtype.is_complex


def corresponding_real_dtype(dtype: native.dtype) -> native.dtype:
    """Return the type of the parts of complex numbers."""
    return _TO_REAL[dtype]


def corresponding_complex_dtype(dtype: native.dtype) -> native.dtype:
    """Return the complex type whose parts hold real numbers of this type.

    >>> import rushlight as torch
    >>> from rushlight._prims_common import corresponding_complex_dtype
    >>> corresponding_complex_dtype(torch.float64)
    torch.complex128
    """
    return _TO_COMPLEX[dtype]


def dtype_to_type(dtype: native.dtype) -> type:
    """Return the type that Python has of such elements."""
    if dtype.is_floating_point:
        return float
    if dtype.is_complex:
        return complex
    return bool if dtype is native.bool else int


def dtype_to_type_ctor(dtype: native.dtype) -> type:
    """Return what makes a number in Python of such an element."""
    return dtype_to_type(dtype)


def type_to_dtype(typ: type) -> native.dtype:
    """Return the type that elements have by default that are given as numbers of Python."""
    if issubclass(typ, bool):
        return native.bool
    if issubclass(typ, int):
        return native.int64
    real = native.get_default_dtype()
    if issubclass(typ, float):
        return real
    if issubclass(typ, complex):
        return corresponding_complex_dtype(real)
    raise ValueError(f"Invalid type {typ}!")


def number_type(x: Any) -> type:
    """Return the type of a number."""
    return type(x)


def get_dtype(x: Any) -> native.dtype:
    """Return the type of the elements of a tensor, or that they would have of a number."""
    return x.dtype if isinstance(x, Tensor) else type_to_dtype(type(x))


def get_higher_type(a: type, b: type) -> type:
    """Return which of two types of Python has the other's numbers as well."""
    return max(a, b, key=_ORDERED.index)


def is_weakly_lesser_type(a: type, b: type) -> bool:
    """Tell whether a type of Python has all numbers of another."""
    return get_higher_type(a, b) is b


def get_higher_dtype(a: Any, b: Any) -> native.dtype | None:
    """Return the least type of elements that has those of both; either may be none, a tensor or a number."""
    found = [
        each if isinstance(each, native.dtype) else get_dtype(each) for each in (a, b) if each is not None
    ]
    return reduce(native.promote_types, found) if found else None


def can_safe_cast_to(*, cast_to: native.dtype, cast_from: native.dtype) -> bool:
    """Tell whether elements of one kind can be those of another."""
    return native.can_cast(cast_from, cast_to)


def get_computation_dtype(dtype: native.dtype) -> native.dtype:
    """Return in what elements of a type are computed."""
    return _COMPUTED.get(dtype, dtype)


def _promoted(args: Sequence[Any]) -> native.dtype:
    """Return the type of an operation of elements: in a kind, tensors with dimensions come first."""
    for arg in args:
        if not isinstance(arg, (Number, Tensor)):
            raise ValueError(f"Unexpected type {type(arg)} when computing elementwise type promotion!")
    kinds: list[type] = [bool, *(dtype_to_type(get_dtype(arg)) for arg in args)]
    kind = reduce(get_higher_type, kinds)
    counting = (float, complex) if kind is complex else (kind,)
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    for group in ([x for x in tensors if x.dim()], [x for x in tensors if not x.dim()]):
        found = [x.dtype for x in group if dtype_to_type(x.dtype) in counting]
        if found:
            wide = found if kind is not complex else [_TO_COMPLEX.get(dtype, dtype) for dtype in found]
            return reduce(native.promote_types, wide)
    return type_to_dtype(kind)


def elementwise_dtypes(
    *_args: Any, type_promotion_kind: ELEMENTWISE_TYPE_PROMOTION_KIND
) -> tuple[native.dtype, native.dtype]:
    """Return in what an operation of elements is computed, and which type its result has.

    >>> import rushlight as torch
    >>> from rushlight._prims_common import ELEMENTWISE_TYPE_PROMOTION_KIND, elementwise_dtypes
    >>> half = torch.ones(2, dtype=torch.float16)
    >>> elementwise_dtypes(half, 2, type_promotion_kind=ELEMENTWISE_TYPE_PROMOTION_KIND.DEFAULT)
    (torch.float32, torch.float16)
    """
    kinds = ELEMENTWISE_TYPE_PROMOTION_KIND
    result = _promoted([arg for arg in _args if arg is not None])
    computed = get_computation_dtype(result)
    if type_promotion_kind is kinds.NO_OPMATH:
        return result, result
    if type_promotion_kind is kinds.ALWAYS_BOOL:
        return computed, native.bool
    if type_promotion_kind is kinds.COMPLEX_TO_FLOAT:
        return computed, corresponding_real_dtype(result) if result.is_complex else result
    if type_promotion_kind is kinds.INT_TO_FLOAT and not is_grad_dtype(result):
        result = native.get_default_dtype()
        return get_computation_dtype(result), result
    if type_promotion_kind is kinds.BOOL_TO_LONG and result is native.bool:
        return native.int64, native.int64
    return computed, result


def canonicalize_dim(rank: int, idx: int, wrap_scalar: bool = True) -> int:
    """Return a dimension counted from the first."""
    if rank < 0:
        raise IndexError(f"Rank cannot be negative but got {rank}")
    if rank == 0:
        if not wrap_scalar:
            raise IndexError(f"Dimension specified as {idx} but tensor has no dimensions")
        rank = 1
    if not -rank <= idx < rank:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {idx})"
        )
    return idx % rank


def canonicalize_dims(rank: int, indices: Any, wrap_scalar: bool = True) -> Any:
    """Return dimensions counted from the first."""
    if isinstance(indices, int):
        return canonicalize_dim(rank, indices, wrap_scalar)
    return tuple(canonicalize_dim(rank, each, wrap_scalar) for each in indices)


def reduction_dims(shape: Sequence[int], dims: Sequence[int] | None) -> tuple[int, ...]:
    """Return the dimensions that a reduction goes along: all of them, if none are named."""
    if dims is None:
        return tuple(range(len(shape)))
    found: tuple[int, ...] = canonicalize_dims(len(shape), tuple(dims))
    if len(found) != len(set(found)):
        raise RuntimeError("duplicate value in the list of dims")
    return found


def compute_reduction_output_shape(shape: Sequence[int], dimensions: Sequence[int]) -> tuple[int, ...]:
    """Return the shape without the dimensions that were reduced."""
    return tuple(size for dim, size in enumerate(shape) if dim not in dimensions)


def is_same_shape(a: Sequence[int], b: Sequence[int]) -> bool:
    """Tell whether two shapes are one."""
    return tuple(a) == tuple(b)


same_shape = is_same_shape


def is_cpu_scalar_tensor(a: object) -> bool:
    """Tell whether something is a tensor of one element without dimensions, in ordinary memory."""
    return isinstance(a, Tensor) and a.dim() == 0 and a.device.type == "cpu"


def is_valid_permutation(rank: int, perm: Sequence[int]) -> bool:
    """Tell whether each dimension is named once."""
    return isinstance(perm, Sequence) and sorted(perm) == list(range(rank))


def extract_shape_from_varargs(shape: Any, validate: bool = True) -> tuple[int, ...]:
    """Return a shape that was given as one sequence or as many numbers."""
    sizes = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], Sequence) else tuple(shape)
    for size in sizes if validate else ():
        _check(size >= 0, lambda size=size: f"invalid shape dimension {size}")  # type: ignore[misc]
    return sizes


def infer_size(shape: Sequence[int], numel: int) -> tuple[int, ...]:
    """Return a shape of so many elements, in which one size may be left open as -1."""
    known = prod(size for size in shape if size != -1)
    if -1 not in shape:
        _check(known == numel, lambda: f"shape '{list(shape)}' is invalid for input of size {numel}")
        return tuple(shape)
    _check(list(shape).count(-1) == 1, lambda: "only one dimension can be inferred")
    _check(
        known != 0,
        lambda: (
            f"cannot reshape tensor of 0 elements into shape {list(shape)} because the unspecified "
            "dimension size -1 can be any value and is ambiguous"
        ),
    )
    _check(numel % known == 0, lambda: f"shape '{list(shape)}' is invalid for input of size {numel}")
    return tuple(numel // known if size == -1 else size for size in shape)


def make_contiguous_strides_for(shape: Sequence[int], row_major: bool = True) -> tuple[int, ...]:
    """Return the strides of elements in order; of matrices in columns, if `row_major` is false.

    >>> from rushlight._prims_common import make_contiguous_strides_for
    >>> make_contiguous_strides_for((2, 3, 4)), make_contiguous_strides_for((2, 3, 4), row_major=False)
    ((12, 4, 1), (12, 1, 3))
    """
    strides = [1]
    for size in reversed(shape[1:]):
        strides.append(strides[-1] * max(size, 1))
    found = strides[::-1] if shape else []
    if not row_major and len(shape) > 1:
        found[-2:] = 1, max(shape[-2], 1)
    return tuple(found)


def is_contiguous(a: Tensor) -> bool:
    """Tell whether elements lie in order."""
    return a.is_contiguous()


def suggest_memory_format(x: Tensor) -> native.memory_format:
    """Return the order in memory that a tensor has."""
    for order, rank in ((native.channels_last, 4), (native.channels_last_3d, 5)):
        if x.dim() == rank and not x.is_contiguous() and x.is_contiguous(memory_format=order):
            return order
    return native.contiguous_format


def clone_preserve_strides(x: Tensor) -> Tensor:
    """Return a copy with the strides of a tensor, gaps and overlaps included."""
    needed = (
        1 + sum((size - 1) * step for size, step in zip(x.shape, x.stride(), strict=True)) if x.numel() else 0
    )
    flat = native.as_strided(x, (needed,), (1,)).clone()
    return native.as_strided(flat, x.shape, x.stride())


def set_correction(unbiased: bool | None = None, correction: float | None = None) -> float:
    """Return by how much a variance counts less than it has elements."""
    if correction is not None and unbiased is not None:
        raise RuntimeError("cannot specify both correction and unbiased arguments")
    if correction is None:
        return 0.0 if unbiased is False else 1.0
    if correction < 0:
        raise ValueError("correction argument should be non-negative")
    return float(correction)


def check(b: bool, s: Any, exc_type: type[Exception] = RuntimeError) -> None:
    """Raise an error with what `s` answers, unless `b`."""
    if not b:
        raise exc_type(s())


def check_same_shape(*args: Any, allow_cpu_scalar_tensors: bool) -> None:
    """Refuse tensors of several shapes; numbers have none."""
    shape = None
    for arg in args:
        if isinstance(arg, Number) or (allow_cpu_scalar_tensors and is_cpu_scalar_tensor(arg)):
            continue
        if not isinstance(arg, Tensor):
            raise RuntimeError(f"Unexpected type when checking for same shape, {type(arg)}!")
        shape = arg.shape if shape is None else shape
        if shape != arg.shape:
            raise RuntimeError(f"Shape {arg.shape} is not the expected shape {shape}!")


def _check_strides(a: Tensor, b: Tensor, is_asked: Any) -> tuple[bool, int | None]:
    for dim, size in enumerate(a.shape):
        if is_asked(size) and a.stride(dim) != b.stride(dim):
            return False, dim
    return True, None


def check_significant_strides(
    a: Tensor, b: Tensor, *, only_cuda: bool = True, allow_rhs_unbacked: bool = False
) -> tuple[bool, int | None]:
    """Tell whether two tensors have one order in memory, and where they do not: sizes of one do not count."""
    if only_cuda and not a.is_cuda:
        return True, None
    return _check_strides(a, b, lambda size: size > 1 and a.numel() > 0)


def check_all_strides(a: Tensor, b: Tensor, *, only_cuda: bool = True) -> tuple[bool, int | None]:
    """Tell whether two tensors have the same strides, and which is the first that differs."""
    if only_cuda and not a.is_cuda:
        return True, None
    return _check_strides(a, b, lambda size: True)

"""Functions of tensors that are a few others in a row: pieces, sums to a size, indices of triangles."""

from __future__ import annotations

import builtins
import math

from .. import _rushlight as native
from .._calls.showing import shown, shown_as_given, shown_to, taking
from .._once import warn_once
from .._rushlight import Tensor

_nn = native._nn

TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any

    from .._rushlight import dtype as DType
    from ..types import Number

__all__ = [
    "cdist",
    "diagflat",
    "gradient",
    "is_same_size",
    "lu",
    "pdist",
    "range",
    "tril_indices",
    "triu_indices",
    "unravel_index",
    "vander",
]


@shown_as_given
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """Return zeros with the elements on a diagonal.

    >>> import rushlight as torch
    >>> torch.diagflat(torch.tensor([1, 2]))
    tensor([[1, 0],
            [0, 2]])
    """
    return input.contiguous().view(-1).diag_embed(offset)


@taking(
    "(Tensor input, *, int[] dim, int edge_order=1)",
    "(Tensor input, *, Number spacing, int[] dim, int edge_order=1)",
    "(Tensor input, *, Number? spacing=None, int? dim=None, int edge_order=1)",
    "(Tensor input, *, Number[] spacing, int? dim=None, int edge_order=1)",
    "(Tensor input, *, Number[] spacing, int[] dim, int edge_order=1)",
    "(Tensor input, *, Tensor[] spacing, int? dim=None, int edge_order=1)",
    "(Tensor input, *, Tensor[] spacing, int[] dim, int edge_order=1)",
)
def gradient(
    input: Tensor, *, spacing: Any = None, dim: Any = None, edge_order: int = 1
) -> tuple[Tensor, ...]:
    """Return estimates of the slopes along dimensions, from differences of neighbours.

    >>> import rushlight as torch
    >>> torch.gradient(torch.tensor([1.0, 4.0, 9.0]))
    (tensor([3., 4., 5.]),)
    """
    if edge_order not in (1, 2):
        raise RuntimeError("torch.gradient only supports edge_order=1 and edge_order=2.")
    if dim is None:
        dims = list(builtins.range(input.dim()))
    else:
        dims = [dim] if isinstance(dim, int) else list(dim)
    if spacing is None or isinstance(spacing, (int, float)):
        spaces: list[Any] = [1.0 if spacing is None else spacing] * len(dims)
    else:
        spaces = [spacing] if isinstance(spacing, Tensor) else list(spacing)
        if len(spaces) != len(dims):
            raise RuntimeError(_unmatched(len(spaces), None if dim is None else len(dims), input.dim()))
    numbers = []
    for place in dims:
        input.size(place)  # says so if there is no such dimension
        if place % input.dim() in numbers:
            raise RuntimeError(f"dim {place % input.dim()} appears multiple times in the list of dims")
        numbers.append(place % input.dim())
        if input.shape[place] <= edge_order:
            raise RuntimeError("torch.gradient expected each dimension size to be at least edge_order+1")
    if not (input.is_floating_point() or input.is_complex()):
        input = input.to(native.get_default_dtype())
    return tuple(_slope(input, dim, space, edge_order) for dim, space in zip(numbers, spaces, strict=True))


def _unmatched(spaces: int, dims: int | None, ndim: int) -> str:
    """Return what is wrong with more or fewer distances than dimensions."""
    if dims is None:
        return (
            "torch.gradient expected spacing to be unspecified, a scalar, or a list of length equal to "
            f"'self.dim() = {ndim}', since dim argument was not given, but got a list of length {spaces}"
        )
    return (
        "torch.gradient expected spacing to be unspecified, a scalar or it's spacing and dim arguments to "
        f"have the same length, but got a spacing argument of length {spaces} and a dim argument of length "
        f"{dims}."
    )


def _slope(x: Tensor, dim: int, space: Any, edge_order: int) -> Tensor:
    """Return the slopes along a dimension: of parabolas through three points, or of lines at the edges."""

    def part(start: int, end: int | None) -> Tensor:
        return _nn.slice(x, dim, start, end)

    if isinstance(space, Tensor) and space.dim() > 0:
        return _slope_between(part, space.diff(), dim, x.dim(), edge_order)
    width, times = float(space) if isinstance(space, Tensor) else space, _nn.mul_number
    inner = _nn.div_number(_rise(part, (0, -2), (2, None)), width)
    if edge_order == 1:
        first, last = _rise(part, (0, 1), (1, 2)), _rise(part, (-2, -1), (-1, None))
    else:
        first = times(part(0, 1), -1.5) + times(part(1, 2), 2) - times(part(2, 3), 0.5)
        last = times(part(-3, -2), 0.5) - times(part(-2, -1), 2) + times(part(-1, None), 1.5)
    edges = [_nn.div_number(edge, width) for edge in (first, last)]
    return native.cat([edges[0], _nn.div_number(inner, 2), edges[1]], dim)


def _rise(part: Any, earlier: tuple[int, int], later: tuple[int, int | None]) -> Tensor:
    """Return how much more there is in the later part. The earlier one is recorded first, as in torch."""
    before: Tensor = part(*earlier)
    difference: Tensor = part(*later) - before
    return difference


def _slope_between(part: Any, steps: Tensor, dim: int, count: int, edge_order: int) -> Tensor:
    """`_slope` where the points lie as far apart as `steps` say."""
    shape = [-1 if place == dim else 1 for place in builtins.range(count)]
    one, other = steps[:-1], steps[1:]
    both = one + other
    weights = (-other / (one * both), (other - one) / (one * other), one / (other * both))
    inner = _weighed([weight.reshape(shape) for weight in weights], [part(0, -2), part(1, -1), part(2, None)])
    if edge_order == 1:
        first = _rise(part, (0, 1), (1, 2)) / steps[0]
        last = _rise(part, (-2, -1), (-1, None)) / steps[-1]
        return native.cat([first, inner, last], dim)
    near, far = steps[0], steps[1]
    both = near + far
    weights = (-(2 * near + far) / (near * both), both / (near * far), -near / (far * both))
    first = _weighed(weights, [part(0, 1), part(1, 2), part(2, 3)])
    near, far = steps[-1], steps[-2]
    both = near + far
    weights = (near / (far * both), -both / (near * far), (2 * near + far) / (near * both))
    last = _weighed(weights, [part(-3, -2), part(-2, -1), part(-1, None)])
    return native.cat([first, inner, last], dim)


def _weighed(weights: Sequence[Tensor], parts: Sequence[Tensor]) -> Tensor:
    first, second, third = (weight * part for weight, part in zip(weights, parts, strict=True))
    return first + second + third


@shown
def cdist(
    x1: Tensor, x2: Tensor, p: float = 2.0, compute_mode: Any = "use_mm_for_euclid_dist_if_necessary"
) -> Tensor:
    """Return the distances of all rows of one tensor to all rows of another.

    >>> import rushlight as torch
    >>> torch.cdist(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([[5.]])
    """
    if compute_mode not in _DISTANCES:
        raise ValueError(f"{compute_mode} is not a valid value for compute_mode")
    return native._nn.cdist(x1, x2, p, _DISTANCES.index(compute_mode))


_DISTANCES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@shown_as_given
def pdist(input: Tensor, p: float = 2.0) -> Tensor:
    """Return the distances of all pairs of rows, each pair once.

    >>> import rushlight as torch
    >>> torch.pdist(torch.tensor([[0.0, 0.0], [3.0, 4.0]]))
    tensor([5.])
    """
    if input.dim() != 2:
        raise RuntimeError(f"pdist only supports 2D tensors, got: {input.dim()}D")
    if not input.is_floating_point():
        raise RuntimeError("pdist only supports floating-point dtypes")
    if p < 0:
        raise RuntimeError("pdist only supports non-negative p values")
    rows, columns = triu_indices(len(input), len(input), 1)
    if not input.numel():
        return input.new_zeros(len(rows))

    def distances(input: Tensor) -> Tensor:
        return native._nn.linalg_vector_norm(input[rows] - input[columns], p, -1)

    (result,) = native._as_one(
        distances, ("_pdist_forward", "PdistBackward0", "self result"), (1, 0, 0), {"p": float(p)}, input
    )
    return result


@shown_as_given
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Tell whether both have the same shape.

    >>> import rushlight as torch
    >>> torch.is_same_size(torch.ones(2, 1), torch.ones(1, 2))
    False
    """
    return input.shape == other.shape


@taking("(Tensor self, int[] size)")
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """Return the sums over the dimensions along which a tensor of that size would broadcast.

    >>> import rushlight as torch
    >>> torch.ones(2, 3).sum_to_size(2, 1)
    tensor([[3.],
            [3.]])
    """
    shape = list(size[0]) if len(size) == 1 and not isinstance(size[0], int) else list(size)
    if not shape:
        return self.sum()
    missing = self.dim() - len(shape)
    fits = missing >= 0 and all(
        wanted in (1, has) for wanted, has in zip(shape, self.shape[max(missing, 0) :], strict=False)
    )
    if not fits:
        raise RuntimeError(f"size {{{shape}}} is not expandable to size {{{list(self.shape)}}}.")
    leading = list(builtins.range(missing))
    summed = [
        place + missing
        for place, wanted in enumerate(shape)
        if wanted == 1 and self.shape[place + missing] != 1
    ]
    if leading or summed:
        self = self.sum([*leading, *summed], keepdim=True)
    return self.view(shape) if missing else self


@shown_as_given
def fill_diagonal_(self: Tensor, fill_value: Number, wrap: bool = False) -> Tensor:
    """Set the elements whose indices are all the same; in a tall matrix again and again if `wrap`.

    >>> import rushlight as torch
    >>> torch.zeros(2, 2).fill_diagonal_(5)
    tensor([[5., 0.],
            [0., 5.]])
    """
    if self.dim() < 2:
        raise RuntimeError("dimensions must larger than 1")
    if self.dim() > 2 and any(size != self.shape[0] for size in self.shape):
        raise RuntimeError("all dimensions of input must be of equal length")
    least, stride = min(self.shape), sum(self.stride())
    self.as_strided((least,), (stride,)).fill_(fill_value)
    if wrap and self.dim() == 2 and self.shape[0] > self.shape[1] + 1:
        rows, columns = self.shape
        step = columns + 1
        for start in builtins.range(step, rows, step):
            part = self[start : start + columns]
            part.diagonal().fill_(fill_value)
    return self


def _triangle(row: int, col: int, keep: Any, dtype: Any) -> Tensor:
    for name, size in (("row", row), ("col", col)):
        if size < 0:
            raise RuntimeError(f"{name} must be non-negative, got{size}")
    places: Tensor = keep(native.ones(row, col)).nonzero().t()
    return places.to(native.int64 if dtype is None else dtype).contiguous()


@shown_as_given
def tril_indices(
    row: int, col: int, offset: int = 0, *, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Return rows and columns of what is on or below a diagonal.

    >>> import rushlight as torch
    >>> torch.tril_indices(2, 2)
    tensor([[0, 1, 1],
            [0, 0, 1]])
    """
    return _triangle(row, col, lambda x: x.tril(offset), dtype)


@shown_as_given
def triu_indices(
    row: int, col: int, offset: int = 0, *, dtype: DType | None = None, device: Any = None
) -> Tensor:
    """Return rows and columns of what is on or above a diagonal.

    >>> import rushlight as torch
    >>> torch.triu_indices(2, 2)
    tensor([[0, 0, 1],
            [0, 1, 1]])
    """
    return _triangle(row, col, lambda x: x.triu(offset), dtype)


@shown_to("indices")
def unravel_index(indices: Tensor, shape: Any) -> tuple[Tensor, ...]:
    """Return the coordinates of elements that are numbered in row-major order.

    >>> import rushlight as torch
    >>> torch.unravel_index(torch.tensor([5, 2]), (3, 2))
    (tensor([2, 1]), tensor([1, 0]))
    """
    if indices.is_floating_point() or indices.is_complex() or indices.dtype is native.bool:
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    if not isinstance(shape, (int, tuple, list)):
        got = str(type(shape)).replace("rushlight", "torch")
        raise TypeError(f"expected 'shape' to be int or sequence of ints, but got {got}")
    sizes = [shape] if isinstance(shape, int) else list(shape)
    for size in sizes:
        if not isinstance(size, int):
            raise TypeError(f"expected 'shape' sequence to only contain ints, but got {type(size)}")
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {tuple(sizes)}")
    steps = [math.prod(sizes[place + 1 :]) for place in builtins.range(len(sizes))]
    coordinates = indices.unsqueeze(-1).div(native.tensor(steps, dtype=native.int64), rounding_mode="floor")
    return (coordinates % native.tensor(sizes, dtype=native.int64)).unbind(-1)


@shown_as_given
def vander(x: Tensor, N: int | None = None, increasing: bool = False) -> Tensor:
    """Return the powers of every element, the highest first.

    >>> import rushlight as torch
    >>> torch.vander(torch.tensor([2, 3]), 3)
    tensor([[4, 2, 1],
            [9, 3, 1]])
    """
    if x.dim() != 1:
        raise RuntimeError("x must be a one-dimensional tensor.")
    count = len(x) if N is None else N
    if count < 0:
        raise RuntimeError("N must be non-negative.")
    powers = native.arange(count)
    return x.unsqueeze(-1) ** (powers if increasing else powers.flip(0))


@taking(
    "(Number start, Number end, Number step=1, *, Tensor? out=None, dtype? dtype=None, layout? layout=None, "
    "device? device=None, bool? pin_memory=False, bool requires_grad=False)"
)
def range(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    **options: Any,
) -> Tensor:
    """Return the numbers up to the last one, which is among them."""
    import warnings

    warnings.warn(_RANGE, UserWarning, stacklevel=2)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = math.floor((end - start) / step) + 1
    found = native.arange(count, **options).to(dtype or native.get_default_dtype()) * step + start
    return native._written("range", found, out)


_RANGE = (
    "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent "
    "with Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
)


_LU = (
    "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be "
    "removed in a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced "
    "with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
    "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
    "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
)


@shown_to("A")
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> tuple[Tensor, ...]:
    """Return both triangles of a matrix in one, with the exchanges of rows.

    >>> import rushlight as torch
    >>> factors, exchanges = torch.tensor([[0.0, 2.0], [4.0, 8.0]]).lu()
    >>> factors
    tensor([[4., 8.],
            [0., 2.]])
    >>> exchanges
    tensor([2, 2], dtype=torch.int32)
    """
    from ..return_types import _lu_with_info

    warn_once(_LU)
    factors, pivots, info = native._nn.linalg_lu_factor_ex(A, pivot=pivot)
    return _lu_with_info((factors, pivots, info)) if get_infos else (factors, pivots)


METHODS = (
    diagflat,
    fill_diagonal_,
    is_same_size,
    lu,
    sum_to_size,
)

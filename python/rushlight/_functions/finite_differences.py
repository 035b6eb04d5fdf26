"""The gradient of a sampled function, by differences between neighbouring samples."""

from __future__ import annotations

import builtins

from .. import _rushlight as native
from .._calls.showing import taking
from .._rushlight import Tensor

_nn = native._nn


TYPE_CHECKING = False  # `typing` would take longer to import than all of this.
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any


__all__ = ["gradient"]


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
    if input.dtype is native.uint8:
        raise RuntimeError("torch.gradient does not support uint8 input.")
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

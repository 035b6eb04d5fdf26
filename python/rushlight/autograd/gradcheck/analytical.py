"""Derivatives by autograd: backward with one-hot gradients, and forward with one-hot tangents."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, zeros_like
from ..differentiate import grad
from ._messages import NOT_REPEATABLE
from ._tensors import GradcheckError, as_tuple, inputs_of, is_float, requires_grad

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Matrices = tuple[Tensor, ...]


def backward_jacobians(
    inputs: Any, output: Tensor, nondet_tol: float, check_dtypes: bool, weight: Tensor | None = None
) -> Matrices:
    """Return, for each input, a matrix with a column an element of `output`; or only one, for `weight`.

    Every backward runs twice, and must give the same up to `nondet_tol`.
    """
    matrices, types_match, sizes_match = _columns(inputs, output, weight)
    again, _, _ = _columns(inputs, output, weight)
    if check_dtypes and not types_match:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes_match:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not _same(matrices, again, nondet_tol):
        raise GradcheckError(NOT_REPEATABLE.format(tolerance=nondet_tol))
    return matrices


def summary(inputs: Any, output: Tensor, nondet_tol: float) -> tuple[Matrices, bool, bool, bool]:
    """Return the matrices, and whether they are repeatable, of the right sizes and of the right types."""
    matrices, types_match, sizes_match = _columns(inputs, output, None)
    again, _, _ = _columns(inputs, output, None)
    return matrices, _same(matrices, again, nondet_tol), sizes_match, types_match


def _columns(inputs: Any, output: Tensor, weight: Tensor | None) -> tuple[Matrices, bool, bool]:
    """Return the matrices, and whether all gradients had the types and the sizes of their inputs."""
    tensors = list(inputs_of(inputs))
    weights = _one_hot(output) if weight is None else iter([weight.reshape(output.shape)])
    count = output.numel() if weight is None else 1
    matrices = tuple(tensor.new_zeros(tensor.numel(), count) for tensor in tensors)
    types_match = sizes_match = True
    for column, gradient in enumerate(weights):
        found: Any = grad(output, tensors, gradient, retain_graph=True, allow_unused=True)
        for matrix, tensor, slope in zip(matrices, tensors, found, strict=True):
            if slope is None:
                continue
            if slope.shape != tensor.shape:
                sizes_match = False
            elif slope.dtype != tensor.dtype:
                types_match = False
            if slope.numel() != tensor.numel():
                raise AssertionError(
                    f"Expected out_jacobian column to have {slope.numel()} elements, but got {tensor.numel()}"
                )
            matrix[:, column] = slope.detach().reshape(-1)
    return matrices, types_match, sizes_match


def _one_hot(tensor: Tensor) -> Iterator[Tensor]:
    for index in product(*map(range, tensor.shape)):
        vector = zeros_like(tensor).detach()
        vector[index] = 1
        yield vector


def _same(first: Matrices, second: Matrices, tolerance: float) -> bool:
    return not any(
        one.numel() and bool((one - other).abs().max() > tolerance)
        for one, other in zip(first, second, strict=True)
    )


def forward_jacobians(
    fn: Callable[..., Any],
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
    directions: list[Tensor] | None = None,
    check_dtypes: bool = False,
) -> list[list[Tensor]]:
    """Return, for each input, a matrix an output with a row an element; or a vector, along a direction."""
    shapes = [output for output in outputs if is_float(output)]
    places = [place for place, tensor in enumerate(inputs) if requires_grad(tensor)]
    result = []
    for number, place in enumerate(places):
        if directions is None:
            rows = [
                _pushed(fn, inputs, place, tangent, shapes, check_dtypes)
                for tangent in _one_hot(inputs[place])
            ]
            matrices = [output.new_zeros(inputs[place].numel(), output.numel()) for output in shapes]
            for row, vectors in enumerate(rows):
                for matrix, vector in zip(matrices, vectors, strict=True):
                    matrix[row] = vector
            result.append(matrices)
        else:
            tangent = directions[number].reshape(inputs[place].shape)
            result.append(_pushed(fn, inputs, place, tangent, shapes, check_dtypes))
    return result


def _pushed(
    fn: Callable[..., Any],
    inputs: tuple[Any, ...],
    place: int,
    tangent: Tensor,
    shapes: list[Tensor],
    check_dtypes: bool,
) -> list[Tensor]:
    """Return the tangents of the outputs as vectors, when one input has a tangent and the others zeros."""
    from .. import forward_ad

    with forward_ad.dual_level():
        duals = dual_inputs(inputs, {place: tangent})
        found = [output for output in as_tuple(fn(*duals)) if is_float(output)]
        vectors = []
        for output, shape in zip(found, shapes, strict=False):
            primal, pushed = forward_ad.unpack_dual(output)
            if check_dtypes and pushed is not None and primal.is_complex() != pushed.is_complex():
                raise GradcheckError("Forward AD gradient has dtype mismatch.")
            vectors.append(shape.new_zeros(shape.numel()) if pushed is None else pushed.detach().reshape(-1))
        return vectors


def dual_inputs(inputs: tuple[Any, ...], tangents: dict[int, Tensor]) -> list[Any]:
    """Return the inputs with the given tangents by position; those to differentiate by have zeros "
    "otherwise."""
    from .. import forward_ad

    return [
        forward_ad.make_dual(tensor.detach(), tangents.get(place, zeros_like(tensor).detach()))
        if requires_grad(tensor)
        else tensor
        for place, tensor in enumerate(inputs)
    ]

"""Derivatives by finite differences."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ._tensors import as_tuple, inputs_of, is_float, requires_grad

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    Outputs = tuple[Tensor, ...]


def numerical_jacobians(
    fn: Callable[..., Any], inputs: Any, outputs: Any = None, target: Any = None, eps: float = 1e-3
) -> list[Outputs]:
    """Return, for each input to differentiate by, a matrix an output."""
    if outputs is None:
        outputs = as_tuple(fn(*as_tuple(inputs)))
    if target is None:
        target = inputs
    places = [place for place, tensor in enumerate(target) if requires_grad(tensor)]
    return [
        get_numerical_jacobian_wrt_specific_input(fn, place, inputs, outputs, eps, input=tensor)
        for place, tensor in zip(places, inputs_of(target), strict=False)
    ]


def get_numerical_jacobian_wrt_specific_input(
    fn: Callable[..., Any],
    input_idx: int,
    inputs: Sequence[Any],
    outputs: Sequence[Tensor],
    eps: float,
    input: Tensor | None = None,
    is_forward_ad: bool = False,
) -> Outputs:
    """Return, for each of `outputs`, a matrix with a row an element of one input.

    Each element is moved by `eps` to both sides.
    """
    tensor = inputs[input_idx] if input is None else input
    if not tensor.requires_grad:
        raise AssertionError("Expected input to have requires_grad=True")
    floats = [place for place, output in enumerate(outputs) if is_float(output)]
    dtype = tensor.dtype if tensor.is_complex() else None
    matrices = tuple(
        outputs[place].new_zeros(tensor.numel(), outputs[place].numel(), dtype=dtype or outputs[place].dtype)
        for place in floats
    )
    data = tensor.data  # The same memory, but changing it does not count as an operation in place.
    for row, index in enumerate(product(*map(range, data.shape))):
        slopes = _slopes(fn, inputs, data[index], (eps, eps), eps, f"on index {index} by {eps}")
        for matrix, place in zip(matrices, floats, strict=True):
            matrix[row] = slopes[place]
    return matrices


def numerical_products(
    fn: Callable[..., Any], place: int, inputs: tuple[Any, ...], parts: tuple[Tensor, ...], eps: float
) -> list[Tensor]:
    """Return, for each output, the derivative along a direction of one input, or of each of its parts."""
    data = inputs[place].data
    steps = tuple(part.reshape(data.shape) * eps for part in parts)
    return _slopes(fn, inputs, data, steps, eps, f"by {eps}")


def _slopes(
    fn: Callable[..., Any], inputs: Sequence[Any], place: Tensor, steps: Any, norm: float, where: str
) -> list[Tensor]:
    """Return how the outputs change: with a complex input along its real part and i times along the other."""
    along = _difference(fn, inputs, place, steps[0], norm, where)
    if not place.is_complex():
        return along
    across = _difference(fn, inputs, place, steps[1] * 1j, norm, where)
    return [real + imaginary * 1j for real, imaginary in zip(along, across, strict=True)]


def _difference(
    fn: Callable[..., Any], inputs: Sequence[Any], place: Tensor, step: Any, norm: float, where: str
) -> list[Tensor]:
    """Return the central difference quotients of the outputs as vectors; `place` is memory of an input."""
    before = place.clone()
    place.copy_(before - step)
    below = [output.clone() for output in as_tuple(fn(*inputs))]
    place.copy_(before + step)
    above = [output.clone() for output in as_tuple(fn(*inputs))]
    place.copy_(before)
    quotients = []
    for low, high in zip(below, above, strict=False):
        for what, one, other in (("shape", low.shape, high.shape), ("dtype", low.dtype, high.dtype)):
            if one != other:
                raise AssertionError(
                    f"Expected `func` to return outputs with the same {what} when inputs are perturbed "
                    f"{where}, but got: {what}s {one} and {other}."
                )
        quotients.append(((high - low) / (2 * norm)).detach().reshape(-1))
    return quotients

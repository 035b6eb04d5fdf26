"""Going through the inputs and outputs of a function under test."""

from __future__ import annotations

from ..._rushlight import Tensor, allclose, complex128, float64, promote_types

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any


class GradcheckError(RuntimeError):
    """A gradient that is not what finite differences say."""

    __module__ = __package__


def as_tuple(value: Any) -> tuple[Any, ...]:
    """Return one thing, or a list of them, as a tuple."""
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def is_float(value: Any) -> bool:
    """Tell whether there can be a gradient by `value`, or of it."""
    return isinstance(value, Tensor) and (value.is_floating_point() or value.is_complex())


def requires_grad(value: Any) -> bool:
    """Tell whether `value` is a tensor to differentiate by."""
    return isinstance(value, Tensor) and value.requires_grad


def differentiable(outputs: Any) -> tuple[Tensor, ...]:
    """Return the outputs that have a gradient."""
    return tuple(output for output in as_tuple(outputs) if output.requires_grad)


def iter_tensors(x: Any, only_requiring_grad: bool = False) -> Iterator[Tensor]:
    """Yield the tensors in whatever nest of containers."""
    from collections.abc import Iterable

    if isinstance(x, Tensor):
        if x.requires_grad or not only_requiring_grad:
            yield x
    elif isinstance(x, Iterable) and not isinstance(x, str):
        for element in x:
            yield from iter_tensors(element, only_requiring_grad)


def inputs_of(value: Any) -> Iterator[Tensor]:
    """Yield the tensors to differentiate by."""
    return iter_tensors(value, only_requiring_grad=True)


def check_inputs(inputs: tuple[Any, ...]) -> None:
    """Check that finite differences of the inputs make sense."""
    for index, tensor in enumerate(inputs):
        if not requires_grad(tensor):
            continue
        if tensor.dtype not in (float64, complex128):
            import warnings

            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating point or "
                "complex. ",
                stacklevel=4,
            )
        if any(step <= 0 and size > 1 for step, size in zip(tensor.stride(), tensor.shape, strict=True)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not any(map(requires_grad, inputs)):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def close(found: Tensor, expected: Tensor, rtol: float, atol: float) -> bool:
    """Tell whether two tensors agree, each element within its tolerance, whatever their types."""
    common = promote_types(found.dtype, expected.dtype)
    return bool(allclose(found.to(common), expected.to(common), rtol, atol))


def is_zero(tensor: Tensor) -> bool:
    """Tell whether no element differs from zero."""
    return not bool((tensor != 0).any())

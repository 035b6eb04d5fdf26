"""Gradients that are zero or not there: what has to come back for them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, _undefined_gradient, allclose, zeros_like
from ..differentiate import grad
from ._messages import UNDEFINED, UNDEFINED_HINT
from ._tensors import (
    GradcheckError,
    as_tuple,
    differentiable,
    inputs_of,
    is_float,
    is_zero,
    requires_grad,
)
from .analytical import dual_inputs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


def check_zero_gradients(outputs: tuple[Tensor, ...], inputs: tuple[Any, ...], masked: bool) -> None:
    """Zero gradients of the outputs must give zero gradients of the inputs, of their types and sizes."""
    tensors = list(inputs_of(inputs))
    if not tensors:
        raise GradcheckError("no Tensors requiring grad found in input")
    if not outputs:
        return
    found: Any = grad(outputs, tensors, [zeros_like(output) for output in outputs], allow_unused=True)
    for gradient, tensor in zip(found, tensors, strict=True):
        if gradient is None:
            continue
        if not (allclose(gradient, zeros_like(gradient)) if masked else is_zero(gradient)):
            raise GradcheckError("backward not multiplied by grad_output")
        for what in ("dtype", "device", "shape"):
            if getattr(gradient, what) != getattr(tensor, what):
                wrong = {"dtype": "type", "shape": "size"}.get(what, what)
                raise GradcheckError(f"grad is incorrect {wrong}")


def check_undefined_gradients(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Gradients that are not there must be taken for zeros: all at once, then one at a time."""
    tensors = list(inputs_of(inputs))
    if not tensors:
        raise GradcheckError("no Tensors requiring grad found in input")
    count = len(differentiable(func(*inputs)))
    every = set(range(count))
    for missing in [every, *({index} for index in every if count > 1)]:
        outputs = differentiable(func(*inputs))
        _check_undefined(
            [
                _undefined_gradient(output) if index in missing else output
                for index, output in enumerate(outputs)
            ],
            tensors,
        )


def _check_undefined(outputs: Sequence[Tensor], tensors: list[Tensor]) -> None:
    if not outputs:
        return
    try:
        found: Any = grad(outputs, tensors, [zeros_like(output) for output in outputs], allow_unused=True)
    except RuntimeError as error:
        _warn()
        raise GradcheckError(
            f"Expected backward function to handle undefined output grads. {UNDEFINED}"
        ) from error
    if not all(gradient is None or is_zero(gradient) for gradient in found):
        _warn()
        raise GradcheckError(
            "Expected all input grads to be undefined or zero when all output grads are undefined or zero. "
            + UNDEFINED
        )


def _warn() -> None:
    import warnings

    warnings.warn(UNDEFINED_HINT, stacklevel=6)


def check_undefined_tangents(
    func: Callable[..., Any], inputs: tuple[Any, ...], tangents: list[Tensor]
) -> None:
    """Check that a tangent that is not there is taken for zeros, one input at a time."""
    from .. import forward_ad

    places = [place for place, tensor in enumerate(inputs) if requires_grad(tensor)]
    given = {
        place: tangent.reshape(inputs[place].shape) for place, tangent in zip(places, tangents, strict=True)
    }
    for place in places:
        tensor = inputs[place]
        with forward_ad.dual_level():
            duals = dual_inputs(inputs, {**given, place: zeros_like(tensor).detach()})
            expected = [output for output in as_tuple(func(*duals)) if is_float(output)]
            duals[place] = tensor.detach()
            found = [output for output in as_tuple(func(*duals)) if is_float(output)]
            for index, (one, other) in enumerate(zip(expected, found, strict=False)):
                zero, undefined = (forward_ad.unpack_dual(output).tangent for output in (one, other))
                if zero is not None and undefined is not None and not allclose(zero, undefined):
                    raise GradcheckError(
                        "Mismatch in tangent values for output with index: ",
                        index,
                        " when input: ",
                        tensor,
                        " has an undefined tangent value. ",
                        " Got: ",
                        zero,
                        " but expected: ",
                        undefined,
                    )

"""What goes into the products and matrices, and what comes out: one tensor, or a tuple of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, zeros_like
from ..differentiate import grad

if TYPE_CHECKING:
    from collections.abc import Sequence

    Tensors = tuple[Tensor, ...]
    OptionalTensors = Sequence[Tensor | None]

RESULT = "outputs of the user-provided function"


def as_tuple(value: Any, what: str, caller: str) -> tuple[bool, Tensors]:
    """Tell whether `value` is a tuple, and return it as one after checking what is in it."""
    is_tuple = isinstance(value, tuple)
    tensors = value if is_tuple else (value,)
    for index, tensor in enumerate(tensors):
        if not isinstance(tensor, Tensor):
            where = f"value at index {index}" if is_tuple else f"given {what}"
            raise TypeError(
                f"The {what} given to {caller} must be either a Tensor or a tuple of Tensors but the {where} "
                f"has type {type(tensor)}."
            )
    return is_tuple, tensors


def as_given(tensors: Any, is_tuple: bool) -> Any:
    """Return what `as_tuple` made a tuple of in the form that it had."""
    return tuple(tensors) if is_tuple else tensors[0]


def fresh(tensors: Tensors, create_graph: bool, need_graph: bool = True) -> Tensors:
    """Return tensors that are not those which the function may have captured.

    With `create_graph` they lead back to the given ones.
    """
    return tuple(
        tensor.view_as(tensor)
        if create_graph and tensor.requires_grad
        else tensor.detach().requires_grad_(need_graph)
        for tensor in tensors
    )


def detached(tensors: Any, create_graph: bool) -> Any:
    """Return results without history, unless the caller asked for it; tuples of tuples, too."""
    if create_graph:
        return tensors
    return tuple(one.detach() if isinstance(one, Tensor) else detached(one, create_graph) for one in tensors)


def check_vector(v: Tensors, like: Tensors, is_tuple: bool) -> None:
    """Check that there is one entry of the right size for every tensor of `like`."""
    if len(v) != len(like):
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(v)}."
            if is_tuple
            else "The given v should contain a single Tensor."
        )
    for index, (entry, tensor) in enumerate(zip(v, like, strict=True)):
        if entry.shape != tensor.shape:
            where = f"Entry {index} in " if is_tuple else ""
            raise RuntimeError(f"{where}v has invalid size: should be {tensor.shape} but got {entry.shape}.")


def vector(v: Any, like: Tensors, is_tuple: bool, caller: str, create_graph: bool) -> Tensors | None:
    """Check the vector of a product; `None` stands for one, where `like` has a single element."""
    if v is not None:
        _, entries = as_tuple(v, "v", caller)
        entries = fresh(entries, create_graph, need_graph=False)
        check_vector(entries, like, is_tuple)
        return entries
    if len(like) != 1 or like[0].numel() != 1:
        raise RuntimeError(
            "The vector v can only be None if the user-provided function returns a single Tensor with a "
            "single element."
            if caller == "vjp"
            else "The vector v can only be None if the input to the user-provided function is a single "
            "Tensor with a single element."
        )
    return None


def scalar(result: Any, caller: str, strict: bool) -> Tensors:
    """Check that a function returned a single element, and return it in a tuple."""
    is_tuple, outputs = as_tuple(result, RESULT, caller)
    check_outputs(outputs, strict)
    if is_tuple:
        raise RuntimeError(f"The function given to {caller} should return a single Tensor")
    if outputs[0].numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {caller} should contain a single element"
        )
    return outputs


def gradients(
    outputs: OptionalTensors, inputs: Tensors, weights: OptionalTensors | None = None, **options: Any
) -> Any:
    """Return the gradients of those of `outputs` that have any; `None` for what they do not depend on."""
    pairs = [
        (output, weight)
        for output, weight in zip(outputs, weights or [None] * len(outputs), strict=True)
        if output is not None and output.requires_grad
    ]
    if not pairs:
        return (None,) * len(inputs)
    roots, given = zip(*pairs, strict=True)
    return grad(roots, inputs, given, allow_unused=True, **options)


# -- what `strict` refuses -----------------------------------------------------------------------------


def check_outputs(outputs: Tensors, strict: bool) -> None:
    """With `strict`, every output must have a history."""
    for index, output in enumerate(outputs):
        if strict and not output.requires_grad:
            raise RuntimeError(
                f"Output {index} of the user-provided function does not require gradients. The outputs must "
                "be computed in a differentiable manner from the input when running in strict mode."
            )


def check_used(found: OptionalTensors, strict: bool, otherwise: str) -> None:
    """With `strict`, every gradient must be there and have a history: else `otherwise` is the error."""
    for index, gradient in enumerate(found):
        if strict and gradient is None:
            raise RuntimeError(
                f"The output of the user-provided function is independent of input {index}. This is not "
                "allowed in strict mode."
            )
        if strict and gradient is not None and not gradient.requires_grad:
            raise RuntimeError(otherwise.format(index=index))


GRADIENT_CONSTANT = (
    "The gradient with respect to input {index} is independent of the inputs of the user-provided function. "
    "This is not allowed in strict mode."
)
JACOBIAN_CONSTANT = (
    "While computing the hessian, found that the jacobian of the user-provided function with respect to "
    "input {index} is independent of the input. This is not allowed in strict mode. You should ensure that "
    "your function is twice differentiable and that the jacobian depends on the inputs (this would be "
    "violated by a linear function for example)."
)
HESSIAN_CONSTANT = (
    "The hessian of the user-provided function with respect to input {index} is independent of the input. "
    "This is not allowed in strict mode. You should ensure that your function is thrice differentiable and "
    "that the hessian depends on the inputs."
)

# What is missing when a gradient is: of the first derivative, or of the second, directly or by the trick.
VJP = (
    "The output of the user-provided function is independent of input {index}. This is not allowed in strict "
    "mode."
)
JVP = (
    "The gradient with respect to the input is independent of entry {index} in the grad_outputs when using "
    "the double backward trick to compute forward mode gradients. This is not allowed in strict mode."
)
VHP = (
    "The jacobian of the user-provided function is independent of input {index}. This is not allowed in "
    "strict mode."
)
HVP = (
    "The hessian of the user-provided function is independent of entry {index} in the grad_jacobian. This is "
    "not allowed in strict mode as it prevents from using the double backward trick to replace forward mode "
    "AD."
)


def filled(found: OptionalTensors, like: Tensors, strict: bool, create_graph: bool, missing: str) -> Tensors:
    """Return the gradients with zeros for those that are missing, which with `strict` is an error."""
    derivative = "jacobian" if missing in (VJP, JVP) else "hessian"
    result = []
    for index, (gradient, tensor) in enumerate(zip(found, like, strict=True)):
        if gradient is None:
            if strict:
                raise RuntimeError(missing.format(index=index))
            gradient = zeros_like(tensor)
        elif strict and create_graph and not gradient.requires_grad:
            raise RuntimeError(
                f"The {derivative} of the user-provided function is independent of input {index}. This is "
                "not allowed in strict mode when create_graph=True."
            )
        result.append(gradient)
    return tuple(result)

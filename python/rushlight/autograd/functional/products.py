"""Products of a vector with a Jacobian or a Hessian: `vjp`, `jvp`, `vhp` and `hvp`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import is_grad_enabled, zeros_like
from ..grad_mode import enable_grad, set_grad_enabled
from . import _tensors as tensors
from ._tensors import as_given, as_tuple, check_outputs, check_used, detached, filled, fresh, gradients

if TYPE_CHECKING:
    from collections.abc import Callable


def _product(of: Any, by: Any, vector: Any, like: Any, strict: bool, create_graph: bool, missing: str) -> Any:
    """Return the gradients of `of` by `by`, weighed with `vector`, and zeros like `like` for missing ones."""
    with set_grad_enabled(create_graph or is_grad_enabled()):
        found = gradients(of, by, vector, create_graph=create_graph)
        product = filled(found, like, strict, create_graph, missing)
    return detached(product, create_graph)


def _slopes(
    func: Callable[..., Any], inputs: Any, v: Any, name: str, create_graph: bool, strict: bool
) -> tuple[Any, ...]:
    """Return whether the inputs are a tuple, then as tuples: inputs, vector, outputs and their gradients."""
    is_tuple, inputs = as_tuple(inputs, "inputs", name)
    inputs = fresh(inputs, create_graph)
    vector = tensors.vector(v, inputs, is_tuple, name, create_graph)
    outputs = tensors.scalar(func(*inputs), name, strict)
    slopes = gradients(outputs, inputs, create_graph=True)
    check_used(slopes, strict, tensors.JACOBIAN_CONSTANT)
    return is_tuple, inputs, vector, outputs, slopes


def vjp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the value of `func` at `inputs`, and the product of `v` with its Jacobian there.

    `v` has the sizes of the value, and may be left out if that has one element.

    >>> import rushlight as torch
    >>> x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    >>> torch.autograd.functional.vjp(lambda x: x * x, x, v)
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        is_tuple, inputs = as_tuple(inputs, "inputs", "vjp")
        inputs = fresh(inputs, create_graph)
        result_is_tuple, outputs = as_tuple(func(*inputs), tensors.RESULT, "vjp")
        check_outputs(outputs, strict)
        weights = tensors.vector(v, outputs, result_is_tuple, "vjp", create_graph)
    product = _product(outputs, inputs, weights, inputs, strict, create_graph, tensors.VJP)
    return (
        as_given(detached(outputs, create_graph), result_is_tuple),
        as_given(product, is_tuple),
    )


def jvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the value of `func` at `inputs`, and the product of its Jacobian there with `v`.

    `v` has the sizes of the inputs, and may be left out if these have one element. Computed as the derivative
    of `vjp` by its vector; `func.jvp` needs no backward.

    >>> import rushlight as torch
    >>> x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    >>> torch.autograd.functional.jvp(lambda x: x * x, x, v)
    (tensor([1., 4.]), tensor([ 2., 40.]))
    """
    with enable_grad():
        is_tuple, inputs = as_tuple(inputs, "inputs", "jvp")
        inputs = fresh(inputs, create_graph)
        tangents = tensors.vector(v, inputs, is_tuple, "jvp", create_graph)
        result_is_tuple, outputs = as_tuple(func(*inputs), tensors.RESULT, "jvp")
        check_outputs(outputs, strict)
        weights = tuple(zeros_like(output, requires_grad=True) for output in outputs)
        pulled = gradients(outputs, inputs, weights, create_graph=True)
        check_used(pulled, strict, tensors.GRADIENT_CONSTANT)
    product = _product(pulled, weights, tangents, outputs, strict, create_graph, tensors.JVP)
    return (
        as_given(detached(outputs, create_graph), result_is_tuple),
        as_given(product, result_is_tuple),
    )


def vhp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the value of `func`, a single element, and the product of `v` with its Hessian.

    >>> import rushlight as torch
    >>> x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    >>> torch.autograd.functional.vhp(lambda x: (x**3).sum(), x, v)
    (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        is_tuple, inputs, weights, outputs, slopes = _slopes(func, inputs, v, "vhp", create_graph, strict)
    product = _product(slopes, inputs, weights, inputs, strict, create_graph, tensors.VHP)
    return detached(outputs, create_graph)[0], as_given(product, is_tuple)


def hvp(
    func: Callable[..., Any], inputs: Any, v: Any = None, create_graph: bool = False, strict: bool = False
) -> tuple[Any, Any]:
    """Return the value of `func`, a single element, and the product of its Hessian with `v`.

    Where second derivatives are continuous that is `vhp`, which is faster.

    >>> import rushlight as torch
    >>> x, v = torch.tensor([1.0, 2.0]), torch.tensor([1.0, 10.0])
    >>> torch.autograd.functional.hvp(lambda x: (x**3).sum(), x, v)
    (tensor(9.), tensor([  6., 120.]))
    """
    with enable_grad():
        is_tuple, inputs, tangents, outputs, slopes = _slopes(func, inputs, v, "hvp", create_graph, strict)
        weights = tuple(zeros_like(tensor, requires_grad=True) for tensor in inputs)
        pulled = gradients(slopes, inputs, weights, create_graph=True)
        check_used(slopes, strict, tensors.HESSIAN_CONSTANT)
    product = _product(pulled, weights, tangents, inputs, strict, create_graph, tensors.HVP)
    return detached(outputs, create_graph)[0], as_given(product, is_tuple)

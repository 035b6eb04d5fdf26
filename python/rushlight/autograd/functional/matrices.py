"""Whole matrices of derivatives: `jacobian` and `hessian`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, split, stack, zeros_like
from ..grad_mode import enable_grad
from . import _tensors as tensors
from ._tensors import as_given, as_tuple, check_outputs, check_used, detached, fresh, gradients

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from ._tensors import Tensors

_STRATEGIES = ("forward-mode", "reverse-mode")
_STRATEGY = 'Expected strategy to be either "forward-mode" or "reverse-mode".'
_JACOBIAN = "torch.autograd.functional.jacobian: "


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the derivatives of every element of `func(inputs)` by every element of `inputs`.

    A matrix has the shape of the output, then that of the input; there is a tuple of them if either is a
    tuple, by output, then by input. With `vectorize` all rows are computed at once.

    >>> import rushlight as torch
    >>> torch.autograd.functional.jacobian(lambda x: x * x, torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if strategy not in _STRATEGIES:
        raise AssertionError(
            f'{_STRATEGY} Hint: If your function has more outputs than inputs, "forward-mode" tends to be '
            'more performant. Otherwise, prefer to use "reverse-mode".'
        )
    if strategy == "forward-mode":
        return _forward(func, inputs, create_graph, strict, vectorize)
    with enable_grad():
        is_tuple, inputs = as_tuple(inputs, "inputs", "jacobian")
        inputs = fresh(inputs, create_graph)
        result_is_tuple, outputs = as_tuple(func(*inputs), tensors.RESULT, "jacobian")
        check_outputs(outputs, strict)
        if not vectorize:
            rows = _one_by_one(outputs, inputs, strict, create_graph)
        elif strict:
            raise RuntimeError(
                f"{_JACOBIAN}`strict=True` and `vectorized=True` are not supported together. Please either "
                "set `strict=False` or `vectorize=False`."
            )
        else:
            rows = _all_at_once(outputs, inputs, create_graph)
    matrices = detached(rows, create_graph)
    return as_given([as_given(row, is_tuple) for row in matrices], result_is_tuple)


def _one_by_one(outputs: Tensors, inputs: Tensors, strict: bool, create_graph: bool) -> tuple[Tensors, ...]:
    """Run backward for every element of the outputs."""
    matrices = []
    for index, output in enumerate(outputs):
        rows: list[list[Tensor]] = [[] for _ in inputs]
        for element in output.reshape(-1).unbind():
            found = gradients((element,), inputs, retain_graph=True, create_graph=create_graph)
            for number, (row, gradient, tensor) in enumerate(zip(rows, found, inputs, strict=True)):
                if strict and gradient is None:
                    raise RuntimeError(
                        f"Output {index} of the user-provided function is independent of input {number}. "
                        "This is not allowed in strict mode."
                    )
                if strict and create_graph and not gradient.requires_grad:
                    raise RuntimeError(
                        f"The jacobian of the user-provided function is independent of input {index}. This "
                        "is not allowed in strict mode when create_graph=True."
                    )
                row.append(zeros_like(tensor) if gradient is None else gradient)
        matrices.append(
            tuple(
                stack(row).view(output.shape + tensor.shape) for row, tensor in zip(rows, inputs, strict=True)
            )
        )
    return tuple(matrices)


def _all_at_once(outputs: Tensors, inputs: Tensors, create_graph: bool) -> tuple[Tensors, ...]:
    """Run one batched backward."""
    from ...func._basis import standard_basis

    (basis,) = standard_basis(outputs)
    total = basis[0].shape[0]
    found = gradients(outputs, inputs, basis, create_graph=create_graph, is_grads_batched=True)
    numels = [output.numel() for output in outputs]
    by_input = []
    for gradient, tensor in zip(found, inputs, strict=True):
        whole = tensor.new_zeros((total, *tensor.shape)) if gradient is None else gradient
        parts = zip(split(whole, numels), outputs, strict=True)
        by_input.append([part.reshape(output.shape + tensor.shape) for part, output in parts])
    return tuple(zip(*by_input, strict=True))


def _forward(func: Callable[..., Any], inputs: Any, create_graph: bool, strict: bool, vectorize: bool) -> Any:
    """Run forward, batched. What is nested for several inputs are lists, as in torch."""
    if create_graph:
        raise NotImplementedError(
            f'{_JACOBIAN}`create_graph=True` and `strategy="forward-mode"` are not supported together '
            '(yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.'
        )
    if strict:
        raise RuntimeError(
            f'{_JACOBIAN}`strict=True` and `strategy="forward-mode"` are not supported together (yet). '
            'Please either set `strict=False` or `strategy="reverse-mode"`.'
        )
    is_tuple, inputs = as_tuple(inputs, "inputs", "jacobian")
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for "
            "`vectorize=True`."
        )
    from ...func.jacobians import pushed_forward

    result_is_tuple = False

    def checked(*args: Tensor) -> Tensors:
        nonlocal result_is_tuple
        result_is_tuple, outputs = as_tuple(func(*args), "outputs", "None")
        return outputs

    if not inputs:
        raise AssertionError("Expected at least one tensor")
    places = tuple(range(len(inputs)))
    matrices = pushed_forward(checked, inputs, places, randomness="unasked", arrange=_by_input)
    rows: Any = [list(row) for row in matrices] if is_tuple else tuple(row[0] for row in matrices)
    return rows if result_is_tuple else rows[0]


def _can_be_recorded(tensor: Tensor) -> bool:
    return not tensor.requires_grad and (tensor.is_floating_point() or tensor.is_complex())


def _by_input(column: Tensor, inputs: Sequence[Tensor]) -> list[Tensor]:
    """Take the columns for all inputs' elements apart; their dimension goes last, in the inputs' shapes."""
    shape = column.shape[1:]
    parts = split(column, [tensor.numel() for tensor in inputs])
    return [
        part.permute(*range(1, part.ndim), 0).reshape(shape + tensor.shape)
        for part, tensor in zip(parts, inputs, strict=True)
    ]


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of `func`, which returns a single element, by the elements of `inputs`.

    >>> import rushlight as torch
    >>> torch.autograd.functional.hessian(lambda x: (x**3).sum(), torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    is_tuple, inputs = as_tuple(inputs, "inputs", "hessian")
    if outer_jacobian_strategy not in _STRATEGIES:
        raise AssertionError(_STRATEGY)

    def value(*args: Tensor) -> Tensor:
        return tensors.scalar(func(*args), "hessian", strict)[0].squeeze()

    def slopes(*args: Tensor) -> Tensors:
        if outer_jacobian_strategy == "forward-mode":
            from ...func import jacrev

            found: Tensors = jacrev(value, tuple(range(len(args))))(*args)
            return found
        found = jacobian(value, args, create_graph=True)
        check_used(found, strict, tensors.JACOBIAN_CONSTANT)
        return found

    if outer_jacobian_strategy == "forward-mode":
        # As in torch, the outer derivatives are of a recorded inner one.
        inputs = tuple(
            tensor.detach().requires_grad_() if _can_be_recorded(tensor) else tensor for tensor in inputs
        )
    matrices = jacobian(slopes, inputs, create_graph, strict, vectorize, outer_jacobian_strategy)
    return matrices if is_tuple else matrices[0][0]

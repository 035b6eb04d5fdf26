"""Comparing gradients with finite differences: `gradcheck`, and `gradgradcheck` for second derivatives."""

from __future__ import annotations

from itertools import product

from .._rushlight import Tensor, float64, ones_like, rand, stack, zeros, zeros_like
from .differentiate import grad

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

__all__ = ["GradcheckError", "gradcheck", "gradgradcheck"]


class GradcheckError(RuntimeError):
    """A gradient that is not what finite differences say."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Check the gradients of `func` at `inputs`, which should be of double precision.

    Every element of every input that requires a gradient is moved by `eps` to both sides.

    >>> import rushlight as torch
    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: x * x, x)
    True
    """
    _refuse(
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad,
        fast_mode=fast_mode,
        masked=bool(masked),
    )
    if not check_backward_ad:
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    arguments = _as_tuple(inputs)
    _check_inputs(arguments)
    try:
        _check_jacobians(func, arguments, eps, atol, rtol, nondet_tol, check_grad_dtypes)
        _check_zero_gradients(func, arguments)
        if check_undefined_grad:
            _check_missing_gradients(func, arguments)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Check the gradients of the gradients of `func`, with random weights unless `grad_outputs` gives them.

    >>> import rushlight as torch
    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradgradcheck(lambda x: x * x * x, x)
    True
    """
    _refuse(gen_non_contig_grad_outputs=gen_non_contig_grad_outputs, check_fwd_over_rev=check_fwd_over_rev)
    arguments = _as_tuple(inputs)
    if grad_outputs is None:
        weights = tuple(
            (rand(output.shape, dtype=output.dtype) * 2 - 1).requires_grad_()
            for output in _recorded(func(*arguments))
        )
    else:
        weights = _as_tuple(grad_outputs)
    count = len(arguments)

    def gradients(*everything: Any) -> tuple[Tensor, ...]:
        outputs = _recorded(func(*everything[:count]))
        found: Any = grad(
            outputs, _tensors(everything[:count]), everything[count:], create_graph=True, allow_unused=True
        )
        return tuple(gradient for gradient in found if gradient is not None)

    return gradcheck(
        gradients,
        arguments + weights,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _refuse(**options: bool) -> None:
    for name, wanted in options.items():
        if wanted:
            raise NotImplementedError(f"gradcheck does not support {name}=True")


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return tuple(value) if isinstance(value, (tuple, list)) else (value,)


def _tensors(arguments: tuple[Any, ...]) -> list[Tensor]:
    """Return the arguments that are differentiated."""
    return [argument for argument in arguments if isinstance(argument, Tensor) and argument.requires_grad]


def _recorded(outputs: Any) -> tuple[Tensor, ...]:
    return tuple(output for output in _as_tuple(outputs) if output.requires_grad)


def _check_inputs(arguments: tuple[Any, ...]) -> None:
    for index, argument in enumerate(arguments):
        if not isinstance(argument, Tensor) or not argument.requires_grad:
            continue
        if argument.dtype != float64:
            import warnings

            warnings.warn(
                f"Input #{index} requires gradient and is not a double precision floating point or complex. "
                "This check will likely fail if all the inputs are not of double precision floating point or "
                "complex. ",
                stacklevel=3,
            )
        if any(step == 0 and size > 1 for step, size in zip(argument.stride(), argument.shape, strict=True)):
            raise RuntimeError(
                f"The {index}th input has a dimension with stride 0. gradcheck only supports inputs that are "
                "non-overlapping to be able to compute the numerical gradients correctly. You should call "
                ".contiguous on the input before passing it to gradcheck."
            )
    if not _tensors(arguments):
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of them have "
            "requires_grad=True."
        )


def _check_jacobians(
    func: Callable[..., Any],
    arguments: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_dtypes: bool,
) -> None:
    outputs = _as_tuple(func(*arguments))
    inputs = _tensors(arguments)
    numerical = [_numerical_jacobians(func, arguments, tensor, eps) for tensor in inputs]
    recorded = [index for index, output in enumerate(outputs) if output.requires_grad]
    if not recorded and not all(_is_zero(jacobian) for row in numerical for jacobian in row):
        raise GradcheckError("Numerical gradient for function expected to be zero")
    for position, index in enumerate(recorded):
        analytical = _analytical_jacobians(outputs[index], inputs, nondet_tol, check_dtypes)
        for number, jacobian in enumerate(analytical):
            expected = numerical[number][index]
            if not _close(jacobian, expected, atol, rtol):
                raise GradcheckError(
                    f"Jacobian mismatch for output {position} with respect to input {number},\n"
                    f"numerical:{expected}\nanalytical:{jacobian}\n"
                )


def _numerical_jacobians(
    func: Callable[..., Any], arguments: tuple[Any, ...], tensor: Tensor, eps: float
) -> list[Tensor]:
    """Return one matrix an output, with a row for every element of `tensor`."""
    data = tensor.data  # The same memory, but changing it does not count as an in-place operation.
    rows = []
    for place in product(*map(range, data.shape)):
        value = data[place].item()
        data[place] = value + eps
        above = [output.detach().clone() for output in _as_tuple(func(*arguments))]
        data[place] = value - eps
        below = [output.detach().clone() for output in _as_tuple(func(*arguments))]
        data[place] = value
        rows.append([((a - b) / (2 * eps)).reshape(-1) for a, b in zip(above, below, strict=True)])
    if not rows:
        return [zeros((0, output.numel()), dtype=tensor.dtype) for output in _as_tuple(func(*arguments))]
    return [stack(column) for column in zip(*rows, strict=True)]


def _analytical_jacobians(
    output: Tensor, inputs: list[Tensor], nondet_tol: float, check_dtypes: bool
) -> list[Tensor]:
    """Return one matrix an input, with a column for every element of `output`."""
    columns: list[list[Tensor]] = [[] for _ in inputs]
    types_match = sizes_match = repeatable = True
    for place in product(*map(range, output.shape)):
        weight = zeros_like(output).detach()
        weight[place] = 1
        first, second = (grad(output, inputs, weight, retain_graph=True, allow_unused=True) for _ in range(2))
        for column, tensor, once, again in zip(columns, inputs, first, second, strict=True):
            if once is None:
                column.append(zeros(tensor.numel(), dtype=tensor.dtype))
                continue
            types_match &= once.dtype == tensor.dtype
            sizes_match &= once.shape == tensor.shape
            repeatable &= again is not None and _close(once, again, nondet_tol, 0.0)
            column.append(once.detach().reshape(-1) if once.shape == tensor.shape else zeros(tensor.numel()))
    if check_dtypes and not types_match:
        raise GradcheckError("Gradient has dtype mismatch")
    if not sizes_match:
        raise GradcheckError("Analytical gradient has incorrect size")
    if not repeatable:
        raise GradcheckError(
            "Backward is not reentrant, i.e., running backward with same input and grad_output "
            "multiple times gives different values, although analytical gradient matches numerical gradient."
            f"The tolerance for nondeterminism was {nondet_tol}."
        )
    return [
        stack(column, 1) if column else zeros((tensor.numel(), 0), dtype=tensor.dtype)
        for column, tensor in zip(columns, inputs, strict=True)
    ]


def _check_zero_gradients(func: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """A zero gradient of the outputs must give a zero gradient of the inputs, of its dtype and size."""
    inputs = _tensors(arguments)
    outputs = _recorded(func(*arguments))
    if not outputs:
        return
    weights = [zeros_like(output).detach() for output in outputs]
    for tensor, found in zip(inputs, grad(outputs, inputs, weights, allow_unused=True), strict=True):
        if found is None:
            continue
        if not _is_zero(found):
            raise GradcheckError("backward not multiplied by grad_output")
        if found.dtype != tensor.dtype:
            raise GradcheckError("grad is incorrect type")
        if found.shape != tensor.shape:
            raise GradcheckError("grad is incorrect size")


def _check_missing_gradients(func: Callable[..., Any], arguments: tuple[Any, ...]) -> None:
    """Leave the outputs' gradients out, one at a time; the backward must cope, and still give zeros."""
    inputs = _tensors(arguments)
    count = len(_recorded(func(*arguments)))
    for missing in range(count if count > 1 else 0):
        outputs = _recorded(func(*arguments))
        rest = [output for index, output in enumerate(outputs) if index != missing]
        try:
            gradients: Any = grad(
                rest, inputs, [zeros_like(output).detach() for output in rest], allow_unused=True
            )
        except RuntimeError as error:
            raise GradcheckError(
                'Expected backward function to handle undefined output grads. Please look at "Notes about '
                'undefined output gradients" in "tools/autograd/derivatives.yaml"'
            ) from error
        if not all(_is_zero(found) for found in gradients if found is not None):
            raise GradcheckError(
                "Expected all input grads to be undefined or zero when all output grads are "
                'undefined or zero. Please look at "Notes about undefined output gradients" in '
                '"tools/autograd/derivatives.yaml"'
            )


def _is_zero(tensor: Tensor) -> bool:
    return not bool((tensor != 0).any())


def _close(found: Tensor, expected: Tensor, atol: float, rtol: float) -> bool:
    same: Any = found == expected  # Infinities are equal, but have no difference.
    near: Tensor = (found - expected).abs() <= ones_like(expected) * atol + rtol * expected.abs()
    return bool((same | near).all().item())

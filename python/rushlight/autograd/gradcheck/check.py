"""`gradcheck`, and `gradgradcheck` for second derivatives.

The functions are there as soon as the package is; what compares loads when one of them is called.
"""

from __future__ import annotations

from ..._rushlight import Generator, Tensor, float64, strided
from ..differentiate import grad
from ._tensors import GradcheckError, as_tuple, check_inputs, differentiable, is_float, requires_grad

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from .compare import Setting


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

    Every element of every input that requires a gradient is moved by `eps` to both sides; with `fast_mode`
    all of them at once, in a random direction. Besides, backward must give the same twice (up to
    `nondet_tol`), and zeros for zeros.

    >>> import rushlight as torch
    >>> x = torch.tensor([0.5, 2.0], dtype=torch.float64, requires_grad=True)
    >>> torch.autograd.gradcheck(lambda x: x * x, x)
    True
    """
    from .batched import check_batched_tangents
    from .compare import Setting, directions, elements
    from .parts import settings
    from .zeros import check_undefined_tangents

    if not (check_forward_ad or check_backward_ad):
        raise AssertionError("Expected at least one of check_forward_ad or check_backward_ad to be True")
    if check_batched_grad and not check_backward_ad:
        raise AssertionError("Setting check_batched_grad=True requires check_backward_ad to be True")
    if check_batched_forward_grad and not check_forward_ad:
        raise AssertionError("Setting check_batched_forward_grad=True requires check_forward_ad to be True")
    arguments = as_tuple(inputs)
    if any(isinstance(one, Tensor) and one.layout is not strided for one in arguments):
        from ...sparse import of_values

        func, arguments = of_values(func, arguments)
    try:
        check_inputs(arguments)
        results = func(*arguments)
        outputs = differentiable(results)
        setting = Setting(
            func, arguments, as_tuple(results), outputs, eps, atol, rtol, nondet_tol, check_grad_dtypes
        )
        compare = directions if fast_mode else elements
        if check_backward_ad:
            for part in settings(setting, forward=False):
                compare(part, forward=False)
        if check_forward_ad:
            parts = list(settings(setting, forward=True))
            for part in parts:
                compare(part, forward=True)
            for part in parts if check_undefined_grad else ():
                check_undefined_tangents(part.func, part.inputs, _tangents(part.inputs))
        if check_batched_forward_grad:
            check_batched_tangents(func, arguments)
        if check_backward_ad:
            _check_backward(setting, bool(masked), check_batched_grad, check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def _tangents(inputs: tuple[Any, ...]) -> list[Tensor]:
    from .compare import direction

    generator = Generator()
    return [direction(tensor, generator) for tensor in inputs if requires_grad(tensor)]


def _check_backward(setting: Setting, masked: bool, batched: bool, undefined: bool) -> None:
    from .batched import check_batched_gradients
    from .zeros import check_undefined_gradients, check_zero_gradients

    if batched:
        for number, output in enumerate(setting.outputs):
            check_batched_gradients(setting.inputs, output, number)
    check_zero_gradients(setting.outputs, setting.inputs, masked)
    if undefined:
        check_undefined_gradients(setting.func, setting.inputs)


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
    if not (check_fwd_over_rev or check_rev_over_rev):
        raise AssertionError("Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True")
    if check_undefined_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_undefined_grad=True requires check_rev_over_rev to be True")
    if check_batched_grad and not check_rev_over_rev:
        raise AssertionError("Setting check_batched_grad=True requires check_rev_over_rev to be True")
    arguments = as_tuple(inputs)
    if grad_outputs is None:
        recorded = differentiable(func(*arguments))
        weights = tuple(_weight(output, gen_non_contig_grad_outputs) for output in recorded)
    else:
        weights = as_tuple(grad_outputs)
    # Nothing to weigh leaves nothing for the function: all that is given stands for weights then.
    count = len(arguments) if weights else 0
    chosen = [place for place, tensor in enumerate(arguments + weights) if requires_grad(tensor)]

    def gradients(*everything: Any) -> tuple[Tensor, ...]:
        # With forward mode these are dual tensors, which do not require grad by themselves.
        for place in chosen:
            everything[place].requires_grad_()
        outputs = differentiable(func(*everything[:count]))
        tensors = [everything[place] for place in chosen if place < count]
        found: Any = grad(outputs, tensors, everything[count:], create_graph=True, allow_unused=True)
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
        check_forward_ad=check_fwd_over_rev,
        check_backward_ad=check_rev_over_rev,
        fast_mode=fast_mode,
        masked=masked,
    )


def _weight(output: Tensor, spread: bool) -> Tensor:
    """Return a random gradient for `output`; with `spread` its elements do not lie side by side."""
    from ...testing.making import make_tensor

    dtype = output.dtype if is_float(output) else float64
    form: dict[str, Any] = {"dtype": dtype, "device": output.device, "low": -1, "high": 1}
    return make_tensor(output.shape, **form, noncontiguous=spread, requires_grad=True)

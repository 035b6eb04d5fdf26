"""Gradients that are not to grow beyond a bound."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterable
from types import GeneratorType
from typing import TYPE_CHECKING, TypeVar

from ..._rushlight import Tensor, stack, tensor
from ...autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from typing_extensions import ParamSpec

    P = ParamSpec("P")
    R = TypeVar("R")


def _unrecorded(function: Callable[P, R]) -> Callable[P, R]:
    @functools.wraps(function)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        with no_grad():
            return function(*args, **kwargs)

    return run


def _gradients(parameters: Tensor | Iterable[Tensor]) -> list[Tensor]:
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    return [gradient for parameter in parameters if (gradient := parameter.grad) is not None]


@_unrecorded
def get_total_norm(
    tensors: Tensor | Iterable[Tensor],
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Return the norm of all elements of the tensors together.

    >>> import rushlight as torch
    >>> torch.nn.utils.get_total_norm([torch.tensor([3.0]), torch.tensor([4.0])])
    tensor(5.)
    """
    tensors = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    if not tensors:
        return tensor(0.0)
    order = float(norm_type)
    total = stack([one.norm(order) for one in tensors]).norm(order)
    if error_if_nonfinite and not total.isfinite():
        raise RuntimeError(
            f"The total norm of order {order} for gradients from `parameters` is non-finite, so "
            "it cannot be clipped. To disable this error and scale the gradients by the non-finite norm "
            "anyway, set `error_if_nonfinite=False`"
        )
    return total


@_unrecorded
def clip_grads_with_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    total_norm: Tensor,
    foreach: bool | None = None,
) -> None:
    """Scale the gradients in place as if `total_norm` had to be at most `max_norm`.

    >>> import rushlight as torch
    >>> x = torch.ones(1, requires_grad=True)
    >>> (x * 10).sum().backward()
    >>> torch.nn.utils.clip_grads_with_norm_([x], 5.0, torch.tensor(10.0))
    >>> x.grad
    tensor([5.0000])
    """
    gradients = _gradients(parameters)
    if not gradients:
        return
    factor = (float(max_norm) / (total_norm + 1e-6)).clamp(max=1.0)
    for gradient in gradients:
        gradient.mul_(factor if gradient.dtype is factor.dtype else factor.to(gradient.dtype))


@_unrecorded
def clip_grad_norm_(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Scale the gradients in place so that their norm is at most `max_norm`; return what it was.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0, 1.0], requires_grad=True)
    >>> (x * torch.tensor([3.0, 4.0])).sum().backward()
    >>> torch.nn.utils.clip_grad_norm_([x], 1.0)
    tensor(5.)
    >>> x.grad
    tensor([0.6000, 0.8000])
    """
    if isinstance(parameters, Tensor):
        parameters = [parameters]
    else:
        is_generator = isinstance(parameters, GeneratorType)
        parameters = list(parameters)
        if is_generator and not parameters:
            warnings.warn(
                "`parameters` is an empty generator, no gradient clipping will occur.", stacklevel=4
            )
    total = get_total_norm(_gradients(parameters), norm_type, error_if_nonfinite, foreach)
    clip_grads_with_norm_(parameters, max_norm, total, foreach)
    return total


def clip_grad_norm(
    parameters: Tensor | Iterable[Tensor],
    max_norm: float,
    norm_type: float = 2.0,
    error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:
    """Warn that the name has got an underscore, and do what it does."""
    warnings.warn(
        "`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.",
        FutureWarning,
        stacklevel=2,
    )
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


@_unrecorded
def clip_grad_value_(
    parameters: Tensor | Iterable[Tensor], clip_value: float, foreach: bool | None = None
) -> None:
    """Move the elements of the gradients in place to within `clip_value` of zero.

    >>> import rushlight as torch
    >>> x = torch.ones(2, requires_grad=True)
    >>> (x * torch.tensor([1.0, 5.0])).sum().backward()
    >>> torch.nn.utils.clip_grad_value_([x], 2.0)
    >>> x.grad
    tensor([1., 2.])
    """
    bound = float(clip_value)
    for gradient in _gradients(parameters):
        gradient.clamp_(min=-bound, max=bound)

"""Gradients that are computed for several weights at once: they are those for each of the weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import (
    Tensor,
    _add_batch_dim,
    _remove_batch_dim,
    allclose,
    randn_like,
    stack,
    zeros,
)
from ..differentiate import grad
from ._messages import BATCHED, BATCHED_FORWARD, batched_mismatch
from ._tensors import GradcheckError, as_tuple, inputs_of, is_float, requires_grad

if TYPE_CHECKING:
    from collections.abc import Callable


def check_batched_gradients(inputs: tuple[Any, ...], output: Tensor, number: int) -> None:
    """Compare two gradients of `output` at once with one at a time."""
    tensors = list(inputs_of(inputs))

    def pull(weight: Tensor) -> tuple[Tensor, ...]:
        found: Any = grad(output, tensors, weight, retain_graph=True, allow_unused=True)
        return tuple(
            _zeros(tensor) if gradient is None else gradient
            for gradient, tensor in zip(found, tensors, strict=True)
        )

    for place, (found, expected) in enumerate(_both(pull, output, BATCHED)):
        if not allclose(found, expected):
            raise GradcheckError(batched_mismatch(number, place, found, expected))


def check_batched_tangents(func: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Compare two tangents of the outputs at once with one at a time, input by input."""
    from .. import forward_ad

    for place, tensor in enumerate(inputs):
        if not requires_grad(tensor) or not is_float(tensor):
            continue

        def push(tangent: Tensor, place: int = place, tensor: Tensor = tensor) -> tuple[Tensor, ...]:
            with forward_ad.dual_level():
                arguments: list[Any] = [one.detach() if isinstance(one, Tensor) else one for one in inputs]
                arguments[place] = forward_ad._make_dual(tensor.detach(), tangent)
                duals = [output for output in as_tuple(func(*arguments)) if output is not None]
                pushed = [forward_ad._unpack_dual(output) for output in duals]
                return tuple(_zeros(dual.primal) if dual.tangent is None else dual.tangent for dual in pushed)

        for output, (found, expected) in enumerate(_both(push, tensor, BATCHED_FORWARD)):
            if not allclose(found, expected):
                raise GradcheckError(batched_mismatch(output, output, found, expected, forward=True))


def _both(function: Callable[[Tensor], tuple[Tensor, ...]], like: Tensor, text: str) -> Any:
    """Return pairs of what the function gives for two random vectors at once, and one by one."""
    from ...func.vmap import level

    vectors = [randn_like(like) for _ in range(2)]
    expected = [stack(shards) for shards in zip(*map(function, vectors), strict=True)]
    try:
        with level(len(vectors), "unasked") as number:
            pushed = function(_add_batch_dim(stack(vectors), 0, number))
            found = [_remove_batch_dim(one, number, 0) for one in pushed]
    except RuntimeError as error:
        raise GradcheckError(f"While computing batched gradients, got: {error}\n\n{text}") from error
    return zip(found, expected, strict=True)


def _zeros(tensor: Tensor) -> Tensor:
    return zeros((), dtype=tensor.dtype).expand(tensor.shape)

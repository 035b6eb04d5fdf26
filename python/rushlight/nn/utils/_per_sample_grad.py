"""Gradients of a module's parameters for every sample of a batch."""

from __future__ import annotations

from functools import wraps
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ...func import functional_call, vmap
from ...utils._pytree import tree_flatten, tree_map
from ..modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Callable

__all__: list[str] = []

_SAY_IT = "Please specify it explicitly using the batch size kwarg in call_for_per_sample_grads"


def call_for_per_sample_grads(
    module: Module,
    *,
    batch_size: int | None = None,
    loss_reduction: str = "sum",
    batch_first: bool = True,
) -> Callable[..., Any]:
    """Return a function that calls a module, so that backward leaves gradients of samples in `grad_sample`.

    `loss_reduction` says what becomes of the losses of samples: their sum, or their mean.

    >>> import rushlight as torch
    >>> layer = torch.nn.Linear(1, 1)
    >>> result = call_for_per_sample_grads(layer)(torch.tensor([[1.0], [2.0]]))
    >>> result.sum().backward()
    >>> layer.weight.grad_sample.flatten()
    tensor([1., 2.])
    """
    if loss_reduction not in ("sum", "mean"):
        raise RuntimeError(f"Expected loss_reduction argument to be sum or mean, got {loss_reduction}")
    if not isinstance(module, Module):
        raise RuntimeError(f"Module passed must be nn.Module, got {type(module).__name__}")
    if not (batch_size is None or isinstance(batch_size, int)):
        raise RuntimeError(f"Batch size passed must be None or an integer, got {type(batch_size).__name__}")
    if batch_size is not None and batch_size < 1:
        raise RuntimeError(f"Batch size must be positive, got {batch_size}")
    for weight in module.parameters():
        if getattr(weight, "grad_sample", None) is not None:
            raise RuntimeError(
                "Current Expanded Weights accumulates the gradients, which will be incorrect for multiple "
                "calls without clearing gradients. Please clear out the grad_sample parameter of "
                f"{weight} or post an issue to pytorch/pytorch to prioritize correct behavior"
            )
    dim = 0 if batch_first else 1

    @wraps(module.forward)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        count = batch_size or _samples((args, kwargs), dim)
        scale = count if loss_reduction == "mean" else 1
        weights = {
            name: _for_samples(weight, count, scale) if weight.requires_grad else weight
            for name, weight in module.named_parameters()
        }
        dims = {name: 0 if weight.requires_grad else None for name, weight in module.named_parameters()}

        def of_sample(weights: Any, args: Any, kwargs: Any) -> Any:
            args, kwargs = tree_map(
                lambda part: part.unsqueeze(dim) if isinstance(part, Tensor) else part, (args, kwargs)
            )
            found = functional_call(module, weights, args, kwargs)
            return tree_map(lambda part: part.squeeze(dim) if isinstance(part, Tensor) else part, found)

        given = tree_map(lambda part: dim if isinstance(part, Tensor) else None, (args, kwargs))
        return vmap(of_sample, (dims, *given), dim, randomness="different")(weights, args, kwargs)

    return wrapper


def _for_samples(weight: Any, count: int, scale: int) -> Tensor:
    """Return the weight for each sample, whose gradient becomes that of the samples."""
    weights: Tensor = weight.detach().expand(count, *weight.shape).requires_grad_()

    def keep(gradient: Tensor) -> None:
        weight.grad_sample = gradient.detach() * scale

    weights.register_hook(keep)
    return weights


def _samples(given: Any, dim: int) -> int:
    """Return how many samples the tensors among arguments have."""
    sizes = [part.shape[dim] for part in tree_flatten(given)[0] if isinstance(part, Tensor)]
    if not sizes:
        raise RuntimeError(
            "Unable to find a tensor in the passed args and kwargs. They may not be pytree-able and so "
            f"ExpandedWeights cannot compute the batch size from the inputs. {_SAY_IT}"
        )
    for size in sizes:
        if size != sizes[0]:
            raise RuntimeError(
                "When computing batch_size, found at least one input with batch size "
                f"{sizes[0]} and one with batch size {size}. {_SAY_IT}"
            )
    return sizes[0]

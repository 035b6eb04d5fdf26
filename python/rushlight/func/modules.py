"""Modules in functions that are transformed: their state given from outside, or left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, stack
from ..nn.utils.stateless import _functional_call

if TYPE_CHECKING:
    from ..nn import Module


def functional_call(
    module: Module,
    parameter_and_buffer_dicts: dict[str, Tensor] | Sequence[dict[str, Tensor]],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with the given tensors in place of its parameters and buffers of these names.

    With `tie_weights` a tensor that the module has under several names is replaced under all of them;
    with `strict` the names must be exactly those of the module.

    >>> import rushlight as torch
    >>> layer = torch.nn.Linear(1, 1)
    >>> state = {"weight": torch.tensor([[2.0]]), "bias": torch.tensor([1.0])}
    >>> torch.func.functional_call(layer, state, torch.tensor([10.0]))
    tensor([21.])
    """
    return _functional_call(
        module, _merged(parameter_and_buffer_dicts), args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _merged(dicts: Any) -> dict[str, Tensor]:
    if isinstance(dicts, dict):
        return dicts
    if not isinstance(dicts, Sequence):
        raise ValueError(
            f"Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got "
            f"{type(dicts)}"
        )
    if not all(isinstance(one, dict) for one in dicts):
        raise ValueError("Expected all elements of parameter_and_buffer_dicts to be dictionaries")
    counts = Counter(key for one in dicts for key in one)
    repeated = [key for key, count in counts.items() if count > 1]
    if repeated:
        raise ValueError(
            f"{repeated} appeared in multiple dictionaries; behavior of functional call is ambiguous"
        )
    return {key: tensor for one in dicts for key, tensor in one.items()}


def stack_module_state(models: Sequence[Module]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the parameters and the buffers of modules of one class, each stacked over the modules.

    >>> import rushlight as torch
    >>> layers = [torch.nn.Linear(2, 3) for _ in range(4)]
    >>> params, buffers = torch.func.stack_module_state(layers)
    >>> params["weight"].shape, buffers
    (torch.Size([4, 3, 2]), {})
    """
    problem = _mismatch(models)
    if problem:
        raise RuntimeError(f"stack_module_state: Expected {problem}")
    return (
        _stacked([dict(model.named_parameters()) for model in models]),
        _stacked([dict(model.named_buffers()) for model in models]),
    )


def _mismatch(models: Sequence[Module]) -> str:
    if len(models) == 0:
        return "at least one model, got 0."
    if len({bool(model.training) for model in models}) > 1:
        return "all models to have the same training/eval mode."
    if len({type(model) for model in models}) > 1:
        return "all models to be of the same class."
    return ""


def _stacked(states: list[dict[str, Any]]) -> dict[str, Tensor]:
    result = {}
    for name in states[0]:
        tensors = [state[name] for state in states]
        result[name] = construct_stacked_leaf(tensors, name)
    return result


def construct_stacked_leaf(tensors: Sequence[Tensor], name: str) -> Tensor:
    """Return tensors stacked: a leaf that requires a gradient if they do."""
    if len({tensor.requires_grad for tensor in tensors}) > 1:
        raise RuntimeError(f"Expected {name} from each model to have the same .requires_grad")
    joined = stack(tuple(tensors))
    return joined.detach().requires_grad_() if tensors[0].requires_grad else joined


def replace_all_batch_norm_modules_(root: Module) -> Module:
    """Have batch normalisations within `root` keep no statistics, which mapped functions cannot write.

    >>> import rushlight as torch
    >>> torch.func.replace_all_batch_norm_modules_(torch.nn.BatchNorm1d(2)).running_mean is None
    True
    """
    for module in root.modules():
        batch_norm_without_running_stats(module)
    return root


def batch_norm_without_running_stats(module: Module) -> None:
    """Have a module keep no statistics, if it is a batch normalisation."""
    from ..nn.modules.normalised import _BatchNorm

    if isinstance(module, _BatchNorm) and module.track_running_stats:
        module.running_mean = module.running_var = module.num_batches_tracked = None
        module.track_running_stats = False

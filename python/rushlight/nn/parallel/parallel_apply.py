"""Modules that are called beside each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..modules.module import Module

__all__ = ["get_a_var", "parallel_apply"]


def get_a_var(obj: Any) -> Any:
    """Return a tensor that is somewhere in nested containers."""
    from ..._rushlight import Tensor
    from ...utils._pytree import tree_leaves

    return next((leaf for leaf in tree_leaves(obj) if isinstance(leaf, Tensor)), None)


def parallel_apply(
    modules: Sequence[Module],
    inputs: Sequence[Any],
    kwargs_tup: Sequence[dict[str, Any]] | None = None,
    devices: Any = None,
) -> list[Any]:
    """Call each module with its inputs.

    >>> import rushlight as torch
    >>> torch.nn.parallel.parallel_apply([torch.nn.ReLU()], [torch.tensor([-1.0])])
    [tensor([0.])]
    """
    if len(modules) != len(inputs):
        raise AssertionError(
            f"The number of modules {len(modules)} is not equal to the number of inputs {len(inputs)}"
        )
    named = kwargs_tup or [{}] * len(modules)
    return [
        module(*(given if isinstance(given, (list, tuple)) else (given,)), **by_name)
        for module, given, by_name in zip(modules, inputs, named, strict=True)
    ]

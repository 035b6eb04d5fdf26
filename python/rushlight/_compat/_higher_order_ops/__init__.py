"""Functions that call functions: branches, loops and scans that a graph would keep as one.

>>> import rushlight as torch
>>> torch.cond(torch.tensor(True), lambda x: x + 1, lambda x: x - 1, (torch.ones(1),))
tensor([2.])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases
from ..._rushlight import Tensor, stack
from ...utils._pytree import tree_flatten, tree_map, tree_unflatten

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["associative_scan", "cond", "flex_attention", "map", "scan", "while_loop", "wrap"]

__getattr__, __dir__ = on_first_use(globals(), places={"...nn.attention.flex_attention": "flex_attention"})
add_module_aliases(
    globals(),
    {
        "associative_scan": {".": "associative_scan"},
        "cond": {".": "cond"},
        "while_loop": {".": "while_loop"},
        "wrap": {".": "wrap"},
        "flex_attention": {"...nn.attention.flex_attention": "flex_attention"},
    },
)


def cond(pred: Any, true_fn: Callable[..., Any], false_fn: Callable[..., Any], operands: Any = ()) -> Any:
    """Call one of two functions."""
    if not isinstance(pred, (bool, Tensor)):
        raise RuntimeError(f"Expected pred to be bool or tensor, but got {pred}.")
    if isinstance(pred, Tensor) and pred.numel() != 1:
        raise RuntimeError(f"Expected pred to be bool or single-element tensor, but got {pred}.")
    if not callable(true_fn) or not callable(false_fn):
        raise RuntimeError("Expect both branches to be callable.")
    return (true_fn if pred else false_fn)(*operands)


def while_loop(
    cond_fn: Callable[..., Any], body_fn: Callable[..., Any], carried_inputs: tuple[Any, ...]
) -> tuple[Any, ...]:
    """Call a function with what it returned, as long as another says so.

    >>> import rushlight as torch
    >>> torch.while_loop(lambda x: x < 10, lambda x: (2 * x,), (torch.tensor(3),))
    (tensor(12),)
    """
    carried = tuple(carried_inputs)
    while cond_fn(*carried):
        given = body_fn(*carried)
        carried = given if isinstance(given, tuple) else (given,)
    return carried


def map(f: Callable[..., Any], xs: Any, *args: Any) -> Any:
    """Call a function with every entry of tensors along their first dimension, and stack what it returns."""
    leaves, structure = tree_flatten(xs)
    results = [
        f(tree_unflatten([leaf[place] for leaf in leaves], structure), *args)
        for place in range(leaves[0].shape[0])
    ]
    return _stacked(results, 0)


def scan(
    combine_fn: Callable[[Any, Any], tuple[Any, Any]],
    init: Any,
    xs: Any,
    *,
    dim: int = 0,
    reverse: bool = False,
) -> tuple[Any, Any]:
    """Carry something along a dimension: `combine_fn(carry, x)` returns the next carry, and an output.

    >>> import rushlight as torch
    >>> from rushlight._higher_order_ops import scan
    >>> scan(lambda total, x: (total + x, 2 * x), torch.tensor(0.0), torch.ones(3))
    (tensor(3.), tensor([2., 2., 2.]))
    """
    leaves, structure = tree_flatten(xs)
    places = range(leaves[0].shape[dim])
    outputs = []
    for place in reversed(places) if reverse else places:
        init, output = combine_fn(
            init, tree_unflatten([leaf.select(dim, place) for leaf in leaves], structure)
        )
        outputs.append(output)
    return init, _stacked(outputs[::-1] if reverse else outputs, 0)


def associative_scan(
    combine_fn: Callable[[Any, Any], Any],
    xs: Any,
    dim: int,
    reverse: bool = False,
    combine_mode: str = "pointwise",
) -> Any:
    """Combine each entry along a dimension with all before it.

    >>> import rushlight as torch
    >>> from rushlight._higher_order_ops import associative_scan
    >>> associative_scan(torch.add, torch.tensor([1, 2, 3]), 0)
    tensor([1, 3, 6])
    """
    leaves, structure = tree_flatten(xs)
    places = range(leaves[0].shape[dim])
    outputs: list[Any] = []
    for place in reversed(places) if reverse else places:
        entry = tree_unflatten([leaf.select(dim, place) for leaf in leaves], structure)
        outputs.append(combine_fn(outputs[-1], entry) if outputs else entry)
    return _stacked(outputs[::-1] if reverse else outputs, dim)


def _stacked(results: list[Any], dim: int) -> Any:
    return tree_map(lambda *leaves: stack(leaves, dim), *results)


def wrap(func: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Call a function."""
    return func(*args, **kwargs)

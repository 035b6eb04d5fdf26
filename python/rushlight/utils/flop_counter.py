"""How many operations on numbers of floating point a computation takes: those of its products."""

from __future__ import annotations

import warnings
from collections import defaultdict
from functools import wraps
from math import prod
from typing import TYPE_CHECKING, Any

from .._ops import OpOverloadPacket, ops
from .._rushlight import Tensor
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_leaves, tree_map
from .module_tracker import ModuleTracker

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from typing_extensions import Self

    from ..nn import Module

    Sizes = Sequence[int]
    Formula = Callable[..., int]

__all__ = ["FlopCounterMode", "register_flop_formula"]

aten = ops.aten

flop_registry: dict[Any, Formula] = {}
"""For each operator that is counted, what counts a call of it."""


def get_shape(i: Any) -> Any:
    """Return the shape of a tensor, and anything else as it is."""
    return i.shape if isinstance(i, Tensor) else i


def shape_wrapper(f: Formula) -> Formula:
    """Make of a formula of shapes one of tensors. What the operator gave is `out_val`."""

    @wraps(f)
    def of_tensors(*args: Any, out_val: Any = None, **kwargs: Any) -> int:
        args, kwargs, out_shape = tree_map(get_shape, (args, kwargs, out_val))
        return f(*args, out_shape=out_shape, **kwargs)

    return of_tensors


def register_flop_formula(targets: Any, get_raw: bool = False) -> Callable[[Formula], Formula]:
    """Have calls of operators counted by a formula of the shapes of their arguments and, as `out_shape`, of
    their results; with `get_raw` by one of the arguments themselves and of `out_val`.

    >>> import rushlight as torch
    >>> from rushlight.utils.flop_counter import FlopCounterMode, register_flop_formula
    >>> @register_flop_formula(torch.ops.aten.erfinv)
    ... def count(shape, out_shape=None, **kwargs):
    ...     return 10 * shape.numel()
    >>> with FlopCounterMode(display=False) as counter:
    ...     y = torch.zeros(3).erfinv()
    >>> counter.get_total_flops()
    30
    """

    def register(flop_formula: Formula) -> Formula:
        counted = flop_formula if get_raw else shape_wrapper(flop_formula)
        for target in tree_leaves(targets):
            if not isinstance(target, OpOverloadPacket):
                raise ValueError(
                    "register_flop_formula(targets): expected each target to be OpOverloadPacket (i.e. "
                    f"torch.ops.mylib.foo), JitFunction, or HigherOrderOperator, got {target} which is of "
                    f"type {type(target)}"
                )
            if target in flop_registry:
                raise RuntimeError(f"duplicate registrations for {target}")
            flop_registry[target] = counted
        return counted

    return register


# -- the formulas ------------------------------------------------------------------------------------


@register_flop_formula(aten.mm)
def mm_flop(a_shape: Sizes, b_shape: Sizes, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    """Count those of a product of matrices: a multiplication and an addition for each pair."""
    m, k = a_shape
    k2, n = b_shape
    assert k == k2, f"matmul: inner dimensions must match (k == k2), got {k} and {k2}"
    return m * n * 2 * k


@register_flop_formula(aten.addmm)
def addmm_flop(
    self_shape: Sizes, a_shape: Sizes, b_shape: Sizes, out_shape: Any = None, **kwargs: Any
) -> int:
    """Count those of the product: the addition goes with it."""
    return mm_flop(a_shape, b_shape)


@register_flop_formula(aten.bmm)
def bmm_flop(a_shape: Sizes, b_shape: Sizes, out_shape: Any = None, **kwargs: Any) -> int:
    """Count those of the products of a batch."""
    b, m, k = a_shape
    b2, k2, n = b_shape
    assert b == b2, f"bmm: batch dimensions must match (b == b2), got {b} and {b2}"
    assert k == k2, f"bmm: inner dimensions must match (k == k2), got {k} and {k2}"
    return b * m * n * 2 * k


@register_flop_formula(aten.baddbmm)
def baddbmm_flop(
    self_shape: Sizes, a_shape: Sizes, b_shape: Sizes, out_shape: Any = None, **kwargs: Any
) -> int:
    """Count those of the products: the addition goes with them."""
    return bmm_flop(a_shape, b_shape)


@register_flop_formula(aten._scaled_mm)
def _scaled_mm_flop(a_shape: Sizes, b_shape: Sizes, *args: Any, out_shape: Any = None, **kwargs: Any) -> int:
    return mm_flop(a_shape, b_shape)


def conv_flop_count(x_shape: Sizes, w_shape: Sizes, out_shape: Sizes, transposed: bool = False) -> int:
    """Count those of a convolution. Each place of the result, or if it is transposed of the input, meets
    every element of the weight.
    """
    places = (x_shape if transposed else out_shape)[2:]
    return prod(places) * prod(w_shape) * x_shape[0] * 2


@register_flop_formula(
    [
        aten.convolution,
        aten._convolution,
        aten.cudnn_convolution,
        aten.convolution_overrideable,
        aten._slow_conv2d_forward,
    ]
)
def conv_flop(
    x_shape: Sizes,
    w_shape: Sizes,
    _bias: Any,
    _stride: Any,
    _padding: Any,
    _dilation: Any,
    transposed: bool,
    *args: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    """Count those of a convolution."""
    return conv_flop_count(x_shape, w_shape, out_shape, transposed=transposed)


@register_flop_formula(aten.convolution_backward)
def conv_backward_flop(
    grad_out_shape: Sizes,
    x_shape: Sizes,
    w_shape: Sizes,
    _bias: Any,
    _stride: Any,
    _padding: Any,
    _dilation: Any,
    transposed: bool,
    _output_padding: Any,
    _groups: Any,
    output_mask: Sequence[bool],
    out_shape: Any,
    **kwargs: Any,
) -> int:
    """Count those of the gradients that are wanted: each is a convolution of the two others."""

    def turned(shape: Sizes) -> list[int]:
        return [shape[1], shape[0], *shape[2:]]

    count = 0
    if output_mask[0]:
        count += conv_flop_count(grad_out_shape, w_shape, out_shape[0], not transposed)
    if output_mask[1]:
        pair = (grad_out_shape, x_shape) if transposed else (x_shape, grad_out_shape)
        first, second = map(turned, pair)
        count += conv_flop_count(first, second, turned(out_shape[1]))
    return count


def sdpa_flop_count(query_shape: Sizes, key_shape: Sizes, value_shape: Sizes) -> int:
    """Count those of attention: of the scores, and of the values that they weigh. Heads may share keys."""
    b, h, s_q, d_q = query_shape
    b2, h_kv, s_k, d2 = key_shape
    b3, h3, s3, d_v = value_shape
    assert b == b2 == b3 and h_kv == h3 and d_q == d2 and s_k == s3, (
        f"sdpa_flop_count: query/key/value shapes are incompatible: q={query_shape}, k={key_shape}, "
        f"v={value_shape}"
    )
    assert h % h_kv == 0, f"sdpa_flop_count: query heads ({h}) must be a multiple of key/value heads ({h_kv})"
    return bmm_flop((b * h, s_q, d_q), (b * h, d_q, s_k)) + bmm_flop((b * h, s_q, s_k), (b * h, s_k, d_v))


@register_flop_formula(
    [
        aten._scaled_dot_product_efficient_attention,
        aten._scaled_dot_product_flash_attention,
        aten._scaled_dot_product_cudnn_attention,
    ]
)
def sdpa_flop(
    query_shape: Sizes,
    key_shape: Sizes,
    value_shape: Sizes,
    *args: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    """Count those of attention."""
    return sdpa_flop_count(query_shape, key_shape, value_shape)


def sdpa_backward_flop_count(
    grad_out_shape: Sizes, query_shape: Sizes, key_shape: Sizes, value_shape: Sizes
) -> int:
    """Count those of the gradients of attention, for which the scores are computed again."""
    b, h, s_q, d_q = query_shape
    b2, h_kv, s_k, d2 = key_shape
    b3, h3, s3, d_v = value_shape
    b4, h4, s4, d4 = grad_out_shape
    assert b == b2 == b3 == b4 and h == h4 and h_kv == h3 and h % h_kv == 0, (
        "sdpa_backward_flop_count: batch/heads mismatch among tensors"
    )
    assert d_q == d2 and d_v == d4 and s_k == s3 and s_q == s4, (
        "sdpa_backward_flop_count: grad_out/value/key/query shapes are incompatible"
    )
    of_queries = bmm_flop((b * h, s_q, d_q), (b * h, d_q, s_k))
    of_values = bmm_flop((b * h, s_q, d_v), (b * h, d_v, s_k))
    # The scores and the gradients of queries and keys; those of the weights and of the values.
    return 3 * of_queries + 2 * of_values


@register_flop_formula(
    [
        aten._scaled_dot_product_efficient_attention_backward,
        aten._scaled_dot_product_flash_attention_backward,
        aten._scaled_dot_product_cudnn_attention_backward,
    ]
)
def sdpa_backward_flop(
    grad_out_shape: Sizes,
    query_shape: Sizes,
    key_shape: Sizes,
    value_shape: Sizes,
    *args: Any,
    out_shape: Any = None,
    **kwargs: Any,
) -> int:
    """Count those of the gradients of attention."""
    return sdpa_backward_flop_count(grad_out_shape, query_shape, key_shape, value_shape)


# -- how counts are written --------------------------------------------------------------------------

suffixes = ["", "K", "M", "B", "T"]


def get_suffix_str(number: float) -> str:
    """Return the unit in which a number has about four digits in front of the point."""
    return suffixes[max(0, min(len(suffixes) - 1, (len(str(number)) - 2) // 3))]


def convert_num_with_suffix(number: float, suffix: str) -> str:
    """Write a number in a unit."""
    return f"{number / 1000 ** suffixes.index(suffix):.3f}{suffix}"


def convert_to_percent_str(num: float, denom: float) -> str:
    """Write a share."""
    return f"{num / denom:.2%}" if denom else "0%"


def _as_table(rows: Sequence[Sequence[str]]) -> str:
    """Write rows below each other, the first cell of each to the left and the others to the right."""
    head = ("Module", "FLOP", "% Total")
    # Columns are a little wider than their titles.
    widths = [max(len(title) + 2, *map(len, cells)) for title, *cells in zip(head, *rows, strict=True)]
    lines = [head, ["-" * width for width in widths], *rows]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if place else cell.ljust(width)
            for place, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    )


class FlopCounterMode:
    """In the block, counts the operations on numbers of floating point, and for which modules they are.

    Products, convolutions and what else has a formula are counted; `custom_mapping` has further formulas.
    In the end a table of the modules down to `depth` is printed, unless `display` is false.

    >>> import rushlight as torch
    >>> from rushlight.utils.flop_counter import FlopCounterMode
    >>> model = torch.nn.Linear(3, 4)
    >>> with FlopCounterMode() as counter:
    ...     model(torch.ones(2, 3)).sum().backward()
    Module           FLOP    % Total
    -------------  ------  ---------
    Linear             96    100.00%
     - aten.addmm      48     50.00%
     - aten.mm         48     50.00%
    >>> counter.get_total_flops()
    96
    """

    def __init__(
        self,
        mods: Module | list[Module] | None = None,
        depth: int = 2,
        display: bool = True,
        custom_mapping: dict[Any, Any] | None = None,
    ) -> None:
        if mods is not None:
            warnings.warn("mods argument is not needed anymore, you can stop passing it", stacklevel=2)
        self.flop_counts: dict[str, dict[Any, int]] = defaultdict(lambda: defaultdict(int))
        self.depth = depth
        self.display = display
        self.mode: _FlopCounterMode | None = None
        own = {
            target: formula if getattr(formula, "_get_raw", False) else shape_wrapper(formula)
            for target, formula in (custom_mapping or {}).items()
        }
        self.flop_registry = {**flop_registry, **own}
        self.mod_tracker = ModuleTracker()

    def get_total_flops(self) -> int:
        """Return how many there were."""
        return sum(self.flop_counts["Global"].values())

    def get_flop_counts(self) -> dict[str, dict[Any, int]]:
        """Return how many there were for each module, by operator; `Global` counts all."""
        return {name: dict(counts) for name, counts in self.flop_counts.items()}

    def get_table(self, depth: int | None = None) -> str:
        """Write them as a table of the modules down to a depth."""
        depth = self.depth if depth is None else depth
        total = self.get_total_flops()
        suffix = get_suffix_str(total)

        def rows_of(name: str, level: int) -> list[list[str]]:
            counts = self.flop_counts[name]
            named = [(name, sum(counts.values())), *((f" - {key}", count) for key, count in counts.items())]
            return [
                [
                    " " * level + text,
                    convert_num_with_suffix(count, suffix) if suffix else f"{count:g}",
                    convert_to_percent_str(count, total),
                ]
                for text, count in named
            ]

        modules = [name for name in sorted(self.flop_counts) if name != "Global"]
        shown = [name for name in modules if name.count(".") < depth]
        is_all_in_one = any(sum(self.flop_counts[name].values()) >= total for name in shown)
        outside = bool(self.flop_counts["Global"]) and not is_all_in_one
        rows = rows_of("Global", 0) if outside else []
        for name in shown:
            rows += rows_of(name, name.count(".") + outside)
        return _as_table(rows or [["Global", "0", "0%"]])

    def __enter__(self) -> Self:
        self.flop_counts.clear()
        self.mod_tracker.__enter__()
        self.mode = _FlopCounterMode(self)
        self.mode.__enter__()
        return self

    def __exit__(self, *exception: object) -> None:
        if self.mode is None:
            raise AssertionError("Internal error: FlopCounter.__exit__ called but mode is None")
        self.mode.__exit__(*exception)
        self.mode = None
        self.mod_tracker.__exit__(*exception)
        if self.display:
            print(self.get_table(self.depth))

    def _count_flops(self, func_packet: Any, out: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Count a call, and return what it gave."""
        if func_packet in self.flop_registry:
            count = self.flop_registry[func_packet](*args, **kwargs, out_val=out)
            for name in set(self.mod_tracker.parents):
                self.flop_counts[name][func_packet] += count
        return out


class _FlopCounterMode(TorchDispatchMode):
    """What is shown the operations for a counter."""

    def __init__(self, counter: FlopCounterMode) -> None:
        self.counter = counter

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute it and count it."""
        kwargs = kwargs or {}
        return self.counter._count_flops(func._overloadpacket, func(*args, **kwargs), args, kwargs)

"""Operators whose result has another element type than its arguments."""

from __future__ import annotations

from typing import Any

from ..._ops import OpOverload
from ..._rushlight import Tensor
from ...utils._pytree import tree_map_only

__all__ = ["out_dtype"]


def out_dtype(op: Any, output_dtype: Any, *args: Any) -> Any:
    """Return what an operator returns of arguments in a type that holds more, in which it is calculated.

    >>> import rushlight as torch
    >>> x = torch.full((1,), 100, dtype=torch.int8)
    >>> out_dtype(torch.ops.aten.mul.Tensor, torch.int32, x, x)
    tensor([10000], dtype=torch.int32)
    """
    if not isinstance(op, OpOverload):
        raise ValueError("out_dtype's first argument must be an OpOverload")
    if op._schema.is_mutable:
        raise ValueError("out_dtype's first argument needs to be a functional operator")
    returned = [one.kind for one in op._schema.returns]
    if returned != ["Tensor"]:
        kinds = ", ".join(f"List[{kind[:-2]}]" if kind.endswith("[]") else kind for kind in returned)
        raise ValueError(
            f"out_dtype's can only apply to ops that return a single tensorInstead got [{kinds}]"
        )
    return op(*tree_map_only(Tensor, lambda one: one.to(output_dtype), args)).to(output_dtype)

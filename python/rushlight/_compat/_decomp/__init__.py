"""Operators written in others: tables by which a tracer records simpler ones.

>>> import rushlight as torch
>>> from rushlight._compat._decomp import get_decompositions
>>> from rushlight.fx.experimental.proxy_tensor import make_fx
>>> table = get_decompositions([torch.ops.aten.silu])
>>> print(make_fx(torch.nn.functional.silu, table)(torch.ones(2)).code.strip().splitlines()[1].strip())
sigmoid = torch.ops.aten.sigmoid.default(input_1)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from . import decompositions
from ._table import get_decompositions, register_decomposition, remove_decompositions, tables

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "core_aten_decompositions",
    "decomposition_table",
    "decompositions",
    "get_decompositions",
    "global_decomposition_table",
    "meta_table",
    "pre_autograd_decomposition_table",
    "register_decomposition",
    "remove_decompositions",
]

global_decomposition_table = tables
decomposition_table = tables["post_autograd"]
pre_autograd_decomposition_table = tables["pre_autograd"]
meta_table = tables["meta"]


def core_aten_decompositions() -> dict[Any, Callable[..., Any]]:
    """Return a table of all that is written in others, to be changed."""
    return dict(decomposition_table)

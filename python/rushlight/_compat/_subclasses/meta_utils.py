"""Whether two tensors are alike in everything but their numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..._rushlight import Tensor

__all__ = ["assert_metadata_eq"]

_SPARSE = "layout dense_dim sparse_dim"
_STRIDED = "stride storage_offset _is_view"


def assert_metadata_eq(
    assert_eq: Callable[[Any, Any], None],
    m1: Tensor,
    m2: Tensor,
    *,
    skip_symbolic: bool = False,
    skip_leaf: bool = False,
) -> None:
    """Have `assert_eq` compare what two tensors are, their gradients and what they are views of.

    >>> import rushlight as torch
    >>> from rushlight._subclasses.meta_utils import assert_metadata_eq
    >>> def equal(one, other):
    ...     assert one == other
    >>> assert_metadata_eq(equal, torch.ones(2), torch.zeros(2))
    """
    names = ["dtype", "requires_grad", "is_sparse", "is_inference", "is_conj", "is_neg"]
    names += [] if skip_symbolic else ["shape"]
    names += [] if skip_leaf else ["is_leaf"]
    if repr(m1.layout).startswith("torch.sparse"):
        names += _SPARSE.split() + (["is_coalesced"] if m1.is_sparse else [])
    else:
        names += _STRIDED.split()[2 if skip_symbolic else 0 :]
    for name in names:
        pair = [getattr(one, name) for one in (m1, m2)]
        assert_eq(*(one() if callable(one) else one for one in pair))
    inside = [(m1.grad, m2.grad)] if m1.is_leaf or m1.retains_grad else []
    for one, other in [*inside, (m1._base, m2._base)]:
        assert_eq(one is not None, other is not None)
        if one is not None and other is not None:
            assert_metadata_eq(assert_eq, one, other, skip_symbolic=skip_symbolic, skip_leaf=skip_leaf)

"""Results that are written into tensors which the caller has."""

from __future__ import annotations

from .. import _rushlight as native
from .._rushlight import Tensor


def written(found: Tensor, out: Tensor | None, refusal: str, unrecorded: str | None = None) -> Tensor:
    """Return a result, in `out` if that is given.

    `refusal` is what is said of an `out` of another type, and `unrecorded` names the operation that would
    have to be recorded and is not, if there is one.
    """
    if out is None:
        return found
    if out.dtype != found.dtype:
        raise RuntimeError(refusal)
    if unrecorded is not None and (found.requires_grad or out.requires_grad):
        raise RuntimeError(
            f"{unrecorded}(): functions with out=... arguments don't support automatic differentiation, but "
            "one of the arguments requires grad."
        )
    if out.shape != found.shape:
        # Resizes it, as every operation does, with a warning if it has elements.
        native.add(found.detach(), 0, out=out)
    return out.copy_(found)


def by_columns(x: Tensor) -> Tensor:
    """Return matrices as results of linear algebra lie in memory: one column behind the other."""
    return x.mT.contiguous().mT

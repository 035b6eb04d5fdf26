"""Results that are written into tensors which the caller has."""

from __future__ import annotations

from .. import _rushlight as native
from .._rushlight import Tensor
from .._tensors.typename import scalar_name


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


def check_kernel(name: str, A: Tensor) -> None:
    """Refuse types that LAPACK does not have, as the kernel of this name does."""
    if A.dtype not in (native.float32, native.float64, native.complex64, native.complex128):
        raise NotImplementedError(f"\"{name}\" not implemented for '{scalar_name(A)}'")


def check_reflections(name: str, A: Tensor, tau: Tensor) -> None:
    """Refuse factors that do not belong to the reflections of each matrix."""
    if tau.dim() != A.dim() - 1:
        raise RuntimeError(
            f"{name}: Expected tau to have one dimension less than input, but got tau.ndim equal to "
            f"{tau.dim()} and input.ndim is equal to {A.dim()}"
        )
    if tau.shape[:-1] != A.shape[:-2]:
        raise RuntimeError(
            f"{name}: Expected batch dimensions of tau to be equal to input.shape[:-2], but got "
            f"{list(tau.shape[:-1])}"
        )

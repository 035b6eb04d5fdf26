"""What distributions share: parameters of one shape, and probabilities as logarithms."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Number
from typing import Any

from .. import _rushlight as native
from .. import broadcast_tensors
from .._functions.diagonals import tril_indices
from .._rushlight import Tensor
from ..overrides import is_tensor_like

__all__ = ["broadcast_all", "clamp_probs", "lazy_property", "logits_to_probs", "probs_to_logits"]


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Return numbers and tensors as tensors of one shape.

    >>> from rushlight.distributions.utils import broadcast_all
    >>> import rushlight as torch
    >>> broadcast_all(torch.zeros(2), 1.0)[1]
    tensor([1., 1.])
    """
    if not all(is_tensor_like(value) or isinstance(value, Number) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number, torch.Tensor or objects implementing "
            "__torch_function__."
        )
    tensors = [value for value in values if isinstance(value, Tensor)]
    dtype = tensors[0].dtype if tensors else native.get_default_dtype()
    made: list[Any] = [
        value if is_tensor_like(value) else native.tensor(value, dtype=dtype) for value in values
    ]
    return broadcast_tensors(*made)


def sum_rightmost(value: Tensor, count: int) -> Tensor:
    """Return the sums over the last dimensions."""
    return value if count == 0 else value.flatten(-count).sum(-1)


def standard_normal(shape: Sequence[int], dtype: Any, device: Any = None) -> Tensor:
    """Draw from the normal distribution of mean zero and deviation one."""
    return native.normal(
        native.zeros(shape, dtype=dtype, device=device), native.ones(shape, dtype=dtype, device=device)
    )


# As libraries that write distributions of their own know them.
_sum_rightmost, _standard_normal = sum_rightmost, standard_normal


def probs_or_logits(probs: Any, logits: Any) -> tuple[str, Any]:
    """Return the one of two parameters that is given, after its name; refuse both and none."""
    if (probs is None) == (logits is None):
        raise ValueError("Either `probs` or `logits` must be specified, but not both.")
    return ("logits", logits) if probs is None else ("probs", probs)


def clamp_probs(probs: Tensor) -> Tensor:
    """Return probabilities that are neither zero nor one."""
    eps = native.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """Return the probabilities of logits: of single events, or of one of several."""
    return logits.sigmoid() if is_binary else logits.softmax(-1)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """Return the logits of probabilities."""
    clamped = clamp_probs(probs)
    return clamped.log() - (-clamped).log1p() if is_binary else clamped.log()


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """Return what is on and below a diagonal of matrices, row by row.

    >>> import rushlight as torch
    >>> from rushlight.distributions.utils import tril_matrix_to_vec
    >>> tril_matrix_to_vec(torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 3., 4.])
    """
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = tril_indices(size, size, diag)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Return matrices with these numbers on and below a diagonal, row by row, and zeros above."""
    count, more = vec.shape[-1], 1 + 2 * diag
    exact = (-more + (more**2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5) / 2
    size = round(exact)
    if size - exact > native.finfo(vec.dtype).eps:
        raise ValueError(
            f"The size of last dimension is {count} which cannot be expressed as the lower triangular "
            "part of a square D x D matrix."
        )
    made = vec.new_zeros((*vec.shape[:-1], size, size))
    rows, columns = tril_indices(size, size, diag)
    made[..., rows, columns] = vec
    return made


class lazy_property:
    """A property that is computed once, with history, and kept in the object."""

    def __init__(self, wrapped: Any) -> None:
        self.wrapped = wrapped
        self.__doc__ = wrapped.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name

    def __get__(self, instance: Any, owner: Any = None) -> Tensor:
        if instance is None:
            return self  # type: ignore[return-value]
        from ..autograd.grad_mode import enable_grad

        with enable_grad():
            value: Tensor = self.wrapped(instance)
        setattr(instance, self.name, value)
        return value

"""How near vectors are to each other, as modules."""

from __future__ import annotations

from ..._rushlight import Tensor
from .. import functional
from .module import Module

__all__ = [
    "CosineSimilarity",
    "PairwiseDistance",
]


class CosineSimilarity(Module):
    """The cosine of the angle between vectors.

    >>> import rushlight as torch
    >>> torch.nn.CosineSimilarity()(torch.tensor([[1.0, 0.0]]), torch.tensor([[1.0, 0.0]]))
    tensor([1.])
    """

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Apply `cosine_similarity`."""
        return functional.cosine_similarity(x1, x2, self.dim, self.eps)


class PairwiseDistance(Module):
    """The norms of differences.

    >>> import rushlight as torch
    >>> torch.nn.PairwiseDistance()(torch.zeros(1, 2), torch.tensor([[3.0, 4.0]]))
    tensor([5.0000])
    """

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Tensor, x2: Tensor) -> Tensor:
        """Apply `pairwise_distance`."""
        return functional.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)

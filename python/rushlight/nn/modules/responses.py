"""Layers that divide an element by what the channels around it have."""

from __future__ import annotations

from ... import _rushlight as native
from ..._rushlight import Tensor
from .. import functional
from ._shown import constructed_by_name, shown
from .module import Module

__all__ = ["CrossMapLRN2d", "LocalResponseNorm"]


class _AcrossChannels(Module):
    """What divides by a power of `k` and a share `alpha` of what `size` channels have around an element."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def extra_repr(self) -> str:
        """Show the arguments."""
        return f"{self.size}, {shown(self, 'alpha', 'beta', 'k')}"


@constructed_by_name
class LocalResponseNorm(_AcrossChannels):
    """Every element over a power of the mean square of the channels around it.

    >>> import rushlight as torch
    >>> torch.nn.LocalResponseNorm(1, alpha=3.0, beta=1.0)(torch.ones(1, 1, 1)).item()
    0.25
    """

    def forward(self, input: Tensor) -> Tensor:
        """Apply `local_response_norm`."""
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)


class CrossMapLRN2d(_AcrossChannels):
    """Every element less the more its neighbours among the channels are.

    >>> import rushlight as torch
    >>> torch.nn.CrossMapLRN2d(3)(torch.ones(1, 2, 1, 1)).flatten()
    tensor([1.0000, 1.0000])
    """

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1) -> None:
        super().__init__(size, alpha, beta, k)

    def forward(self, input: Tensor) -> Tensor:
        """Divide by a power of the sums of squares of neighbours."""
        from . import _across

        normalised: Tensor = _across.CrossMapLRN2d.apply(input, self._divided)
        return normalised

    def _divided(self, input: Tensor) -> Tensor:
        if input.dim() != 4:
            raise ValueError(f"CrossMapLRN2d: Expected input to be 4D, got {input.dim()}D instead.")
        # As many channels on both sides, of an even size one less.
        beside = (self.size + 1) // 2 - 1 if self.size % 2 else self.size // 2 - 1
        squares = functional.pad(input * input, (0, 0, 0, 0, beside, beside))
        sums = squares.unfold(1, 2 * beside + 1, 1).sum(-1)
        # In torch the first channel counts for all that come after it.
        first = squares[:, beside : beside + 1]
        sums = native.cat([sums[:, : beside + 1], sums[:, beside + 1 :] + first], 1)
        return input * (self.k + self.alpha / self.size * sums) ** -self.beta

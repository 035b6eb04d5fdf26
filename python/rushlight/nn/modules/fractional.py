"""Pooling over windows that are spread by chance."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._rushlight import Tensor
from .. import functional
from .._dimensions import spread
from ._shown import constructed_by_name
from .module import Module

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalMaxPool(Module):
    spatial: ClassVar[int]
    function: ClassVar[str]
    _random_samples: Tensor | None

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Tensor | None = None,
    ) -> None:
        super().__init__()
        name = type(self).__name__
        sizes = kernel_size if isinstance(kernel_size, (tuple, list)) else (kernel_size,)
        if self.spatial == 3 and any(isinstance(size, int) and size <= 0 for size in sizes):
            raise ValueError(f"kernel_size must be greater than 0, but got {kernel_size}")
        self.kernel_size = spread(kernel_size, self.spatial)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = spread(output_size, self.spatial) if output_size is not None else None
        self.output_ratio = spread(output_ratio, self.spatial) if output_ratio is not None else None
        if output_size is None and output_ratio is None:
            raise ValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Tensor) -> Any:
        """Return the greatest elements of windows that are spread by chance."""
        return getattr(functional, self.function)(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


@constructed_by_name
class FractionalMaxPool2d(_FractionalMaxPool):
    """The greatest elements of windows over two dimensions, spread by chance.

    >>> import rushlight as torch
    >>> torch.nn.FractionalMaxPool2d(2, output_ratio=0.5)(torch.ones(1, 1, 8, 6)).shape
    torch.Size([1, 1, 4, 3])
    """

    spatial = 2
    function = "fractional_max_pool2d"


@constructed_by_name
class FractionalMaxPool3d(_FractionalMaxPool):
    """The greatest elements of windows over three dimensions, spread by chance."""

    spatial = 3
    function = "fractional_max_pool3d"

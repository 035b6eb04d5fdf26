"""Leaving elements out by chance, as functions."""

from __future__ import annotations

import warnings

from ... import _rushlight as native
from ..._calls.showing import shown
from ..._rushlight import Tensor

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "feature_alpha_dropout",
]


def _checked(p: float) -> None:
    if p < 0.0 or p > 1.0:
        raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")


@shown
def dropout(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Leave elements out with probability `p`, and make the others up for it.

    >>> import rushlight as torch
    >>> torch.nn.functional.dropout(torch.ones(3), training=False)
    tensor([1., 1., 1.])
    """
    _checked(p)
    return native.dropout_(input, p, training) if inplace else native.dropout(input, p, training)


@shown
def alpha_dropout(input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False) -> Tensor:
    """Leave elements out so that mean and variance stay.

    >>> import rushlight as torch
    >>> torch.nn.functional.alpha_dropout(torch.ones(3), training=False)
    tensor([1., 1., 1.])
    """
    _checked(p)
    function = native.alpha_dropout_ if inplace else native.alpha_dropout
    return function(input, p, training)


@shown
def feature_alpha_dropout(
    input: Tensor, p: float = 0.5, training: bool = False, inplace: bool = False
) -> Tensor:
    """Leave channels out so that mean and variance stay.

    >>> import rushlight as torch
    >>> torch.nn.functional.feature_alpha_dropout(torch.ones(1, 3), training=False)
    tensor([[1., 1., 1.]])
    """
    _checked(p)
    function = native.feature_alpha_dropout_ if inplace else native.feature_alpha_dropout
    return function(input, p, training)


def _channels(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    function = native.feature_dropout_ if inplace else native.feature_dropout
    return function(input, p, training)


def _channels_of_one(input: Tensor, p: float, training: bool, inplace: bool) -> Tensor:
    """Leave channels out of a sample that has no dimension of a batch before it."""
    lifted = input.unsqueeze_(0) if inplace else input.unsqueeze(0)
    result = _channels(lifted, p, training, inplace)
    return result.squeeze_(0) if inplace else result.squeeze(0)


def _warn_of_rank(ndim: int, spatial: int) -> None:
    if ndim not in (spatial + 1, spatial + 2):
        name = f"dropout{spatial}d"
        warnings.warn(
            f"{name}: Received a {ndim}-D input to {name}, which is deprecated and will result in an "
            "error in a future release. To retain the behavior and silence this warning, please use "
            f"dropout instead. Note that {name} exists to provide channel-wise dropout on inputs with "
            f"{spatial} spatial dimensions, a channel dimension, and an optional batch dimension "
            f"(i.e. {spatial + 1}D or {spatial + 2}D inputs).",
            stacklevel=3,
        )


@shown
def dropout1d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Leave whole channels out of (N, C, L) or (C, L).

    >>> import rushlight as torch
    >>> x = torch.ones(1, 2, 3)
    >>> y = torch.nn.functional.dropout1d(x, 1.0)
    >>> y.shape, bool(y.any())
    (torch.Size([1, 2, 3]), False)
    """
    ndim = input.dim()
    _checked(p)
    if ndim not in (2, 3):
        raise RuntimeError(
            f"dropout1d: Expected 2D or 3D input, but received a {ndim}D input. Note that dropout1d exists "
            "to provide channel-wise dropout on inputs with 1 spatial dimension, a channel dimension, and an "
            "optional batch dimension (i.e. 2D or 3D inputs)."
        )
    leave_out = _channels_of_one if ndim == 2 else _channels
    return leave_out(input, p, training, inplace)


@shown
def dropout2d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Leave whole channels out of images.

    >>> import rushlight as torch
    >>> x = torch.ones(1, 2, 3, 3)
    >>> y = torch.nn.functional.dropout2d(x, 1.0)
    >>> y.shape, bool(y.any())
    (torch.Size([1, 2, 3, 3]), False)
    """
    _checked(p)
    ndim = input.dim()
    _warn_of_rank(ndim, 2)
    if ndim == 3:
        warnings.warn(
            "dropout2d: Received a 3D input to dropout2d and assuming that channel-wise 1D dropout behavior "
            "is desired - input is interpreted as shape (N, C, L), where C is the channel dim. This behavior "
            "will change in a future release to interpret the input as one without a batch dimension, i.e. "
            "shape (C, H, W). To maintain the 1D channel-wise dropout behavior, please switch to using "
            "dropout1d instead.",
            stacklevel=2,
        )
    return _channels(input, p, training, inplace)


@shown
def dropout3d(input: Tensor, p: float = 0.5, training: bool = True, inplace: bool = False) -> Tensor:
    """Leave whole channels out of volumes.

    >>> import rushlight as torch
    >>> x = torch.ones(1, 2, 3, 3, 3)
    >>> y = torch.nn.functional.dropout3d(x, 1.0)
    >>> y.shape, bool(y.any())
    (torch.Size([1, 2, 3, 3, 3]), False)
    """
    _checked(p)
    _warn_of_rank(input.dim(), 3)
    leave_out = _channels_of_one if input.dim() == 4 else _channels
    return leave_out(input, p, training, inplace)

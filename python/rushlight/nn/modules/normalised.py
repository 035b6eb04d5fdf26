"""Layers that normalise."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any, ClassVar

from ..._rushlight import Tensor, device, dtype, empty, int64, ones, tensor, zeros
from .. import functional, init
from ..parameter import Parameter
from ._shown import shown
from .module import Module

__all__ = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "RMSNorm",
]


class _Scaled(Module):
    """Weights that begin as ones, and biases that begin as zeros; there need not be any."""

    weight: Any
    bias: Any

    def _register(self, sizes: int | tuple[int, ...], options: dict[str, Any], **wanted: bool) -> None:
        """Make the parameters that are wanted, and put nothing in the place of the others."""
        for name, is_wanted in wanted.items():
            self.register_parameter(name, Parameter(empty(sizes, **options)) if is_wanted else None)

    def reset_parameters(self) -> None:
        """Set the weights to one and the biases to zero."""
        for name, fill in (("weight", init.ones_), ("bias", init.zeros_)):
            parameter = self._parameters.get(name)
            if parameter is not None:
                fill(parameter)


class _NormBase(_Scaled):
    """Weight and bias of every channel, and its mean and variance so far."""

    _version = 2
    ranks: ClassVar[tuple[int, ...]]
    running_mean: Any
    running_var: Any
    num_batches_tracked: Any

    def __init__(
        self,
        num_features: int,
        eps: float,
        momentum: float | None,
        affine: bool,
        track_running_stats: bool,
        bias: bool,
        options: dict[str, Any],
    ) -> None:
        super().__init__()
        self.num_features = num_features
        self.eps = eps
        self.momentum = momentum
        self.affine = affine
        self.track_running_stats = track_running_stats
        self._register(num_features, options, weight=affine, bias=affine and bias)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **options) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if tracked else None)
        self.reset_parameters()

    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        # States from before there was a count of batches leave it as it is.
        if local_metadata.get("version", 0) < 2 and self.track_running_stats:
            count = self.num_batches_tracked
            state_dict.setdefault(
                f"{prefix}num_batches_tracked", tensor(0, dtype=int64) if count is None else count
            )
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def reset_running_stats(self) -> None:
        """Forget mean and variance."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget mean and variance, and set the weights to one and the biases to zero."""
        self.reset_running_stats()
        super().reset_parameters()

    def _check_input_dim(self, input: Tensor) -> None:
        if input.dim() not in self.ranks:
            wanted = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        """Show the arguments."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_NormBase):
    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: device | str | None = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        options = {"device": device, "dtype": dtype}
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias, options)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise every channel; in training by the batch, else by what was seen."""
        self._check_input_dim(input)
        share = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats and self.num_batches_tracked is not None:
            self.num_batches_tracked.add_(1)
            if self.momentum is None:
                share = 1.0 / float(self.num_batches_tracked)
        by_batch = self.training or (self.running_mean is None and self.running_var is None)
        seen = not self.training or self.track_running_stats
        return functional.batch_norm(
            input,
            self.running_mean if seen else None,
            self.running_var if seen else None,
            self.weight,
            self.bias,
            by_batch,
            share,
            self.eps,
        )


class BatchNorm1d(_BatchNorm):
    """Every channel less its mean, over its deviation.

    >>> import rushlight as torch
    >>> torch.nn.BatchNorm1d(1, affine=False)(torch.tensor([[1.0], [3.0]])).flatten()
    tensor([-1.0000,  1.0000])
    """

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Every channel of images less its mean, over its deviation.

    >>> import rushlight as torch
    >>> torch.nn.BatchNorm2d(3)
    BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Every channel of volumes less its mean, over its deviation.

    >>> import rushlight as torch
    >>> torch.nn.BatchNorm3d(2)(torch.zeros(1, 2, 3, 3, 3)).shape
    torch.Size([1, 2, 3, 3, 3])
    """

    ranks = (5,)


class _InstanceNorm(_NormBase):
    def _load_from_state_dict(
        self, state_dict: dict[str, Any], prefix: str, local_metadata: dict[str, Any], *rest: Any
    ) -> None:
        if local_metadata.get("version") is None and not self.track_running_stats:
            # Once statistics were kept unless somebody asked for none.
            names = [f"{prefix}{name}" for name in ("running_mean", "running_var")]
            kept = [name for name in names if name in state_dict]
            if kept:
                rest[-1].append(_unexpected_statistics(kept, type(self).__name__))
            for name in kept:
                del state_dict[name]
        super()._load_from_state_dict(state_dict, prefix, local_metadata, *rest)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.1,
        affine: bool = False,
        track_running_stats: bool = False,
        device: device | str | None = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        options = {"device": device, "dtype": dtype}
        super().__init__(num_features, eps, momentum, affine, track_running_stats, bias, options)

    def _get_no_batch_dim(self) -> int:
        return min(self.ranks)

    def forward(self, input: Tensor) -> Tensor:
        """Normalise every channel of every sample."""
        self._check_input_dim(input)
        dim = input.dim() - self._get_no_batch_dim()
        single = dim == 0
        if input.shape[dim] != self.num_features:
            self._refuse_features(dim, input.shape[dim])
        result = functional.instance_norm(
            input.unsqueeze(0) if single else input,
            self.running_mean,
            self.running_var,
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            0.0 if self.momentum is None else self.momentum,
            self.eps,
        )
        return result.squeeze(0) if single else result

    def _refuse_features(self, dim: int, size: int) -> None:
        """Refuse inputs of other channels, or warn where nothing depends on their number."""
        if self.affine:
            raise ValueError(
                f"expected input's size at dim={dim} to match num_features ({self.num_features}), but got: "
                f"{size}."
            )
        warnings.warn(
            f"input's size at dim={dim} does not match num_features. You can silence this warning by not "
            "passing in num_features, which is not used because affine=False",
            stacklevel=3,
        )


class InstanceNorm1d(_InstanceNorm):
    """Every channel of every sample less its mean, over its deviation.

    >>> import rushlight as torch
    >>> torch.nn.InstanceNorm1d(1, eps=0.0)(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.,  1.]])
    """

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Every channel of every image less its mean, over its deviation.

    >>> import rushlight as torch
    >>> torch.nn.InstanceNorm2d(1, eps=0.0)(torch.tensor([[[1.0, 3.0]]]))
    tensor([[[-1.,  1.]]])
    """

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Every channel of every volume less its mean, over its deviation.

    >>> import rushlight as torch
    >>> torch.nn.InstanceNorm3d(1, eps=0.0)(torch.tensor([[[[1.0, 3.0]]]]))
    tensor([[[[-1.,  1.]]]])
    """

    ranks = (4, 5)


def _sizes(normalized_shape: int | Sequence[int]) -> tuple[int, ...]:
    return (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)


class LayerNorm(_Scaled):
    """The last dimensions less their mean, over their deviation.

    >>> import rushlight as torch
    >>> torch.nn.LayerNorm(3)
    LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float = 1e-5,
        elementwise_affine: bool = True,
        bias: bool = True,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        options = {"device": device, "dtype": dtype}
        has_bias = elementwise_affine and bias
        self._register(self.normalized_shape, options, weight=elementwise_affine, bias=has_bias)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Apply `layer_norm`."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the arguments."""
        options = shown(self, "eps", "elementwise_affine")
        return f"{self.normalized_shape}, {options}, bias={self.bias is not None}"


class RMSNorm(_Scaled):
    """The last dimensions over the root of their mean square.

    >>> import rushlight as torch
    >>> torch.nn.RMSNorm(2, elementwise_affine=False)(torch.tensor([3.0, 3.0]))
    tensor([1., 1.])
    """

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        self.normalized_shape = _sizes(normalized_shape)
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        options = {"device": device, "dtype": dtype}
        self._register(self.normalized_shape, options, weight=elementwise_affine)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Apply `rms_norm`."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return f"{self.normalized_shape}, {shown(self, 'eps', 'elementwise_affine')}"


class GroupNorm(_Scaled):
    """Groups of channels less their mean, over their deviation.

    >>> import rushlight as torch
    >>> torch.nn.GroupNorm(1, 2, eps=0.0, affine=False)(torch.tensor([[1.0, 3.0]]))
    tensor([[-1.,  1.]])
    """

    def __init__(
        self,
        num_groups: int,
        num_channels: int,
        eps: float = 1e-5,
        affine: bool = True,
        device: device | str | None = None,
        dtype: dtype | None = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__()
        if num_channels % num_groups != 0:
            raise ValueError(f"num_channels ({num_channels}) must be divisible by num_groups ({num_groups})")
        self.num_groups = num_groups
        self.num_channels = num_channels
        self.eps = eps
        self.affine = affine
        options = {"device": device, "dtype": dtype}
        self._register(num_channels, options, weight=affine, bias=affine and bias)
        self.reset_parameters()

    def forward(self, input: Tensor) -> Tensor:
        """Apply `group_norm`."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


def _unexpected_statistics(names: list[str], kind: str) -> str:
    listed = " and ".join(f'"{name}"' for name in names)
    return (
        f"Unexpected running stats buffer(s) {listed} for {kind} with track_running_stats=False. If "
        "state_dict is a checkpoint saved before 0.4.0, this may be expected because "
        f"{kind} does not track running stats by default since 0.4.0. Please remove these keys from "
        "state_dict. If the running stats are actually needed, instead set track_running_stats=True in "
        f"{kind} to enable them. See the documentation of {kind} for details."
    )

"""Layers that normalise, and those that leave elements out or look them up."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, ClassVar

from .._rushlight import empty, int64, ones, tensor, zeros
from . import functional, init
from .module import Module
from .parameter import Parameter

if TYPE_CHECKING:
    from collections.abc import Sequence

    from typing_extensions import Self

    from .._rushlight import Tensor, device, dtype

__all__ = [
    "AlphaDropout",
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "Dropout",
    "Dropout1d",
    "Dropout2d",
    "Dropout3d",
    "Embedding",
    "FeatureAlphaDropout",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "LayerNorm",
    "LocalResponseNorm",
    "RMSNorm",
]


class _Statistics(Module):
    """Weight and bias of every channel, and its mean and variance so far."""

    ranks: ClassVar[tuple[int, ...]]
    weight: Any
    bias: Any
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
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(empty(num_features, **options)) if wanted else None
            self.register_parameter(name, value)
        tracked = track_running_stats
        self.register_buffer("running_mean", zeros(num_features, **options) if tracked else None)
        self.register_buffer("running_var", ones(num_features, **options) if tracked else None)
        self.register_buffer("num_batches_tracked", tensor(0, dtype=int64) if tracked else None)
        self.reset_parameters()

    def reset_running_stats(self) -> None:
        """Forget mean and variance."""
        if self.track_running_stats:
            self.running_mean.zero_()
            self.running_var.fill_(1)
            self.num_batches_tracked.zero_()

    def reset_parameters(self) -> None:
        """Forget mean and variance, and set the weights to one and the biases to zero."""
        self.reset_running_stats()
        if self.weight is not None:
            init.ones_(self.weight)
        if self.bias is not None:
            init.zeros_(self.bias)

    def _check(self, input: Tensor) -> None:
        if input.dim() not in self.ranks:
            wanted = " or ".join(f"{rank}D" for rank in self.ranks)
            raise ValueError(f"expected {wanted} input (got {input.dim()}D input)")

    def extra_repr(self) -> str:
        """Show the arguments."""
        return (
            f"{self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"bias={self.bias is not None}, track_running_stats={self.track_running_stats}"
        )


class _BatchNorm(_Statistics):
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
        self._check(input)
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
    """Every channel less its mean, over its deviation."""

    ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Every channel of images less its mean, over its deviation.

    >>> import rushlight as torch
    >>> torch.nn.BatchNorm2d(3)
    BatchNorm2d(3, eps=1e-05, momentum=0.1, affine=True, bias=True, track_running_stats=True)
    """

    ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """Every channel of volumes less its mean, over its deviation."""

    ranks = (5,)


class _InstanceNorm(_Statistics):
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

    def forward(self, input: Tensor) -> Tensor:
        """Normalise every channel of every sample."""
        self._check(input)
        single = input.dim() == min(self.ranks)
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


class InstanceNorm1d(_InstanceNorm):
    """Every channel of every sample less its mean, over its deviation."""

    ranks = (2, 3)


class InstanceNorm2d(_InstanceNorm):
    """Every channel of every image less its mean, over its deviation."""

    ranks = (3, 4)


class InstanceNorm3d(_InstanceNorm):
    """Every channel of every volume less its mean, over its deviation."""

    ranks = (4, 5)


class LayerNorm(Module):
    """The last dimensions less their mean, over their deviation.

    >>> import rushlight as torch
    >>> torch.nn.LayerNorm(3)
    LayerNorm((3,), eps=1e-05, elementwise_affine=True, bias=True)
    """

    bias: Any

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
        sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape = sizes
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        for name, wanted in (("weight", True), ("bias", bias)):
            made = elementwise_affine and wanted
            value = Parameter(empty(sizes, device=device, dtype=dtype)) if made else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to one and the biases to zero."""
        if self.elementwise_affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Apply `layer_norm`."""
        return functional.layer_norm(input, self.normalized_shape, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return (
            f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}, "
            f"bias={self.bias is not None}"
        )


class RMSNorm(Module):
    """The last dimensions over the root of their mean square."""

    def __init__(
        self,
        normalized_shape: int | Sequence[int],
        eps: float | None = None,
        elementwise_affine: bool = True,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        sizes = (normalized_shape,) if isinstance(normalized_shape, int) else tuple(normalized_shape)
        self.normalized_shape = sizes
        self.eps = eps
        self.elementwise_affine = elementwise_affine
        weight = Parameter(empty(sizes, device=device, dtype=dtype)) if elementwise_affine else None
        self.register_parameter("weight", weight)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to one."""
        if self.elementwise_affine:
            init.ones_(self.weight)

    def forward(self, input: Tensor) -> Tensor:
        """Apply `rms_norm`."""
        return functional.rms_norm(input, self.normalized_shape, self.weight, self.eps)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return f"{self.normalized_shape}, eps={self.eps}, elementwise_affine={self.elementwise_affine}"


class GroupNorm(Module):
    """Groups of channels less their mean, over their deviation."""

    bias: Any

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
        for name, wanted in (("weight", affine), ("bias", affine and bias)):
            value = Parameter(empty(num_channels, device=device, dtype=dtype)) if wanted else None
            self.register_parameter(name, value)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Set the weights to one and the biases to zero."""
        if self.affine:
            init.ones_(self.weight)
            if self.bias is not None:
                init.zeros_(self.bias)

    def forward(self, input: Tensor) -> Tensor:
        """Apply `group_norm`."""
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return (
            f"{self.num_groups}, {self.num_channels}, eps={self.eps}, affine={self.affine}, "
            f"bias={self.bias is not None}"
        )


class LocalResponseNorm(Module):
    """Every element over a power of the mean square of the channels around it."""

    def __init__(self, size: int, alpha: float = 1e-4, beta: float = 0.75, k: float = 1.0) -> None:
        super().__init__()
        self.size = size
        self.alpha = alpha
        self.beta = beta
        self.k = k

    def forward(self, input: Tensor) -> Tensor:
        """Apply `local_response_norm`."""
        return functional.local_response_norm(input, self.size, self.alpha, self.beta, self.k)

    def extra_repr(self) -> str:
        """Show the arguments."""
        return f"{self.size}, alpha={self.alpha}, beta={self.beta}, k={self.k}"


class _Dropout(Module):
    def __init__(self, p: float = 0.5, inplace: bool = False) -> None:
        super().__init__()
        if p < 0 or p > 1:
            raise ValueError(f"dropout probability has to be between 0 and 1, but got {p}")
        self.p = p
        self.inplace = inplace

    def extra_repr(self) -> str:
        """Show the arguments."""
        return f"p={self.p}, inplace={self.inplace}"


class Dropout(_Dropout):
    """Elements left out by chance in training, made up for by the others."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply `dropout`."""
        return functional.dropout(input, self.p, self.training, self.inplace)


class Dropout1d(_Dropout):
    """Channels of lines left out by chance in training."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply `dropout1d`."""
        return functional.dropout1d(input, self.p, self.training, self.inplace)


class Dropout2d(_Dropout):
    """Channels of images left out by chance in training."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply `dropout2d`."""
        return functional.dropout2d(input, self.p, self.training, self.inplace)


class Dropout3d(_Dropout):
    """Channels of volumes left out by chance in training."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply `dropout3d`."""
        return functional.dropout3d(input, self.p, self.training, self.inplace)


class AlphaDropout(_Dropout):
    """Elements left out by chance in training; mean and variance stay."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply `alpha_dropout`."""
        return functional.alpha_dropout(input, self.p, self.training)


class FeatureAlphaDropout(_Dropout):
    """Channels left out by chance in training; mean and variance stay."""

    def forward(self, input: Tensor) -> Tensor:
        """Apply `feature_alpha_dropout`."""
        return functional.feature_alpha_dropout(input, self.p, self.training)


class Embedding(Module):
    """A table whose rows are looked up by number.

    >>> import rushlight as torch
    >>> torch.nn.Embedding(10, 3)(torch.tensor([[1, 2]])).shape
    torch.Size([1, 2, 3])
    """

    def __init__(
        self,
        num_embeddings: int,
        embedding_dim: int,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
        _weight: Tensor | None = None,
        _freeze: bool = False,
        device: device | str | None = None,
        dtype: dtype | None = None,
    ) -> None:
        super().__init__()
        if padding_idx is not None:
            assert -num_embeddings <= padding_idx < num_embeddings, (
                "Padding_idx must be within num_embeddings"
            )
            padding_idx %= num_embeddings
        self.num_embeddings = num_embeddings
        self.embedding_dim = embedding_dim
        self.padding_idx = padding_idx
        self.max_norm = max_norm
        self.norm_type = norm_type
        self.scale_grad_by_freq = scale_grad_by_freq
        self.sparse = sparse
        if _weight is None:
            table = empty((num_embeddings, embedding_dim), device=device, dtype=dtype)
            self.weight = Parameter(table, requires_grad=not _freeze)
            self.reset_parameters()
        else:
            assert list(_weight.shape) == [num_embeddings, embedding_dim], (
                "Shape of weight does not match num_embeddings and embedding_dim"
            )
            self.weight = Parameter(_weight, requires_grad=not _freeze)

    def reset_parameters(self) -> None:
        """Draw the rows anew; the one that stands for padding is zero."""
        init.normal_(self.weight)
        if self.padding_idx is not None:
            self.weight.data[self.padding_idx].fill_(0)

    def forward(self, input: Tensor) -> Tensor:
        """Look rows up."""
        return functional.embedding(
            input,
            self.weight,
            self.padding_idx,
            self.max_norm,
            self.norm_type,
            self.scale_grad_by_freq,
            self.sparse,
        )

    @classmethod
    def from_pretrained(
        cls,
        embeddings: Tensor,
        freeze: bool = True,
        padding_idx: int | None = None,
        max_norm: float | None = None,
        norm_type: float = 2.0,
        scale_grad_by_freq: bool = False,
        sparse: bool = False,
    ) -> Self:
        """Make a layer of rows that are there already."""
        assert embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional"
        rows, columns = embeddings.shape
        return cls(
            rows, columns, padding_idx, max_norm, norm_type, scale_grad_by_freq, sparse, embeddings, freeze
        )

    def extra_repr(self) -> str:
        """Show the sizes, and what is not as usual."""
        text = f"{self.num_embeddings}, {self.embedding_dim}"
        usual = {
            "padding_idx": None,
            "max_norm": None,
            "norm_type": 2,
            "scale_grad_by_freq": False,
            "sparse": False,
        }
        for name, value in usual.items():
            if getattr(self, name) != value:
                text += f", {name}={getattr(self, name)}"
        return text

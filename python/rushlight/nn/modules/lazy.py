"""Modules that learn the sizes of their parameters from the first input."""

from __future__ import annotations

from typing import Any, ClassVar

from ..._rushlight import Tensor, _DisableTorchFunctionSubclass, int64, tensor
from ...autograd.grad_mode import no_grad
from ..uninitialized import UninitializedBuffer, UninitializedParameter, is_lazy
from ._shown import constructed_by_name
from .convolution import Conv1d, Conv2d, Conv3d, ConvTranspose1d, ConvTranspose2d, ConvTranspose3d
from .layers import Linear
from .module import Module
from .normalised import (
    BatchNorm1d,
    BatchNorm2d,
    BatchNorm3d,
    InstanceNorm1d,
    InstanceNorm2d,
    InstanceNorm3d,
)

__all__ = [
    "LazyBatchNorm1d",
    "LazyBatchNorm2d",
    "LazyBatchNorm3d",
    "LazyConv1d",
    "LazyConv2d",
    "LazyConv3d",
    "LazyConvTranspose1d",
    "LazyConvTranspose2d",
    "LazyConvTranspose3d",
    "LazyInstanceNorm1d",
    "LazyInstanceNorm2d",
    "LazyInstanceNorm3d",
    "LazyLinear",
]


class LazyModuleMixin(Module):
    """What asks for sizes at the first call, and then becomes another class."""

    cls_to_become: ClassVar[type[Module] | None] = None

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(self._infer_parameters, with_kwargs=True)

    def _own(self) -> list[Any]:
        return [*self._parameters.values(), *self._buffers.values()]

    def has_uninitialized_params(self) -> bool:
        """Return whether there are tensors without a shape."""
        return any(is_lazy(own) for own in self._own())

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give the tensors their shapes; every lazy module says how."""
        raise NotImplementedError(f"initialize_parameters is not implemented for {type(self).__name__}")

    def reset_parameters(self) -> None:
        """Draw the parameters anew, once there are any."""
        if not self.has_uninitialized_params() and self._is_sized():
            super().reset_parameters()  # type: ignore[misc]

    def _is_sized(self) -> bool:
        raise NotImplementedError

    def _save_to_state_dict(self, destination: dict[str, Any], prefix: str, keep_vars: bool) -> None:
        # What has no shape refuses to be detached.
        with _DisableTorchFunctionSubclass():
            super()._save_to_state_dict(destination, prefix, keep_vars)
        destination.update((prefix + name, own) for name, own in self._own_state() if is_lazy(own))

    def _lazy_load_hook(self, state_dict: dict[str, Any], prefix: str, *rest: Any) -> None:
        with no_grad():
            for name, own in {**self._parameters, **self._buffers}.items():
                found = state_dict.get(prefix + name)
                if is_lazy(own) and found is not None and not is_lazy(found):
                    own.materialize(found.shape)  # type: ignore[union-attr]

    def _infer_parameters(self, module: Any, args: Any, kwargs: Any = None) -> None:
        """Give a module its sizes, and make it what it stands for."""
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        for name in ("_initialize_hook", "_load_hook"):
            getattr(module, name).remove()
            delattr(module, name)
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become

    def _load_one(self, name: str, tensor: Tensor, key: str, found: Any, metadata: dict[str, Any]) -> str:
        if is_lazy(tensor) and is_lazy(found):
            return ""  # There is nothing to copy yet.
        return super()._load_one(name, tensor, key, found, metadata)


class LazyLinear(LazyModuleMixin, Linear):
    """A linear layer that learns `in_features` from the first input.

    >>> import rushlight as torch
    >>> layer = torch.nn.LazyLinear(2)
    >>> layer(torch.zeros(5, 3)).shape, layer
    (torch.Size([5, 2]), Linear(in_features=3, out_features=2, bias=True))
    """

    cls_to_become = Linear
    weight: Any
    bias: Any

    def __init__(self, out_features: int, bias: bool = True, device: Any = None, dtype: Any = None) -> None:
        super().__init__(0, 0, False)
        self.weight = UninitializedParameter(device=device, dtype=dtype)
        self.out_features = out_features
        if bias:
            self.bias = UninitializedParameter(device=device, dtype=dtype)

    def _is_sized(self) -> bool:
        return self.in_features != 0

    def initialize_parameters(self, input: Tensor) -> None:
        """Learn `in_features`."""
        if self.has_uninitialized_params():
            with no_grad():
                self.in_features = input.shape[-1]
                self.weight.materialize((self.out_features, self.in_features))
                if self.bias is not None:
                    self.bias.materialize((self.out_features,))
                self.reset_parameters()
        elif self.in_features == 0:
            self.in_features = self.weight.shape[-1]


class _LazyConvXdMixin(LazyModuleMixin):
    spatial: ClassVar[int]
    transposed: bool
    in_channels: int
    out_channels: int
    groups: int
    kernel_size: tuple[int, ...]
    weight: Any
    bias: Any

    def _leave_open(self, out_channels: int, kernel_size: Any, bias: bool, **options: Any) -> None:
        super().__init__(0, 0, kernel_size, bias=False, **options)
        where = {name: options[name] for name in ("device", "dtype")}
        self.weight = UninitializedParameter(**where)
        self.out_channels = out_channels
        if bias:
            self.bias = UninitializedParameter(**where)

    def _is_sized(self) -> bool:
        return self.in_channels != 0

    def initialize_parameters(self, input: Tensor, *args: Any, **kwargs: Any) -> None:
        """Learn `in_channels`."""
        if not self.has_uninitialized_params():
            return
        single, batched = self.spatial + 1, self.spatial + 2
        if input.dim() not in (single, batched):
            raise RuntimeError(
                f"Expected {single}D (unbatched) or {batched}D (batched) input to {type(self).__name__}, "
                f"but got input of size: {input.shape}"
            )
        self.in_channels = input.shape[1] if input.dim() == batched else input.shape[0]
        if self.in_channels % self.groups != 0:
            raise ValueError("in_channels must be divisible by groups")
        sides = [self.out_channels, self.in_channels]
        first, second = reversed(sides) if self.transposed else sides
        self.weight.materialize((first, second // self.groups, *self.kernel_size))
        if self.bias is not None:
            self.bias.materialize((self.out_channels,))
        self.reset_parameters()


class _LazyPlain(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
        groups: int = 1,
        bias: bool = True,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._leave_open(
            out_channels,
            kernel_size,
            bias,
            stride=stride,
            padding=padding,
            dilation=dilation,
            groups=groups,
            padding_mode=padding_mode,
            device=device,
            dtype=dtype,
        )


class _LazyTransposed(_LazyConvXdMixin):
    def __init__(
        self,
        out_channels: int,
        kernel_size: Any,
        stride: Any = 1,
        padding: Any = 0,
        output_padding: Any = 0,
        groups: int = 1,
        bias: bool = True,
        dilation: Any = 1,
        padding_mode: str = "zeros",
        device: Any = None,
        dtype: Any = None,
    ) -> None:
        self._leave_open(
            out_channels,
            kernel_size,
            bias,
            stride=stride,
            padding=padding,
            output_padding=output_padding,
            dilation=dilation,
            groups=groups,
            padding_mode=padding_mode,
            device=device,
            dtype=dtype,
        )


class _LazyNormBase(LazyModuleMixin):
    num_features: int
    weight: Any
    bias: Any
    running_mean: Any
    running_var: Any

    def __init__(
        self,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        device: Any = None,
        dtype: Any = None,
        *,
        bias: bool = True,
    ) -> None:
        super().__init__(0, eps, momentum, False, False)
        options = {"device": device, "dtype": dtype}
        self.affine = affine
        self.track_running_stats = track_running_stats
        if affine:
            self.weight = UninitializedParameter(**options)
            if bias:
                self.bias = UninitializedParameter(**options)
        if track_running_stats:
            self.running_mean = UninitializedBuffer(**options)
            self.running_var = UninitializedBuffer(**options)
            self.num_batches_tracked = tensor(0, dtype=int64)

    def _is_sized(self) -> bool:
        return self.num_features != 0

    def initialize_parameters(self, input: Tensor) -> None:
        """Learn `num_features`."""
        if self.has_uninitialized_params():
            self.num_features = input.shape[self._channels(input)]
            for own in self._own():
                if is_lazy(own):
                    own.materialize((self.num_features,))
            self.reset_parameters()

    def _channels(self, input: Tensor) -> int:
        return 1


class _LazyInstanceNorm(_LazyNormBase):
    ranks: ClassVar[Any]

    def _channels(self, input: Tensor) -> int:
        # A sample that is not in a batch has its channels in front.
        return 0 if input.dim() == min(self.ranks) else 1


@constructed_by_name
class LazyConv1d(_LazyPlain, Conv1d):
    """`Conv1d` that learns `in_channels` from the first input."""

    cls_to_become = Conv1d


@constructed_by_name
class LazyConv2d(_LazyPlain, Conv2d):
    """`Conv2d` that learns `in_channels` from the first input."""

    cls_to_become = Conv2d


@constructed_by_name
class LazyConv3d(_LazyPlain, Conv3d):
    """`Conv3d` that learns `in_channels` from the first input."""

    cls_to_become = Conv3d


@constructed_by_name
class LazyConvTranspose1d(_LazyTransposed, ConvTranspose1d):
    """`ConvTranspose1d` that learns `in_channels` from the first input."""

    cls_to_become = ConvTranspose1d


@constructed_by_name
class LazyConvTranspose2d(_LazyTransposed, ConvTranspose2d):
    """`ConvTranspose2d` that learns `in_channels` from the first input."""

    cls_to_become = ConvTranspose2d


@constructed_by_name
class LazyConvTranspose3d(_LazyTransposed, ConvTranspose3d):
    """`ConvTranspose3d` that learns `in_channels` from the first input."""

    cls_to_become = ConvTranspose3d


class LazyBatchNorm1d(_LazyNormBase, BatchNorm1d):
    """`BatchNorm1d` that learns `num_features` from the first input."""

    cls_to_become = BatchNorm1d


class LazyBatchNorm2d(_LazyNormBase, BatchNorm2d):
    """`BatchNorm2d` that learns `num_features` from the first input."""

    cls_to_become = BatchNorm2d


class LazyBatchNorm3d(_LazyNormBase, BatchNorm3d):
    """`BatchNorm3d` that learns `num_features` from the first input."""

    cls_to_become = BatchNorm3d


class LazyInstanceNorm1d(_LazyInstanceNorm, InstanceNorm1d):
    """`InstanceNorm1d` that learns `num_features` from the first input."""

    cls_to_become = InstanceNorm1d


class LazyInstanceNorm2d(_LazyInstanceNorm, InstanceNorm2d):
    """`InstanceNorm2d` that learns `num_features` from the first input."""

    cls_to_become = InstanceNorm2d


class LazyInstanceNorm3d(_LazyInstanceNorm, InstanceNorm3d):
    """`InstanceNorm3d` that learns `num_features` from the first input."""

    cls_to_become = InstanceNorm3d

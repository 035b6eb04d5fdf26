"""Functions of neural networks as torch's compiled module has them."""

from __future__ import annotations

from typing import Any

from ... import _rushlight as native
from ..._rushlight import device as _device
from ...nn import functional as _functional
from ..absent_operators import operator as _operator

_NATIVE = (
    "adaptive_avg_pool2d adaptive_avg_pool3d avg_pool2d avg_pool3d gelu hardsigmoid hardtanh "
    "hardtanh_ leaky_relu leaky_relu_ linear log_sigmoid=logsigmoid mish softplus softshrink "
    "scaled_dot_product_attention silu one_hot relu6 elu elu_ glu pad "
    "cross_entropy_loss=cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss "
    "adaptive_max_pool2d=adaptive_max_pool2d_with_indices "
    "adaptive_max_pool3d=adaptive_max_pool3d_with_indices "
    "fractional_max_pool2d=fractional_max_pool2d_with_indices "
    "fractional_max_pool3d=fractional_max_pool3d_with_indices "
    "max_pool2d_with_indices max_pool3d_with_indices "
    "binary_cross_entropy col2im=fold im2col=unfold rrelu hardswish pixel_shuffle"
)

for _entry in _NATIVE.split():
    _shown, _, _real = _entry.partition("=")
    if hasattr(_functional, _real or _shown):
        globals()[_shown] = getattr(_functional, _real or _shown)


def _convolving(name: str, convolve: Any) -> Any:
    """Return the function of a way to compute convolutions: all have one result."""

    def function(
        self: Any,
        weight: Any,
        kernel_size: Any,
        bias: Any = None,
        stride: Any = 1,
        padding: Any = 0,
        dilation: Any = 1,
    ) -> Any:
        return convolve(self, weight, bias, stride, padding, dilation)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Convolve as `{convolve.__name__}` does."
    return function


for _name, _convolve in (
    ("thnn_conv2d", _functional.conv2d),
    ("slow_conv_dilated2d", _functional.conv2d),
    ("slow_conv3d", _functional.conv3d),
    ("slow_conv_dilated3d", _functional.conv3d),
):
    globals()[_name] = _convolving(_name, _convolve)


def _enlarging(name: str, mode: str, spatial: int) -> Any:
    """Return the function of a way to resample so many dimensions."""
    aligns = "nearest" not in mode

    def function(input: Any, output_size: Any, *rest: Any, **named: Any) -> Any:
        given = [*rest, *named.values()]
        align_corners = bool(given.pop(0)) if aligns else False
        if len(given) == 1 and isinstance(given[0], (list, tuple)):
            given = list(given[0])
        scales = given if len(given) == spatial and None not in given else None
        sizes = output_size
        if sizes is None:
            if scales is None:
                raise RuntimeError("Must specify exactly one of output_size and scale_factors")
            sizes = [int(size * scale) for size, scale in zip(input.shape[2:], scales, strict=True)]
        return native._nn.upsample(input, list(sizes), mode, align_corners, scales)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"Resample the last dimensions, in the mode {mode}."
    return function


for _name, _mode, _spatial in (
    *((f"upsample_nearest{dims}d", "nearest", dims) for dims in (1, 2, 3)),
    *((f"_upsample_nearest_exact{dims}d", "nearest-exact", dims) for dims in (1, 2, 3)),
    ("upsample_linear1d", "linear", 1),
    ("upsample_bilinear2d", "bilinear", 2),
    ("upsample_bicubic2d", "bicubic", 2),
    ("upsample_trilinear3d", "trilinear", 3),
    ("_upsample_bilinear2d_aa", "smooth bilinear", 2),
    ("_upsample_bicubic2d_aa", "smooth bicubic", 2),
):
    globals()[_name] = _enlarging(_name, _mode, _spatial)


def _parse_to(*args: Any, **kwargs: Any) -> tuple[Any, Any, bool, Any]:
    """Return what arguments of `Tensor.to` say: device, type, whether not to wait, and how it is to lie.

    >>> import rushlight as torch
    >>> torch._C._nn._parse_to("cpu", torch.float64)
    (device(type='cpu'), torch.float64, False, None)
    """
    from ...nn.modules._converting import _destination

    order = kwargs.pop("memory_format", None)
    native.empty(0).to(*args, **kwargs)
    device, dtype, non_blocking = _destination(*args, **kwargs)
    return None if device is None else _device(device), dtype, non_blocking, order


def __getattr__(name: str) -> Any:
    return _operator(name)

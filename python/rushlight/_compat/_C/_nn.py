"""Functions of neural networks as torch's compiled module has them."""

from __future__ import annotations

from typing import Any

from ... import _rushlight as native
from ..._rushlight import device as _device
from ...nn import functional as _functional

_NATIVE = (
    "adaptive_avg_pool2d adaptive_avg_pool3d avg_pool2d avg_pool3d gelu hardsigmoid hardtanh "
    "hardtanh_ leaky_relu leaky_relu_ linear log_sigmoid=logsigmoid mish softplus softshrink "
    "scaled_dot_product_attention silu one_hot relu6 elu elu_ glu pad "
    "cross_entropy_loss=cross_entropy nll_loss mse_loss l1_loss smooth_l1_loss huber_loss "
    "binary_cross_entropy col2im=fold im2col=unfold rrelu hardswish pixel_shuffle"
)

for _entry in _NATIVE.split():
    _shown, _, _real = _entry.partition("=")
    if hasattr(_functional, _real or _shown):
        globals()[_shown] = getattr(_functional, _real or _shown)


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

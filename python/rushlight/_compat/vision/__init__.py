"""Operators of torchvision, whose library of compiled ones is made for torch.

They are computed by operations that autograd follows, and those that torchvision calls for gradients
differentiate them. The ones for quantised tensors are declared, and refuse when they are called.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ...autograd import enable_grad
from ...autograd import grad as gradients
from ...library import Library
from ._boxes import nms
from ._deformed import deform_conv2d
from ._pools import ps_roi_align, ps_roi_pool, roi_pool, roi_pool_backward
from ._regions import roi_align

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["deform_conv2d", "nms", "ps_roi_align", "ps_roi_pool", "roi_align", "roi_pool"]

_REGION = "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
_GRADIENT = (
    "Tensor grad, Tensor rois, {}float spatial_scale, int pooled_height, int pooled_width, {}int batch_size, "
    "int channels, int height, int width{}"
)
_WINDOW = (
    "int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, "
    "int offset_groups, bool use_mask"
)


def _align_back(grad: Tensor, rois: Tensor, scale: float, height: int, width: int, *rest: Any) -> Tensor:
    *size, ratio, aligned = rest
    return _of_image(lambda x: roi_align(x, rois, scale, height, width, ratio, aligned), size, grad)


def _pool_back(grad: Tensor, rois: Tensor, argmax: Tensor, *rest: Any) -> Tensor:
    return roi_pool_backward(grad, rois, argmax, rest[-4:])


def _ps_align_back(grad: Tensor, rois: Tensor, channels: Tensor, scale: float, *rest: Any) -> Tensor:
    height, width, ratio, *size = rest
    return _of_image(lambda x: ps_roi_align(x, rois, scale, height, width, ratio)[0], size, grad)


def _ps_pool_back(grad: Tensor, rois: Tensor, channels: Tensor, scale: float, *rest: Any) -> Tensor:
    height, width, *size = rest
    return _of_image(lambda x: ps_roi_pool(x, rois, scale, height, width)[0], size, grad)


def _of_image(function: Callable[[Tensor], Tensor], size: list[int], grad: Tensor) -> Tensor:
    """Return the gradient of the images, in which the function is linear."""
    with enable_grad():
        images = grad.new_zeros(size).requires_grad_()
        (found,) = gradients(function(images), [images], grad)
        return found  # type: ignore[return-value]


def _deformed_back(grad: Tensor, *arguments: Any) -> tuple[Tensor, ...]:
    with enable_grad():
        tensors = [tensor.detach().requires_grad_() for tensor in arguments[:5]]
        result = deform_conv2d(*tensors, *arguments[5:])
        found = gradients(result, tensors, grad, allow_unused=True, materialize_grads=True)
        return tuple(found)


_COMPUTED = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": nms,
    f"roi_align({_REGION}, int sampling_ratio, bool aligned) -> Tensor": roi_align,
    f"roi_pool({_REGION}) -> (Tensor, Tensor)": roi_pool,
    f"ps_roi_pool({_REGION}) -> (Tensor, Tensor)": ps_roi_pool,
    f"ps_roi_align({_REGION}, int sampling_ratio) -> (Tensor, Tensor)": ps_roi_align,
    f"deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, {_WINDOW}) -> "
    "Tensor": deform_conv2d,
    f"_roi_align_backward({_GRADIENT.format('', '', ', int sampling_ratio, bool aligned')}) -> "
    "Tensor": _align_back,
    f"_roi_pool_backward({_GRADIENT.format('Tensor argmax, ', '', '')}) -> Tensor": _pool_back,
    f"_ps_roi_align_backward({_GRADIENT.format('Tensor channel_mapping, ', 'int sampling_ratio, ', '')}) "
    "-> Tensor": _ps_align_back,
    f"_ps_roi_pool_backward({_GRADIENT.format('Tensor channel_mapping, ', '', '')}) -> Tensor": _ps_pool_back,
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor "
    f"bias, {_WINDOW}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)": _deformed_back,
    "_cuda_version() -> int": lambda: -1,
}
_DECLARED = (
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"qroi_align({_REGION}, int sampling_ratio, bool aligned) -> Tensor",
)


def _refusing(name: str) -> Any:
    def refuse(*args: Any) -> Any:
        raise NotImplementedError(f"torchvision::{name} is compiled for torch, and not computed here")

    return refuse


_library = Library("torchvision", "DEF")
for _schema, _function in _COMPUTED.items():
    _library.impl(_library.define(_schema), _function, "CPU")  # type: ignore[arg-type]
for _schema in _DECLARED:
    _name = _library.define(_schema)
    _library.impl(_name, _refusing(_name), "CPU")

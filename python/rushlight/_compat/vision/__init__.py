"""Operators of torchvision, whose library of compiled ones is made for torch.

Non-maximum suppression and aligned regions are computed; the others are declared, and refuse when they are
called.
"""

from __future__ import annotations

from typing import Any

from ...library import Library
from ._boxes import nms
from ._regions import roi_align

__all__ = ["nms", "roi_align"]

_REGION = "Tensor input, Tensor rois, float spatial_scale, int pooled_height, int pooled_width"
_GRADIENT = (
    "Tensor grad, Tensor rois, {}float spatial_scale, int pooled_height, int pooled_width, {}int batch_size, "
    "int channels, int height, int width{}"
)
_WINDOW = (
    "int stride_h, int stride_w, int pad_h, int pad_w, int dilation_h, int dilation_w, int groups, "
    "int offset_groups, bool use_mask"
)
_COMPUTED = {
    "nms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor": nms,
    f"roi_align({_REGION}, int sampling_ratio, bool aligned) -> Tensor": roi_align,
    "_cuda_version() -> int": lambda: -1,
}
_DECLARED = (
    "qnms(Tensor dets, Tensor scores, float iou_threshold) -> Tensor",
    f"qroi_align({_REGION}, int sampling_ratio, bool aligned) -> Tensor",
    f"roi_pool({_REGION}) -> (Tensor, Tensor)",
    f"ps_roi_pool({_REGION}) -> (Tensor, Tensor)",
    f"ps_roi_align({_REGION}, int sampling_ratio) -> (Tensor, Tensor)",
    f"_roi_align_backward({_GRADIENT.format('', '', ', int sampling_ratio, bool aligned')}) -> Tensor",
    f"_roi_pool_backward({_GRADIENT.format('Tensor argmax, ', '', '')}) -> Tensor",
    f"_ps_roi_pool_backward({_GRADIENT.format('Tensor channel_mapping, ', '', '')}) -> Tensor",
    f"_ps_roi_align_backward({_GRADIENT.format('Tensor channel_mapping, ', 'int sampling_ratio, ', '')}) "
    f"-> Tensor",
    f"deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, {_WINDOW}) -> "
    f"Tensor",
    "_deform_conv2d_backward(Tensor grad, Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor "
    f"bias, {_WINDOW}) -> (Tensor, Tensor, Tensor, Tensor, Tensor)",
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

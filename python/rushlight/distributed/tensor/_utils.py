"""Where the part of a process lies in a tensor: no tensor has such parts."""

from __future__ import annotations

from ..._devices.absent import refusing

__all__: list[str] = []

refusing(
    globals(),
    "compute_local_shape_and_global_offset compute_global_tensor_info",
    NotImplementedError,
    "torch.distributed.tensor: there are no tensors here whose parts lie in several processes",
)

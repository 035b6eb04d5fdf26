"""Where `distributed.tensor` was found once."""

from __future__ import annotations

from ..._devices.absent import refusing
from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases

__all__: list[str] = []

__getattr__, __dir__ = on_first_use(
    globals(), places={"..tensor": "DTensor Partial Placement Replicate Shard distribute_tensor"}
)
refusing(
    globals(),
    "implicit_replication",
    NotImplementedError,
    "torch.distributed.tensor: there are no tensors here whose parts lie in several processes",
)
add_module_aliases(
    globals(),
    {
        "device_mesh": {"..device_mesh": "DeviceMesh init_device_mesh"},
        "experimental": {".": "implicit_replication"},
    },
)

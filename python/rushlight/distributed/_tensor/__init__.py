"""Where `distributed.tensor` was found once."""

from __future__ import annotations

from ..._devices.absent import refusing
from ..._lazy import on_first_use
from ..._places import open_places

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
open_places(globals(), {"experimental": {".": "implicit_replication"}})

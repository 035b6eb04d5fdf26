"""Where modules that are spread over processes were found once."""

from __future__ import annotations

from ..._places import open_places

__all__: list[str] = []

open_places(
    globals(),
    {
        "fsdp": {
            "..fsdp": "CPUOffloadPolicy FSDPModule MixedPrecisionPolicy OffloadPolicy fully_shard "
            "register_fsdp_forward_method"
        },
        "replicate": {"..fsdp": "replicate=fully_shard"},
    },
)

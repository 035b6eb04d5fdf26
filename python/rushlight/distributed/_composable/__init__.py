"""Where modules that are spread over processes were found once."""

from __future__ import annotations

from ..._module_aliases import add_module_aliases

__all__: list[str] = []

add_module_aliases(
    globals(),
    {
        "fsdp": {
            "..fsdp": "CPUOffloadPolicy FSDPModule MixedPrecisionPolicy OffloadPolicy fully_shard "
            "register_fsdp_forward_method"
        },
        "replicate": {"..fsdp": "replicate=fully_shard"},
    },
)

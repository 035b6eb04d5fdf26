"""Models on several devices: there is one, so that models run as they are. Processes that train together."""

from typing import TYPE_CHECKING

from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases
from .data_parallel import DataParallel, data_parallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter
from .scatter_gather import scatter_kwargs as scatter_kwargs

if TYPE_CHECKING:
    from .distributed import DistributedDataParallel as DistributedDataParallel

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

add_module_aliases(
    globals(),
    {
        "_functions": {"._transfers": "Broadcast Gather ReduceAddCoalesced Scatter"},
        "comm": {
            "._transfers": "broadcast broadcast_coalesced gather reduce_add reduce_add_coalesced scatter"
        },
    },
)

# Programs of one process need nothing of what connects several.
__getattr__, __dir__ = on_first_use(
    globals(), rooms={"distributed"}, places={".distributed": "DistributedDataParallel"}
)

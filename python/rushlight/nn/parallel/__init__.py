"""Models on several devices: there is one, so that models run as they are."""

from ..._places import open_places
from .data_parallel import DataParallel, data_parallel
from .distributed import DistributedDataParallel
from .parallel_apply import parallel_apply
from .replicate import replicate
from .scatter_gather import gather, scatter
from .scatter_gather import scatter_kwargs as scatter_kwargs

__all__ = [
    "DataParallel",
    "DistributedDataParallel",
    "data_parallel",
    "gather",
    "parallel_apply",
    "replicate",
    "scatter",
]

open_places(
    globals(),
    {
        "_functions": {"._transfers": "Broadcast Gather ReduceAddCoalesced Scatter"},
        "comm": {"._transfers": "broadcast gather reduce_add scatter"},
    },
)

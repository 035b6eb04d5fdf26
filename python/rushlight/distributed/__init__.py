"""Several processes that compute together, on one machine or on many.

They reach each other by sockets (`"gloo"`) or by MPI (`"mpi"`). What is not asked for is not loaded.

>>> import rushlight as torch
>>> torch.distributed.is_available(), torch.distributed.is_initialized()
(True, False)
"""

from __future__ import annotations

import sys

from .._lazy import on_first_use
from .._module_aliases import add_module_aliases

_NAMES = {
    "._backend": "Backend is_backend_available is_gloo_available is_mpi_available is_nccl_available "
    "is_ucc_available is_xccl_available",
    "._collectives": "all_gather all_gather_coalesced all_gather_into_tensor all_gather_single all_reduce "
    "all_reduce_coalesced all_to_all all_to_all_single barrier broadcast gather monitored_barrier reduce "
    "reduce_scatter reduce_scatter_single reduce_scatter_tensor scatter",
    "._errors": "DistBackendError DistError DistNetworkError DistStoreError QueueEmptyError",
    "._messages_between": "P2POp batch_isend_irecv irecv isend recv send",
    "._objects": "all_gather_object broadcast_object_list gather_object recv_object_list scatter_object_list "
    "send_object_list",
    "._process_group": "ProcessGroup",
    "._reduce_op": "ReduceOp reduce_op supports_complex",
    "._stores": "FileStore HashStore PrefixStore Store default_pg_timeout",
    "._tcp_store": "TCPStore",
    "._work": "Work",
    ".device_mesh": "DeviceMesh init_device_mesh",
    "..nn.parallel._reducer": "GradBucket",
    "._world": "GroupMember destroy_process_group get_backend get_backend_config "
    "get_default_backend_for_device get_global_rank get_group_rank get_node_local_rank get_pg_count "
    "get_process_group_ranks get_rank get_world_size group init_process_group is_torchelastic_launched "
    "new_group new_subgroups new_subgroups_by_enumeration",
}

__all__ = ["is_available", "is_initialized", *sorted(" ".join(_NAMES.values()).split())]


def is_available() -> bool:
    """Tell whether processes can compute together: always."""
    return True


def is_initialized() -> bool:
    """Tell whether this process has joined others."""
    # Libraries ask this before anything: what is not loaded has not been called.
    world = sys.modules.get(f"{__name__}._world")
    return world is not None and bool(world.is_initialized())


add_module_aliases(
    globals(),
    {
        "distributed_c10d": _NAMES
        | {
            ".": "is_initialized",
            "._stores": _NAMES["._stores"] + " default_pg_timeout",
            "._world": _NAMES["._world"]
            + " _get_default_group=default_group _get_default_store=default_store "
            "_get_global_rank=former_global_rank _rank_not_in_group=is_outside _world=world",
        },
    },
)

__getattr__, __dir__ = on_first_use(
    globals(),
    rooms={
        "algorithms",
        "constants",
        "device_mesh",
        "elastic",
        "fsdp",
        "launch",
        "optim",
        "rendezvous",
        "rpc",
        "run",
        "tensor",
        "utils",
    },
    places={**_NAMES, ".distributed_c10d": "_rank_not_in_group"},
)

"""The groups that this process is in, and who it is in them."""

from __future__ import annotations

import os
import warnings
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from . import _failing, _mpi
from ._alone import Alone
from ._backend import Backend, for_processors
from ._process_group import ProcessGroup
from ._stores import HashStore, PrefixStore, Store, default_pg_timeout
from .rendezvous import rendezvous

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._transport import Transport

__all__ = ["GroupMember", "group"]


class _World:
    """What there is of groups."""

    def __init__(self) -> None:
        self.default: ProcessGroup | None = None
        self.groups: list[ProcessGroup] = []
        self.count = 0

    def next_name(self) -> str:
        self.count += 1
        return str(self.count - 1)


world = _World()


class _HasWorld(type):
    @property
    def WORLD(cls) -> ProcessGroup | None:
        """The group of all processes."""
        return world.default


class group(metaclass=_HasWorld):
    """Where programs find the group of all processes, as `group.WORLD`."""


class GroupMember(metaclass=_HasWorld):
    """What stands for a group that this process is not in."""

    NON_GROUP_MEMBER = -100


def is_initialized() -> bool:
    """Tell whether `init_process_group` has been called."""
    return world.default is not None


def default_group() -> ProcessGroup:
    """Return the group of all processes."""
    if world.default is None:
        raise ValueError(
            "Default process group has not been initialized, please make sure to call init_process_group."
        )
    return world.default


def default_store() -> Store:
    """Return the store by which processes found each other."""
    return default_group().store


def is_outside(group: Any) -> bool:
    """Tell whether this process is not in a group."""
    return group is not None and group == GroupMember.NON_GROUP_MEMBER


def check_timeout(timeout: Any) -> timedelta:
    """Return a time that operations may take, which has to be one."""
    if timeout is None:
        return default_pg_timeout
    if not isinstance(timeout, timedelta):
        raise TypeError(f"Expected timeout argument to be of type datetime.timedelta, got {timeout}")
    return timeout


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:
    """Join the other processes; it returns when all have.

    Without a backend they reach each other by MPI if `mpiexec` has started them, and by sockets otherwise.

    >>> import rushlight as torch
    >>> store = torch.distributed.HashStore()
    >>> torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    >>> torch.distributed.get_world_size()
    1
    >>> torch.distributed.destroy_process_group()
    """
    if world.default is not None:
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise AssertionError("Cannot specify both init_method and store.")
    if store is not None and world_size <= 0:
        raise AssertionError("world_size must be positive if using store")
    if store is not None and rank < 0:
        raise AssertionError("rank must be non-negative if using store")
    said = Backend(backend or Backend.UNDEFINED)
    name = for_processors(said)
    limit = check_timeout(timeout)
    if said == Backend.UNDEFINED and (store is not None or init_method or "RANK" in os.environ):
        name = Backend.GLOO
    if name == Backend.MPI:
        if world_size != -1 or rank != -1:
            warnings.warn(
                f"For MPI backend, world_size ({world_size}) and rank ({rank}) are ignored since they are "
                "assigned by the MPI runtime.",
                stacklevel=2,
            )
        way: Transport = _mpi.world()
        store = HashStore()
    else:
        _check_known(name)
        if store is None:
            store, rank, world_size = next(
                rendezvous(init_method or "env://", rank, world_size, timeout=limit)
            )
            store.set_timeout(limit)
        store = PrefixStore("default_pg", store)
        way = _by_sockets(store, rank, world_size, limit)
    world.count = 0
    made = ProcessGroup(
        way,
        range(way.size),
        backend=said if said != Backend.UNDEFINED else name,
        store=store,
        name=world.next_name(),
        description="default_pg",
        timeout=limit,
    )
    world.default = made
    world.groups.append(made)
    _failing.watch(made)


def _check_known(name: str) -> None:
    if name == Backend.NCCL:
        raise ValueError("ProcessGroupNCCL is only supported with GPUs, no GPUs found!")
    if name in (Backend.UCC, Backend.XCCL, Backend.FAKE):
        raise RuntimeError(f"Distributed package doesn't have {name.upper()} built in")
    if name != Backend.GLOO:
        raise AssertionError(f"Unknown backend type {name}")


def _by_sockets(store: Store, rank: int, size: int, timeout: timedelta) -> Transport:
    if not 0 <= rank < size:
        raise ValueError(f"rank {rank} is none of {size} processes")
    if size == 1:
        return Alone()
    from ._sockets import Mesh, Sockets

    # A store that outlives a world may see another: its connections are not those of the first.
    era = (store.add("worlds", 1) - 1) // size
    mesh = Mesh(PrefixStore(str(era), store), rank, size, timeout.total_seconds())
    return Sockets(mesh, "world", range(size))


def destroy_process_group(group: ProcessGroup | None = None) -> None:
    """Leave a group, or all of them."""
    if is_outside(group):
        return
    found = world.default if group is None else group
    if found is None:
        raise AssertionError("Process group cannot be None")
    if found not in world.groups:
        raise ValueError("Invalid process group specified")
    if found is not world.default:
        found.shutdown()
        world.groups.remove(found)
        return
    for one in world.groups:
        one.shutdown()
    found.close()
    world.groups.clear()
    world.default = None
    _failing.look_away()


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Return a group of some of the processes; all have to call this, in the same order.

    Who is not in it gets `GroupMember.NON_GROUP_MEMBER`.
    """
    whole = default_group()
    limit = check_timeout(timeout)
    if backend is not None and for_processors(Backend(backend)) != for_processors(Backend(whole.backend)):
        _check_known(for_processors(Backend(backend)))
        raise RuntimeError(
            f"groups reach each other as the world does, by {whole.backend}: backend {backend!r} is another"
        )
    if use_local_synchronization:
        if whole.backend == Backend.MPI:
            raise ValueError("MPI backend doesn't support use_local_synchronization=True")
        if ranks is not None and whole.rank() not in ranks:
            return None
    members = list(range(whole.size())) if ranks is None else _checked(ranks, whole.size(), sort_ranks)
    if use_local_synchronization:
        # Others do not count this group: its name is who is in it.
        name = "ranks " + " ".join(map(str, members))
    else:
        name = world.next_name()
    if whole.rank() not in members:
        return GroupMember.NON_GROUP_MEMBER
    made = whole.part(
        members,
        name=name,
        description=group_desc or "undefined",
        timeout=limit,
        store=PrefixStore(f"{name}/", whole.store),
    )
    world.groups.append(made)
    return made


def _checked(ranks: Sequence[int], size: int, sort: bool) -> list[int]:
    members = sorted(ranks) if sort else list(ranks)
    if len(set(members)) != len(members):
        raise ValueError(f"ranks list must not contain duplicate entries, got {members}")
    if len(members) > size:
        raise ValueError(
            "the new group's world size should be less or equal to the world size set by init_process_group"
        )
    for rank in members:
        if not 0 <= rank < size:
            raise ValueError(
                f"Rank {rank} is out of range. Valid ranks are 0 to {size - 1} (world_size={size})"
            )
    return members


def new_subgroups(
    group_size: int | None = None,
    group: ProcessGroup | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Divide a group into groups of one size; return the one of this process, and all."""
    if group_size is None:
        raise ValueError(
            "Default group size only takes effect when CUDA is available.If your subgroup using a backend "
            "that does not depend on CUDA,please pass in 'group_size' correctly."
        )
    if group_size <= 0:
        raise ValueError(f"The arg 'group_size' ({group_size}) must be positive")
    size = get_world_size(group)
    if size < group_size:
        raise ValueError(f"The arg 'group_size' ({group_size}) must not exceed the world size ({size})")
    if size % group_size:
        raise ValueError(f"The world size ({size}) must be divisible by 'group_size={group_size!r}'")
    ranks = get_process_group_ranks(group)
    parts = [ranks[start : start + group_size] for start in range(0, len(ranks), group_size)]
    return new_subgroups_by_enumeration(parts, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Make a group of each list of ranks; return the one of this process, and all."""
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    mine, made = None, []
    seen: dict[int, Any] = {}
    for ranks in ranks_per_subgroup_list:
        for rank in ranks:
            if rank in seen:
                raise ValueError(f"Rank {rank} has appeared in both subgroup {seen[rank]} and {ranks}")
            seen[rank] = ranks
        made.append(new_group(ranks, timeout, backend, pg_options, group_desc=group_desc))
        if get_rank() in ranks:
            mine = made[-1]
    return mine, made


def get_rank(group: ProcessGroup | None = None) -> int:
    """Return the rank of this process in a group, or -1 if it is not in it."""
    if is_outside(group):
        return -1
    return default_group().rank() if group is None else group.rank()


def get_world_size(group: ProcessGroup | None = None) -> int:
    """Return how many processes are in a group, or -1 if this one is not in it."""
    if is_outside(group):
        return -1
    return default_group().size() if group is None else group.size()


def get_process_group_ranks(group: ProcessGroup | None) -> list[int]:
    """Return the ranks in the world of those who are in a group."""
    return list((group or default_group()).global_ranks)


def _registered(group: Any) -> ProcessGroup:
    if not isinstance(group, ProcessGroup) or group not in world.groups:
        raise ValueError(
            f"Group {group} is not registered, please create group with torch.distributed.new_group API"
        )
    return group


def get_group_rank(group: ProcessGroup, global_rank: int) -> int:
    """Return the rank in a group of who has this rank in the world."""
    if group is world.default:
        return global_rank
    ranks = _registered(group).global_ranks
    if global_rank not in ranks:
        raise ValueError(f"Global rank {global_rank} is not part of group {group}")
    return ranks.index(global_rank)


def get_global_rank(group: ProcessGroup, group_rank: int) -> int:
    """Return the rank in the world of who has this rank in a group."""
    if group is world.default:
        return group_rank
    ranks = _registered(group).global_ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group {group}")
    return ranks[group_rank]


def former_global_rank(group: ProcessGroup, rank: int) -> int:
    """Return the same, by the name that libraries still ask for."""
    warnings.warn(
        "`torch.distributed.distributed_c10d._get_global_rank` is deprecated, please use "
        "`torch.distributed.distributed_c10d.get_global_rank` instead",
        FutureWarning,
        stacklevel=2,
    )
    return get_global_rank(group, rank)


def get_backend(group: ProcessGroup | None = None) -> str:
    """Return what the processes of a group reach each other by."""
    found = group or default_group()
    if is_outside(found):
        raise ValueError("Invalid process group specified")
    return found.backend


def get_backend_config(group: ProcessGroup | None = None) -> str:
    """Return by which devices processes reach each other, and by what."""
    name = get_backend(group)
    return name if ":" in name else f"cpu:{name},cuda:{name}"


def get_default_backend_for_device(device: Any) -> str:
    """Return what processes would reach each other by for tensors of a device."""
    kind = str(getattr(device, "type", device)).partition(":")[0]
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[kind]


def get_pg_count() -> int:
    """Return how many groups have been made."""
    return world.count


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return which of the processes of its machine this is, as `run` has said."""
    if "LOCAL_RANK" in os.environ:
        return int(os.environ["LOCAL_RANK"])
    if fallback_rank is not None:
        return int(fallback_rank)
    raise RuntimeError(
        "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
        "`get_node_local_rank` to work, assuming you are not running in a multi-device context and want the "
        "code to run locally instead."
    )


def is_torchelastic_launched() -> bool:
    """Tell whether `run` has started this process."""
    return "TORCHELASTIC_RUN_ID" in os.environ

"""`ZeroRedundancyOptimizer`: each process keeps the state of some parameters, and updates them for all."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, empty, zeros
from ..._tensors.typename import typename
from ...autograd.grad_mode import no_grad
from ...optim.optimizer import Optimizer
from .._objects import broadcast_object_list
from .._world import default_group, get_global_rank
from ..algorithms.join import Join, Joinable, JoinHook

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._process_group import ProcessGroup

__all__ = ["ZeroRedundancyOptimizer"]


class ZeroRedundancyOptimizer(Optimizer, Joinable):
    """An optimiser that updates some parameters, and gets the others from the processes that update those.

    `optimizer_class` is made for the parameters of this process alone, so that its state is only as large.
    """

    def __init__(
        self,
        params: Any,
        optimizer_class: type[Optimizer],
        process_group: ProcessGroup | None = None,
        parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False,
        **defaults: Any,
    ) -> None:
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer takes no overlap_with_ddp here")
        given = _checked(params)
        self.initialized = False
        Optimizer.__init__(self, given, defaults)
        Joinable.__init__(self)
        self.process_group = process_group if process_group is not None else default_group()
        self.world_size, self.rank = self.process_group.size(), self.process_group.rank()
        self.global_rank = get_global_rank(self.process_group, self.rank)
        self.parameters_as_bucket_view = parameters_as_bucket_view
        self._optim_defaults = defaults
        self._shares: list[list[dict[str, Any]]] = []
        self._share_out()
        self.optim = optimizer_class(self._shares[self.rank], **defaults)
        self._copy_options(self.optim.param_groups, self.param_groups)
        self._buckets: list[Tensor] = []
        self._join_memory()
        self._all_state_dicts: list[dict[str, Any]] = []
        self.initialized = True

    def _share_out(self) -> None:
        """Give each process parameters, the largest first, to whoever has least."""
        sizes = [0] * self.world_size
        self._shares = [[] for _ in range(self.world_size)]
        self._owner: dict[Tensor, int] = {}
        for group in self.param_groups:
            parts: list[list[Tensor]] = [[] for _ in range(self.world_size)]
            for parameter in sorted(group["params"], key=lambda one: one.numel(), reverse=True):
                rank = sizes.index(min(sizes))
                parts[rank].append(parameter)
                sizes[rank] += parameter.numel()
                self._owner[parameter] = rank
            for share, part in zip(self._shares, parts, strict=True):
                share.append({**group, "params": part})

    def _join_memory(self) -> None:
        """Put the parameters of each process into one memory, so that they travel at once."""
        if not self.parameters_as_bucket_view:
            return
        self._buckets.clear()
        for share in self._shares:
            by_type: dict[Any, list[Tensor]] = {}
            for group in share:
                for parameter in group["params"]:
                    by_type.setdefault(parameter.dtype, []).append(parameter)
            for dtype, parameters in by_type.items():
                bucket = empty(sum(one.numel() for one in parameters), dtype=dtype)
                parts = bucket.split([one.numel() for one in parameters])
                for one, part in zip(parameters, parts, strict=True):
                    part.copy_(one.data.reshape(-1))
                    one.data = part.view(one.shape)
                self._buckets.append(bucket)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add parameters."""
        super().add_param_group(param_group)
        if self.initialized:
            self._share_out()
            self.optim.add_param_group(self._shares[self.rank][-1])
            self._join_memory()

    def step(self, closure: Callable[[], float] | None = None, **kwargs: Any) -> float | None:
        """Update the parameters of this process, and get the others."""
        Join.notify_join_context(self)
        self._copy_options(self.param_groups, self.optim.param_groups)
        loss: float | None = (
            self.optim.step(**kwargs) if closure is None else self.optim.step(closure=closure, **kwargs)
        )
        self._copy_options(self.optim.param_groups, self.param_groups)
        self._sync_params()
        return loss

    def _sync_params(self) -> None:
        group = self.process_group
        if self.parameters_as_bucket_view:
            ranks = [self._owner_of_bucket(bucket) for bucket in self._buckets]
            works = [
                group.broadcast([bucket], rank) for bucket, rank in zip(self._buckets, ranks, strict=True)
            ]
        else:
            works = [
                group.broadcast([parameter], rank)
                for rank, share in enumerate(self._shares)
                for part in share
                for parameter in part["params"]
            ]
        for work in works:
            work.wait()

    def _owner_of_bucket(self, bucket: Tensor) -> int:
        begin = bucket.data_ptr()
        end = begin + bucket.numel() * bucket.itemsize
        return next(rank for one, rank in self._owner.items() if begin <= one.data_ptr() < end)

    @staticmethod
    def _copy_options(source: list[dict[str, Any]], target: list[dict[str, Any]]) -> None:
        if len(source) != len(target):
            raise AssertionError("Mismatch between number of source and destination parameter groups")
        for one, other in zip(source, target, strict=True):
            other.update({name: value for name, value in one.items() if name != "params"})

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring all state to one process, which can then ask for `state_dict`."""
        self._copy_options(self.param_groups, self.optim.param_groups)
        self._all_state_dicts = []
        for rank in range(self.world_size):
            said = [self.optim.state_dict() if rank == self.rank else None]
            broadcast_object_list(said, group=self.process_group, group_src=rank)
            if self.rank == to:
                self._all_state_dicts.append(copy.deepcopy(said[0]))  # type: ignore[arg-type]

    def _indices(self) -> dict[Tensor, int]:
        parameters = [one for group in self.param_groups for one in group["params"]]
        return {one: place for place, one in enumerate(parameters)}

    def state_dict(self) -> dict[str, Any]:
        """Return the state of all parameters, as an optimiser that has them all would."""
        if not self._all_state_dicts:
            raise RuntimeError(
                "Optimizer state has not been consolidated on this rank. Please call "
                f"`consolidate_state_dict(to={self.rank})` on all ranks beforehand if you meant to save the "
                "global state."
            )
        found = super().state_dict()
        indices = self._indices()
        whole: dict[int, Any] = {}
        for local, share in zip(self._all_state_dicts, self._shares, strict=True):
            for said, group in zip(local["param_groups"], share, strict=True):
                for place, parameter in zip(said["params"], group["params"], strict=True):
                    if place in local["state"]:
                        whole[indices[parameter]] = local["state"][place]
        found["state"] = dict(sorted(whole.items()))
        return found

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over the state of all parameters: each process what it needs."""
        said = copy.deepcopy(state_dict)
        for parameter, place in self._indices().items():
            value = said["state"].get(place)
            if self._owner[parameter] != self.rank:
                said["state"].pop(place, None)
            elif value is not None:
                with no_grad():
                    self.optim.state[parameter] = dict(value)
        super().load_state_dict(said)
        self._copy_options(said["param_groups"], self.param_groups)
        self._copy_options(self.param_groups, self.optim.param_groups)
        self.state.clear()

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what this does while others have inputs left."""
        return _GoesAlong(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return zeros(0).device

    @property
    def join_process_group(self) -> ProcessGroup:
        """The processes that share out the state."""
        return self.process_group


class _GoesAlong(JoinHook):
    """What a process without inputs does: its parameters have to be updated all the same."""

    def __init__(self, optimizer: ZeroRedundancyOptimizer) -> None:
        self._optimizer = optimizer

    def main_hook(self) -> None:
        """Do a step."""
        self._optimizer.step()


def _checked(params: Any) -> list[Any]:
    if isinstance(params, Tensor):
        raise TypeError(f"`params` argument should be an iterable of Tensors, but got {typename(params)}")
    try:
        given = list(params)
    except TypeError as failure:
        raise TypeError(
            f"`params` argument should be an iterable of Tensors or dicts, but got {typename(params)}"
        ) from failure
    if not given:
        raise ValueError("ZeroRedundancyOptimizer got an empty parameter list")
    if not (all(isinstance(one, Tensor) for one in given) or all(isinstance(one, dict) for one in given)):
        raise TypeError("`params` argument should be an iterable of Tensors or dicts")
    for one in given:
        if isinstance(one, dict) and "params" not in one:
            raise ValueError(
                "Each parameter group passed-in via `params` must have a 'params' key mapping to the "
                "parameters in the group"
            )
    # Groups are changed: those of the program are its own.
    return [{**one, "params": list(one["params"])} if isinstance(one, dict) else one for one in given]

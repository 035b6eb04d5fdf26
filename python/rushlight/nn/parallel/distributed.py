"""`DistributedDataParallel`: a model that processes train together."""

from __future__ import annotations

import copy
import warnings
from contextlib import contextmanager
from dataclasses import fields, is_dataclass
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor, is_grad_enabled, ones, tensor, zeros
from ...autograd.grad_mode import no_grad
from ...distributed._objects import all_gather_object
from ...distributed._reduce_op import ReduceOp
from ...distributed._synchronizing import broadcast_all
from ...distributed._world import default_group
from ...distributed.algorithms.join import Join, Joinable, JoinHook
from ..modules.module import Module
from ._reducer import GradBucket, Reducer

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from ...distributed._process_group import ProcessGroup

__all__ = ["DistributedDataParallel"]

_MEGABYTE = 1 << 20
# The first bucket is small, so that something travels early.
_FIRST = _MEGABYTE


class DistributedDataParallel(Module, Joinable):
    """A module whose gradients are the mean of those of several processes.

    >>> import rushlight as torch
    >>> torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(2, 1))
    Traceback (most recent call last):
        ...
    ValueError: Default process group has not been initialized, please make sure to call init_process_group.
    """

    def __init__(
        self,
        module: Module,
        device_ids: Any = None,
        output_device: Any = None,
        dim: int = 0,
        broadcast_buffers: bool | None = None,
        init_sync: bool = True,
        process_group: ProcessGroup | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        check_reduction: bool = False,
        gradient_as_bucket_view: bool = False,
        static_graph: bool = False,
        delay_all_reduce_named_params: Any = None,
        param_to_hook_all_reduce: Any = None,
        mixed_precision: Any = None,
        device_mesh: Any = None,
        skip_all_reduce_unused_params: bool = False,
        bucket_cap_mb_list: list[int] | None = None,
        batched_grad_copy: bool = False,
        forward_sync_buffers: bool | None = None,
    ) -> None:
        Module.__init__(self)
        Joinable.__init__(self)
        ignored = set(getattr(module, "_ddp_params_and_buffers_to_ignore", ()))
        named = [(name, one) for name, one in module.named_parameters() if name not in ignored]
        if not any(one.requires_grad for _, one in named):
            raise RuntimeError(
                "DistributedDataParallel is not needed when a module doesn't have any parameter that "
                "requires a gradient."
            )
        _refuse(
            mixed_precision=mixed_precision,
            delay_all_reduce_named_params=delay_all_reduce_named_params,
            param_to_hook_all_reduce=param_to_hook_all_reduce,
        )
        if process_group is not None and device_mesh is not None:
            raise RuntimeError("Cannot specify both process_group and device_mesh arguments.")
        if device_mesh is not None:
            process_group = device_mesh.get_group(mesh_dim=0)
        self.process_group = default_group() if process_group is None else process_group
        self.parameters_to_ignore = ignored
        self._module_parameters = [one for _, one in named]
        self.device = named[0][1].device
        self._check_devices(device_ids, output_device)
        self.device_ids = self.output_device = None
        self.dim = dim
        self.module = module
        self._set_buffers(broadcast_buffers, forward_sync_buffers)
        self.find_unused_parameters = find_unused_parameters
        self.gradient_as_bucket_view = gradient_as_bucket_view
        self.static_graph = static_graph
        self.require_backward_grad_sync = self.require_forward_param_sync = True
        if check_reduction:
            warnings.warn(
                "The `check_reduction` argument in `DistributedDataParallel` module is deprecated. Please "
                "avoid using it.",
                FutureWarning,
                stacklevel=2,
            )
        most = max(bucket_cap_mb_list) if bucket_cap_mb_list else bucket_cap_mb
        self.bucket_bytes_cap = int((25 if most is None else most) * _MEGABYTE)
        self._first_bytes = _FIRST if most is None else self.bucket_bytes_cap
        self._assign_modules_buffers()
        if init_sync:
            self._check_alike()
            kept = self.modules_buffers if self._syncs_at_first else []
            broadcast_all(self.process_group, [*self._module_parameters, *kept], 0)
        self._make_reducer()

    def _check_devices(self, device_ids: Any, output_device: Any) -> None:
        if device_ids is not None and len(device_ids) > 1:
            raise ValueError("device_ids can only be None or contain a single element.")
        if device_ids or output_device:
            devices = {one.device for one in self._module_parameters}
            raise ValueError(
                "DistributedDataParallel device_ids and output_device arguments only work with "
                f"single-device/multiple-device GPU modules or CPU modules, but got device_ids {device_ids}, "
                f"output_device {output_device}, and module parameters {devices}."
            )

    def _set_buffers(self, former: bool | None, said: bool | None) -> None:
        if former is not None:
            told = (
                "Both `broadcast_buffers` and `forward_sync_buffers` were specified. `broadcast_buffers` is "
                "deprecated and its value is ignored when `forward_sync_buffers` is provided."
                if said is not None
                else "`broadcast_buffers` is deprecated. Use `forward_sync_buffers` instead. IMPORTANT: "
                "unlike `broadcast_buffers=False`, `forward_sync_buffers=False` still syncs buffers at "
                "init. If you rely on buffers NOT being synced at init (e.g. rank-local buffers), keep "
                "using `broadcast_buffers=False` until `init_sync_buffers` is available."
            )
            warnings.warn(told, FutureWarning, stacklevel=3)
        wanted = former is None or former
        self.forward_sync_buffers = wanted if said is None else said
        self._syncs_at_first = wanted if said is None else True

    def _make_reducer(self) -> None:
        self.reducer = Reducer(
            [one for one in self._module_parameters if one.requires_grad],
            self.process_group,
            first=self._first_bytes,
            most=self.bucket_bytes_cap,
            finds_unused=self.find_unused_parameters or self.static_graph,
            keeps_views=self.gradient_as_bucket_view,
        )

    def _check_alike(self) -> None:
        """Refuse models that differ, on all processes alike."""
        mine = [list(one.shape) for one in self._module_parameters]
        rank = self.process_group.rank()
        everybody: list[Any] = [None] * self.process_group.size()
        all_gather_object(everybody, mine, self.process_group)
        first = everybody[0]
        for other, shapes in enumerate(everybody):
            if len(shapes) != len(first):
                raise RuntimeError(
                    f"DDP expects same model across all ranks, but Rank {rank} has "
                    f"{len(mine)} params, while rank {other if rank == 0 else 0} "
                    f"has inconsistent {len(shapes if rank == 0 else first)} "
                    "params."
                )
        for other, shapes in enumerate(everybody):
            for index, (here, there) in enumerate(zip(shapes, first, strict=True)):
                if here != there:
                    raise RuntimeError(
                        f"[{other}]: params[{index}] in this process with sizes {here} appears not to match "
                        "sizes of the same param in process 0."
                    )

    def __getstate__(self) -> dict[str, Any]:
        if self.process_group is not default_group():
            raise RuntimeError(
                "DDP Pickling/Unpickling are only supported when using DDP with the default process group. "
                "That is, when you have called init_process_group and have not passed process_group "
                "argument to DDP constructor"
            )
        state = copy.copy(self.__dict__)
        del state["process_group"], state["reducer"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self.process_group = default_group()
        self._make_reducer()

    @property
    def broadcast_buffers(self) -> bool:
        """Whether buffers are made those of the first process before each call."""
        return self.forward_sync_buffers

    @broadcast_buffers.setter
    def broadcast_buffers(self, value: bool) -> None:
        self.forward_sync_buffers = value

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Leave gradients as they are in a block: the next backward after it takes them along."""
        before, self.require_backward_grad_sync = self.require_backward_grad_sync, False
        try:
            yield
        finally:
            self.require_backward_grad_sync = before

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Call the module, and wait for the gradients that come of it."""
        syncs = is_grad_enabled() and self.require_backward_grad_sync
        if syncs:
            self.reducer.check_finished()
        work = Join.notify_join_context(self)
        if work is not None and not self._divides_by_all:
            self.reducer.divisor = int(work.result()[0].item())
        if self.will_sync_module_buffers():
            self._sync_buffers()
        if self._join_config.enable:
            self._tell_whether_to_sync(self.require_backward_grad_sync)
        output = self.module(*inputs, **kwargs)
        if syncs:
            self.reducer.expect(_tensors_in(output))
        self.require_forward_param_sync = syncs
        return output

    def will_sync_module_buffers(self) -> bool:
        """Tell whether the next call begins with the buffers of the first process."""
        return self.require_forward_param_sync and self.forward_sync_buffers and bool(self.modules_buffers)

    def _assign_modules_buffers(self) -> None:
        self.named_module_buffers = {
            name: one for name, one in self.module.named_buffers() if name not in self.parameters_to_ignore
        }
        self.modules_buffers = list(self.named_module_buffers.values())

    def _sync_buffers(self) -> None:
        root = self._common_rank(True) if self._join_config.enable else 0
        self._assign_modules_buffers()
        broadcast_all(self.process_group, self.modules_buffers, root)

    def _common_rank(self, takes_part: bool) -> int:
        """Return the largest rank of those that take part."""
        rank = tensor([self.process_group.rank() if takes_part else -1])
        self.process_group.allreduce([rank], ReduceOp.MAX).wait()
        return int(rank.item())

    def _tell_whether_to_sync(self, wanted: bool) -> Any:
        flag = ones(1) if wanted else zeros(1)
        work = self.process_group.allreduce([flag])
        return work, flag

    def register_comm_hook(self, state: Any, hook: Callable[..., Any]) -> None:
        """Have `hook(state, bucket)` make gradients one: it returns a future of what they are then."""
        if not callable(hook):
            raise TypeError("Communication hook must be callable.")
        import inspect

        said = inspect.signature(hook).parameters["bucket"].annotation
        if said not in (inspect.Parameter.empty, GradBucket) and "GradBucket" not in str(said):
            raise ValueError("Communication hook: bucket annotation should be dist.GradBucket.")
        self.reducer.set_hook(hook, state)

    def join(
        self,
        divide_by_initial_world_size: bool = True,
        enable: bool = True,
        throw_on_early_termination: bool = False,
    ) -> Join:
        """Let processes have unequal numbers of inputs in a block: who has none goes along with zeros."""
        return Join(
            [self],
            enable,
            throw_on_early_termination,
            divide_by_initial_world_size=divide_by_initial_world_size,
        )

    _divides_by_all = True

    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what this does while others have inputs left."""
        self._divides_by_all = kwargs.get("divide_by_initial_world_size", True)
        self.reducer.divisor = self.process_group.size()
        return _GoesAlong(self)

    @property
    def join_device(self) -> Any:
        """The device of the parameters."""
        return self.device

    @property
    def join_process_group(self) -> ProcessGroup:
        """The processes that train together."""
        return self.process_group

    def _set_static_graph(self) -> None:
        if self.static_graph:
            warnings.warn("You've set static_graph to be True, no need to set it again.", stacklevel=2)
            return
        self.static_graph = True
        self.reducer.stop()
        self._make_reducer()

    @staticmethod
    def _set_params_and_buffers_to_ignore_for_model(
        module: Module, params_and_buffers_to_ignore: Any
    ) -> None:
        module._ddp_params_and_buffers_to_ignore = params_and_buffers_to_ignore


class _GoesAlong(JoinHook):
    """What a process without inputs does while others have some."""

    def __init__(self, model: DistributedDataParallel) -> None:
        self._model = model

    def main_hook(self) -> None:
        """Do what the others do in a call and in its backward."""
        model = self._model
        if model.will_sync_module_buffers():
            broadcast_all(model.process_group, model.modules_buffers, model._common_rank(False))
        work, flag = model._tell_whether_to_sync(False)
        work.wait()
        syncs = bool(flag.item())
        model.require_forward_param_sync = syncs
        if syncs:
            model.reducer.stand_in()

    def post_hook(self, is_last_joiner: bool) -> None:
        """Take over what the last to end has."""
        model = self._model
        root = model._common_rank(is_last_joiner)
        with no_grad():
            kept = model.modules_buffers if model.forward_sync_buffers else []
            broadcast_all(model.process_group, [*model._module_parameters, *kept], root)


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value is not None:
            raise NotImplementedError(f"DistributedDataParallel takes no {name} here")


def _tensors_in(found: Any) -> Iterator[Tensor]:
    if isinstance(found, Tensor):
        yield found
    elif isinstance(found, (list, tuple)):
        for one in found:
            yield from _tensors_in(one)
    elif isinstance(found, dict):
        for one in found.values():
            yield from _tensors_in(one)
    elif is_dataclass(found):
        for field in fields(found):
            yield from _tensors_in(getattr(found, field.name))

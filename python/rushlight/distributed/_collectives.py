"""Operations that all processes of a group take part in."""

from __future__ import annotations

import functools
import warnings
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor
from ._checks import (
    answer,
    check_complex,
    check_list,
    check_one_type,
    check_tensor,
    check_tensors,
    warn_outside,
    with_peer,
)
from ._reduce_op import ReduceOp
from ._stores import default_pg_timeout
from ._world import check_timeout, default_group, get_backend

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from datetime import timedelta
    from typing import TypeVar

    from ..futures import Future
    from ._process_group import ProcessGroup
    from ._work import Work

    Function = TypeVar("Function", bound=Callable[..., Any])

_LATER = (
    "will be deprecated. If you must use it, please revisit our documentation later at "
    "https://pytorch.org/docs/main/distributed.html#collective-functions"
)


def _former(text: str) -> Callable[[Function], Function]:
    """Decorate a function that warns of itself."""

    def decorate(function: Function) -> Any:
        @functools.wraps(function)
        def warn(*args: Any, **kwargs: Any) -> Any:
            told = f"`torch.distributed.{function.__name__}` {text}"
            warnings.warn(told, FutureWarning, stacklevel=2)
            return function(*args, **kwargs)

        return warn

    return decorate


def broadcast(
    tensor: Tensor,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Broadcast the tensor of one process to the whole group."""
    named = with_peer("broadcast", group, src, group_src)
    if named is None:
        return None
    group, root = named
    check_tensor(tensor, "tensor")
    return answer(group.broadcast([tensor], root, now=not async_op), async_op)


def all_reduce(
    tensor: Tensor, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Reduce the tensors of all processes, in place, so that all get the result.

    >>> import rushlight as torch
    >>> dist = torch.distributed
    >>> dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)
    >>> x = torch.ones(2)
    >>> dist.all_reduce(x)  # the sum, over the one process that there is
    >>> x
    tensor([1., 1.])
    >>> dist.destroy_process_group()
    """
    check_tensor(tensor, "tensor")
    if warn_outside(group, "all_reduce"):
        return None
    check_complex("all_reduce", op, tensor)
    group = group or default_group()
    return answer(group.allreduce([tensor], op, now=not async_op), async_op)


@_former(_LATER)
def all_reduce_coalesced(
    tensors: Any, op: Any = ReduceOp.SUM, group: ProcessGroup | None = None, async_op: bool = False
) -> Future[list[Tensor]] | None:
    """Reduce several tensors of all processes, in place, so that all get the results."""
    tensors = [tensors] if isinstance(tensors, Tensor) else tensors
    check_tensors(tensors, "tensor")
    check_one_type(*tensors)
    if warn_outside(group, "all_reduce_coalesced"):
        return None
    check_complex("all_reduce", op, *tensors)
    work = (group or default_group()).allreduce(tensors, op, now=not async_op)
    return _future(work, async_op)


def _future(work: Work, async_op: bool) -> Future[list[Tensor]] | None:
    if async_op:
        return work.get_future()
    work.wait()
    return None


def reduce(
    tensor: Tensor,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Reduce the tensors of all processes; only the destination gets the result."""
    named = with_peer("reduce", group, dst, group_dst)
    if named is None:
        return None
    group, root = named
    check_tensor(tensor, "tensor")
    check_complex("reduce", op, tensor)
    return answer(group.reduce([tensor], root, op, now=not async_op), async_op)


def all_gather(
    tensor_list: list[Tensor], tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of the whole group in a list, in every process."""
    check_tensors(tensor_list, "tensor_list")
    check_tensor(tensor, "tensor")
    check_one_type(*tensor_list, tensor)
    if warn_outside(group, "all_gather"):
        return None
    return answer((group or default_group()).allgather(tensor_list, tensor, now=not async_op), async_op)


def all_gather_single(
    output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Gather the tensors of the whole group in one: concatenated, or stacked along a new first dimension."""
    check_tensor(input_tensor, "input_tensor")
    check_tensor(output_tensor, "output_tensor")
    if warn_outside(group, "all_gather_single"):
        return None
    group = group or default_group()
    check_one_type(output_tensor, input_tensor)
    parts = _divided(output_tensor, input_tensor, group.size(), "allgather")
    return answer(group.allgather(parts, input_tensor, now=not async_op), async_op)


@_former("is deprecated. Please use `torch.distributed.all_gather_single` instead.")
def all_gather_into_tensor(
    output_tensor: Tensor, input_tensor: Tensor, group: ProcessGroup | None = None, async_op: bool = False
) -> Work | None:
    """Do what `all_gather_single` does."""
    return all_gather_single(output_tensor, input_tensor, group, async_op)


def _divided(whole: Tensor, part: Tensor, count: int, operation: str) -> list[Tensor]:
    """Return a tensor in as many parts of the shape of another."""
    if whole.numel() != count * part.numel():
        first = whole.tensor_split(count)[0] if whole.dim() else whole
        wanted, got = (", ".join(map(str, shape)) for shape in (part.shape, first.shape))
        raise RuntimeError(
            f"ProcessGroupGloo::{operation}: invalid tensor size at index 0 (expected ({wanted}), got "
            f"({got}))"
        )
    # On the memory itself: a part of what is not in order would be a copy.
    if not whole.is_contiguous():
        raise RuntimeError(f"ProcessGroupGloo::{operation}: tensors must be contiguous")
    return list(whole.data.view(count, *part.shape).unbind(0))


@_former(_LATER)
def all_gather_coalesced(
    output_tensor_lists: list[list[Tensor]],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Future[list[Tensor]] | None:
    """Gather several tensors of the whole group in lists, in every process."""
    if warn_outside(group, "all_gather_coalesced"):
        return None
    check_tensors(input_tensor_list, "input_tensor_list")
    check_one_type(*input_tensor_list)
    if not isinstance(output_tensor_lists, list):
        raise TypeError("Invalid function argument: output_tensor_lists should be a list")
    for tensors in output_tensor_lists:
        check_tensors(tensors, "output_tensor_lists")
        check_one_type(*tensors)
    group = group or default_group()
    # What each has for one process, in one list a tensor.
    for place, tensor in enumerate(input_tensor_list):
        work = group.allgather([tensors[place] for tensors in output_tensor_lists], tensor)
    return _future(work, async_op)


def gather(
    tensor: Tensor,
    gather_list: list[Tensor] | None = None,
    dst: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Work | None:
    """Gather the tensors of the whole group in a list, in one process."""
    outputs = _one_a_process(tensor, gather_list, "gather_list")
    named = with_peer("gather", group, dst, group_dst, least=0)
    if named is None:
        return None
    group, root = named
    check_list("gather_list", "destination", root == group.rank(), outputs)
    return answer(group.gather(outputs, tensor, root, now=not async_op), async_op)


def _one_a_process(tensor: Any, tensors: Any, name: str) -> list[Tensor]:
    """Check a tensor and a list of its kind, and return the list; it is empty if there is none."""
    check_tensor(tensor, "tensor")
    if not tensors:
        return []
    check_tensors(tensors, name)
    check_one_type(tensor, *tensors)
    found: list[Tensor] = tensors
    return found


def scatter(
    tensor: Tensor,
    scatter_list: list[Tensor] | None = None,
    src: int | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Work | None:
    """Scatter a list of tensors of one process over the group, one to each."""
    inputs = _one_a_process(tensor, scatter_list, "scatter_list")
    named = with_peer("scatter", group, src, group_src, least=0)
    if named is None:
        return None
    group, root = named
    check_list("scatter_list", "source", root == group.rank(), inputs)
    return answer(group.scatter(tensor, inputs, root, now=not async_op), async_op)


def reduce_scatter(
    output: Tensor,
    input_list: list[Tensor],
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce, then scatter a list of tensors over the group."""
    check_tensor(output, "output")
    check_tensors(input_list, "input_list")
    check_one_type(output, *input_list)
    if warn_outside(group, "reduce_scatter"):
        return None
    check_complex("reduce_scatter", op, output)
    group = group or default_group()
    return answer(group.reduce_scatter(output, input_list, op, now=not async_op), async_op)


def reduce_scatter_single(
    output: Tensor,
    input: Tensor,
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Reduce a tensor over the group, then scatter it, an equal part to each process."""
    check_tensor(output, "output")
    check_tensor(input, "input")
    if warn_outside(group, "reduce_scatter_single"):
        return None
    check_one_type(output, input)
    check_complex("reduce_scatter", op, output)
    group = group or default_group()
    parts = _divided(input.contiguous(), output, group.size(), "reduce_scatter")
    return answer(group.reduce_scatter(output, parts, op, now=not async_op), async_op)


@_former("is deprecated. Please use `torch.distributed.reduce_scatter_single` instead.")
def reduce_scatter_tensor(
    output: Tensor,
    input: Tensor,
    op: Any = ReduceOp.SUM,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Do what `reduce_scatter_single` does."""
    return reduce_scatter_single(output, input, op, group, async_op)


def all_to_all_single(
    output: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Split a tensor, scatter the parts over the group, and concatenate what is received."""
    if warn_outside(group, "all_to_all_single"):
        return None
    check_tensor(output, "output")
    check_tensor(input, "input")
    check_one_type(output, input)
    group = group or default_group()
    if not output.is_contiguous():
        raise RuntimeError("ProcessGroupGloo::alltoall_base: tensors must be contiguous")
    received = _split(output.data, output_split_sizes, group.size())
    sent = _split(input.detach(), input_split_sizes, group.size())
    return answer(group.alltoall(received, sent, now=not async_op), async_op)


def _split(tensor: Tensor, sizes: Sequence[int] | None, count: int) -> list[Tensor]:
    if not sizes:
        if tensor.shape[0] % count:
            raise RuntimeError("Tensor's dim 0 does not divide equally across group size")
        return list(tensor.chunk(count)) if tensor.shape[0] else [tensor] * count
    if len(sizes) != count:
        raise RuntimeError("Number of tensor splits not equal to group size")
    if sum(sizes) != tensor.size(0):
        raise RuntimeError("Split sizes doesn't match total dim 0 size")
    return list(tensor.split(list(sizes)))


def all_to_all(
    output_tensor_list: list[Tensor],
    input_tensor_list: list[Tensor],
    group: ProcessGroup | None = None,
    async_op: bool = False,
) -> Work | None:
    """Scatter a list of tensors over the group, and gather what is received in another."""
    if warn_outside(group, "all_to_all"):
        return None
    check_tensors(output_tensor_list, "output_tensor_list")
    check_tensors(input_tensor_list, "input_tensor_list")
    check_one_type(*output_tensor_list, *input_tensor_list)
    group = group or default_group()
    return answer(group.alltoall(output_tensor_list, input_tensor_list, now=not async_op), async_op)


def barrier(
    group: ProcessGroup | None = None,
    async_op: bool = False,
    device_ids: Any = None,
    timeout: timedelta | None = None,
) -> Work | None:
    """Synchronise all processes of a group: none goes on before all have entered."""
    if warn_outside(group, "barrier"):
        return None
    return answer((group or default_group()).barrier(now=not async_op), async_op)


def monitored_barrier(
    group: ProcessGroup | None = None, timeout: Any = None, wait_all_ranks: bool = False
) -> None:
    """Wait until all processes of a group have come here; raise if some have not in time."""
    from datetime import timedelta

    if warn_outside(group, "monitored_barrier"):
        return
    if get_backend(group) != "gloo":
        raise ValueError("monitored_barrier is only implemented for GLOO backend.")
    if isinstance(timeout, float):
        warnings.warn(
            f"Please specify timeout arg as a timedelta. Converting current value of {timeout} assuming it "
            "represents seconds",
            stacklevel=2,
        )
        timeout = timedelta(seconds=timeout)
    limit = default_pg_timeout if timeout is None else check_timeout(timeout)
    (group or default_group()).barrier().wait(limit)

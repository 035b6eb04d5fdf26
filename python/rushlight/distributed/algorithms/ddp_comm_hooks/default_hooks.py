"""Gradients that travel as they are, or in half of their bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...._rushlight import bfloat16, float16
from ..._world import default_group

if TYPE_CHECKING:
    from collections.abc import Callable

    from ...._rushlight import Tensor
    from ....futures import Future
    from ....nn.parallel._reducer import GradBucket
    from ..._process_group import ProcessGroup

__all__ = [
    "allreduce_hook",
    "bf16_compress_hook",
    "bf16_compress_wrapper",
    "fp16_compress_hook",
    "fp16_compress_wrapper",
]


def allreduce_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Make gradients their mean."""
    group = process_group or default_group()
    buffer = bucket.buffer()
    buffer.div_(group.size())
    return group.allreduce([buffer]).get_future().then(lambda one: one.value()[0])


def _compressed(dtype: Any, process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    group = process_group or default_group()
    buffer = bucket.buffer()
    small = buffer.to(dtype).div_(group.size())
    return group.allreduce([small]).get_future().then(lambda one: buffer.copy_(one.value()[0]))


def fp16_compress_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Make gradients their mean, in float16."""
    return _compressed(float16, process_group, bucket)


def bf16_compress_hook(process_group: ProcessGroup | None, bucket: GradBucket) -> Future[Tensor]:
    """Make gradients their mean, in bfloat16."""
    return _compressed(bfloat16, process_group, bucket)


def _wrapped(dtype: Any, hook: Callable[..., Future[Tensor]]) -> Callable[..., Future[Tensor]]:
    def wrapper(hook_state: Any, bucket: GradBucket) -> Future[Tensor]:
        # What the numbers are in half precision is what travels.
        buffer = bucket.buffer()
        bucket.set_buffer(buffer.to(dtype).to(buffer.dtype))
        return hook(hook_state, bucket)

    return wrapper


def fp16_compress_wrapper(hook: Callable[..., Future[Tensor]]) -> Callable[..., Future[Tensor]]:
    """Round gradients to float16 before another function gets them."""
    return _wrapped(float16, hook)


def bf16_compress_wrapper(hook: Callable[..., Future[Tensor]]) -> Callable[..., Future[Tensor]]:
    """Round gradients to bfloat16 before another function gets them."""
    return _wrapped(bfloat16, hook)

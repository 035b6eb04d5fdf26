"""What is done with the tensors of a module before processes train it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._synchronizing import broadcast_all

if TYPE_CHECKING:
    from collections.abc import Collection

    from ..nn import Module
    from ._process_group import ProcessGroup


def _sync_module_states(
    module: Module,
    process_group: ProcessGroup,
    broadcast_bucket_size: int,
    src: int,
    params_and_buffers_to_ignore: Collection[str],
    broadcast_buffers: bool = True,
) -> None:
    """Give everybody the parameters and buffers that one process has."""
    named: list[Any] = list(module.named_parameters())
    if broadcast_buffers:
        named += module.named_buffers()
    kept = [one.detach() for name, one in named if name not in params_and_buffers_to_ignore]
    broadcast_all(process_group, kept, src)

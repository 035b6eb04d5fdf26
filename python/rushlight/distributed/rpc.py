"""Functions that run in other processes: they are refused."""

from __future__ import annotations

from typing import Any

from .._absent import Unavailable, refusing

__all__ = ["RRef", "init_rpc", "is_available", "remote", "rpc_async", "rpc_sync", "shutdown"]


def is_available() -> bool:
    """Tell whether functions can run in other processes in this way: no."""
    return False


class RRef(Unavailable):
    """What another process has."""

    def __class_getitem__(cls, kind: Any) -> Any:
        return cls


class WorkerInfo(Unavailable):
    """Another process."""


refusing(
    globals(),
    "init_rpc shutdown rpc_sync rpc_async remote get_worker_info",
    NotImplementedError,
    "torch.distributed.rpc: functions do not run in other processes here",
)

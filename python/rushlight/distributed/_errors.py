"""What goes wrong between processes."""

from __future__ import annotations

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError", "QueueEmptyError"]


class DistError(RuntimeError):
    """Something went wrong between processes."""


class DistBackendError(DistError):
    """Processes could not compute together."""


class DistNetworkError(DistError):
    """A process could not be reached."""


class DistStoreError(DistError):
    """A store did not have what was asked of it, in time."""


class QueueEmptyError(DistStoreError):
    """Nothing is in the queue of a store."""

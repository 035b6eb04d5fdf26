"""Functions for `DistributedDataParallel.register_comm_hook`."""

from ...._lazy import on_first_use

__getattr__, __dir__ = on_first_use(globals(), rooms={"default_hooks"})

"""Where programs find `distributed.get_free_port`."""

from ...._lazy import on_first_use

__getattr__, __dir__ = on_first_use(globals(), rooms={"distributed"})

"""Where programs find `errors.record`."""

from ...._lazy import on_first_use

__getattr__, __dir__ = on_first_use(globals(), rooms={"errors"})

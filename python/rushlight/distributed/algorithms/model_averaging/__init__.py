"""Processes that train apart for some steps and then make their parameters one."""

from ...._lazy import on_first_use

__getattr__, __dir__ = on_first_use(globals(), rooms={"averagers"})

"""Where programs find `record` and free ports. Processes that come and go are not there."""

from ..._lazy import on_first_use

__getattr__, __dir__ = on_first_use(globals(), rooms={"multiprocessing", "utils"})

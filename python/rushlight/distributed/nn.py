"""What processes do together, with gradients that go the other way: refused."""

from __future__ import annotations

from .._devices.absent import refusing
from .._module_aliases import add_module_aliases

__all__: list[str] = []

_NAMES = "all_gather all_reduce all_to_all broadcast gather reduce reduce_scatter scatter"

refusing(
    globals(),
    _NAMES,
    NotImplementedError,
    "torch.distributed.nn: gradients do not pass from one process to another here",
)
add_module_aliases(globals(), {"functional": {".": _NAMES}})

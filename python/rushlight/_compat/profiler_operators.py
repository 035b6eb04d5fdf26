"""`torch.ops.profiler`: the operators that label a part of a program in profiles.

>>> import rushlight as torch
>>> from rushlight.autograd.profiler import profile
>>> with profile() as seen:
...     label = torch.ops.profiler._record_function_enter_new("twice")
...     _ = torch.ones(2) * 2
...     torch.ops.profiler._record_function_exit(label)
>>> [event.name for event in seen.function_events][:2]
['twice', 'aten::ones']
"""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ..autograd.profiler import record_function
from ..library import Library

__all__: list[str] = []

_CLASS = "__torch__.torch.classes.profiler._RecordFunction"
# Labels that a tensor stands for, as the older of the operators have it.
_OPEN: dict[int, record_function] = {}


def _begin(name: str, args: str | None = None) -> record_function:
    return record_function(name, args).__enter__()


def _begin_with_a_tensor(name: str, args: str | None = None) -> Tensor:
    label = _begin(name, args)
    _OPEN[id(label)] = label
    return native.tensor([id(label)])


def _end_of_a_tensor(label: Tensor) -> None:
    _end(_OPEN.pop(int(label.item())))


def _end(label: Any) -> None:
    label.__exit__()


_COMPUTED: dict[str, Any] = {
    "_record_function_enter(str name, str? args=None) -> Tensor": _begin_with_a_tensor,
    f"_record_function_enter_new(str name, str? args=None) -> {_CLASS}": _begin,
    "_record_function_exit(Tensor _0) -> ()": _end_of_a_tensor,
    f"_record_function_exit._RecordFunction({_CLASS} _0) -> ()": _end,
}
_library = Library("profiler", "DEF")
for _name, _function in _COMPUTED.items():
    _library.define(_name)
    _library.impl(_name.partition("(")[0], _function, "CompositeExplicitAutograd")

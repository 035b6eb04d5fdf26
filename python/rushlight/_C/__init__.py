"""Names that programs written against torch find in its compiled module, where they extend it."""

from __future__ import annotations

from .. import _rushlight
from .._lazy import on_first_use
from .._rushlight import _disabled_torch_dispatch_impl, _disabled_torch_function_impl
from .._rushlight import _DisableTorchFunctionSubclass as DisableTorchFunctionSubclass

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import _functorch as _functorch
else:
    __getattr__, __dir__ = on_first_use(globals(), rooms={"_functorch"})

__all__ = [
    "DisableTorchFunctionSubclass",
    "_DisableTorchDispatch",
    "_disabled_torch_dispatch_impl",
    "_disabled_torch_function_impl",
]


class _DisableTorchDispatch:
    """In the block, or as long as it lives outside of one, no class is shown operations on its tensors."""

    def __init__(self) -> None:
        self._ends = 1
        _rushlight._set_minding(False)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        self._end()

    def __del__(self) -> None:
        self._end()

    def _end(self) -> None:
        if self._ends:
            self._ends = 0
            _rushlight._set_minding(True)

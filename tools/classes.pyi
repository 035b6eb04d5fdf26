# ruff: noqa: PYI021
# mypy: disable-error-code="overload-cannot-match, overload-overlap, misc, override"
from collections.abc import Sequence
from typing import Any, overload

import numpy
import numpy.typing

from . import return_types as return_types

_int = int
_float = float
_bool = bool
_str = str
_Number = int | float | bool
_Ints = Sequence[int]
_Floats = Sequence[float]
_Numbers = Sequence[float]

__version__: str

def _signatures() -> list[tuple[str, str, list[tuple[list[tuple[str, str, bool, bool, str | None]], str]]]]: ...

class dtype:
    @property
    def is_floating_point(self) -> bool: ...
    @property
    def is_complex(self) -> bool: ...
    @property
    def is_signed(self) -> bool: ...
    @property
    def itemsize(self) -> int: ...

_DType = dtype | type[int] | type[float] | type[bool]
_Device = Any
_Layout = Any
_MemoryFormat = Any
_Generator = Any

class Tensor:
    # native methods

_Tensors = Sequence[Tensor]

# native functions

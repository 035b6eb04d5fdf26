"""Which ways of computing attention are allowed.

>>> import rushlight as torch
>>> x = torch.ones(1, 2, 2, requires_grad=True)
>>> with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
...     torch.nn.functional.scaled_dot_product_attention(x, x, x).shape
torch.Size([1, 2, 2])
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from typing import Any

from ..._lazy import on_first_use
from ..functional.attention import allowed

__getattr__, __dir__ = on_first_use(globals(), rooms={"bias", "flex_attention"})

__all__ = ["WARN_FOR_UNFUSED_KERNELS", "SDPBackend", "sdpa_kernel"]

WARN_FOR_UNFUSED_KERNELS = False


class SDPBackend(Enum):
    """A way to compute attention: by other operations (`MATH`), or as one (`FLASH_ATTENTION`)."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4

    def __int__(self) -> int:
        return int(self.value)

    __index__ = __int__


_ALL = (
    SDPBackend.CUDNN_ATTENTION,
    SDPBackend.FLASH_ATTENTION,
    SDPBackend.EFFICIENT_ATTENTION,
    SDPBackend.MATH,
    SDPBackend.OVERRIDEABLE,
)
_current: tuple[SDPBackend, ...] = _ALL


def _cur_sdpa_kernel_backends(with_priority: bool = False) -> list[SDPBackend]:
    return list(_current)


@contextmanager
def sdpa_kernel(
    backends: list[SDPBackend] | SDPBackend, set_priority: bool = False
) -> Iterator[dict[str, Any]]:
    """Allow these ways alone in a block; attention that none of them can compute is an error."""
    if not isinstance(backends, (list, SDPBackend)):
        raise AssertionError(
            "Backend must be an instance of SDPBackend or a list of SDPBackend instances, "
            f"got {type(backends).__name__}"
        )
    before = _current
    try:
        _allow(tuple(dict.fromkeys([backends] if isinstance(backends, SDPBackend) else backends)))
        yield {}
    finally:
        _allow(before)


def _allow(backends: tuple[SDPBackend, ...]) -> None:
    global _current
    _current = tuple(one for one in _ALL if one in backends)
    allowed.as_one = SDPBackend.FLASH_ATTENTION in backends
    allowed.as_others = SDPBackend.MATH in backends

"""Devices of several processes in a grid: there are none, and a grid of them is refused."""

from __future__ import annotations

from typing import Any

from .._absent import refusing

__all__ = ["DeviceMesh", "init_device_mesh"]

_REFUSED = "torch.distributed: there are no grids of devices here; processes compute as members of groups"


class DeviceMesh:
    """Devices in a grid. None is ever made."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(_REFUSED)


refusing(globals(), "init_device_mesh", NotImplementedError, _REFUSED)

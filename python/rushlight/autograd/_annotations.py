"""Profiles that are written for the tools of vendors of devices, of which none listens here."""

from __future__ import annotations


class _Annotation:
    """Names what operations do for a tool that watches the program."""

    _tool: str

    def __init__(self, enabled: bool = True, record_shapes: bool = False) -> None:
        self.enabled = enabled
        self.entered = False
        self.record_shapes = record_shapes

    def __enter__(self) -> object:
        if not self.enabled:
            return None
        if self.entered:
            raise RuntimeError(f"{self._tool} annotation context manager is not reentrant")
        self.entered = True
        self._begin()
        return self

    def _begin(self) -> None:
        """Tell the tool that a profile begins."""

    def __exit__(self, exc_type: object, exc_value: object, traceback: object) -> None:
        pass


class emit_itt(_Annotation):
    """Name operations for Intel's tools; nothing happens where none is attached.

    >>> import rushlight as torch
    >>> with torch.autograd.profiler.emit_itt():
    ...     _ = torch.ones(2).exp()
    """

    __module__ = "rushlight.autograd.profiler"
    _tool = "ITT"


class emit_nvtx(_Annotation):
    """Name operations for the tools of a device that is not there.

    >>> import rushlight as torch
    >>> with torch.autograd.profiler.emit_nvtx(enabled=False):
    ...     _ = torch.ones(2).exp()
    """

    __module__ = "rushlight.autograd.profiler"
    _tool = "NVTX"

    def _begin(self) -> None:
        raise RuntimeError(
            "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU and installed a "
            "driver from http://www.nvidia.com/Download/index.aspx"
        )

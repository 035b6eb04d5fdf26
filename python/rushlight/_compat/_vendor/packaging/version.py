"""Versions of libraries, which compare as versions do.

>>> from rushlight._vendor.packaging import version
>>> version.parse("1.10.0") > version.parse("1.9")
True
"""

from __future__ import annotations

from ....torch_version import InvalidVersion, TorchVersion, _rank

__all__ = ["InvalidVersion", "Version", "parse"]


class Version(TorchVersion):
    """A version; what is none is refused."""

    def __init__(self, version: str) -> None:
        _rank(version)


def parse(version: str) -> Version:
    """Return a text as a version."""
    return Version(version)

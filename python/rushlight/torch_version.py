"""The version of torch whose answers are given here, as an object that compares as versions do."""

from __future__ import annotations

import re
from functools import cache
from itertools import zip_longest
from typing import Any

__all__ = ["TorchVersion"]

_FORM = re.compile(
    r"\s*v?(?:(?P<epoch>\d+)!)?(?P<release>\d+(?:\.\d+)*)"
    r"(?:[-_.]?(?P<stage>alpha|a|beta|b|preview|pre|c|rc)[-_.]?(?P<stage_number>\d*))?"
    r"(?:-(?P<post_alone>\d+)|(?P<post>[-_.]?(?:post|rev|r)[-_.]?(?P<post_number>\d*)))?"
    r"(?P<dev>[-_.]?dev[-_.]?(?P<dev_number>\d*))?"
    r"(?:\+(?P<local>[a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*",
    re.IGNORECASE,
)
_STAGES = {"a": 0, "alpha": 0, "b": 1, "beta": 1, "c": 2, "rc": 2, "pre": 2, "preview": 2}
_BEFORE_STAGES, _AFTER_STAGES = -1, 3
_LAST = float("inf")


class InvalidVersion(ValueError):
    """A text that is no version."""


@cache
def _rank(text: str) -> tuple[Any, ...]:
    """Return what versions are ordered by."""
    found = _FORM.fullmatch(text)
    if found is None:
        raise InvalidVersion(f"Invalid version: {text!r}")
    release = [int(part) for part in found["release"].split(".")]
    while release and release[-1] == 0:
        release.pop()
    is_post = found["post"] is not None or found["post_alone"] is not None
    is_dev = found["dev"] is not None
    if found["stage"]:
        stage = _STAGES[found["stage"].lower()], int(found["stage_number"] or 0)
    else:
        stage = (_BEFORE_STAGES if is_dev and not is_post else _AFTER_STAGES), 0
    local = re.split("[-_.]", found["local"].lower()) if found["local"] else []
    return (
        int(found["epoch"] or 0),
        release,
        stage,
        int(found["post_alone"] or found["post_number"] or 0) if is_post else -1,
        int(found["dev_number"] or 0) if is_dev else _LAST,
        [(1, int(part), "") if part.isdigit() else (0, 0, part) for part in local],
    )


def _as_text(other: Any) -> str:
    """Return another version as text: it may be a version of any library, or its parts."""
    if isinstance(other, (tuple, list)):
        return ".".join(map(str, other))
    return str(other)


def _compare(own: str, other: Any) -> int:
    """Tell which is first; texts that are no versions compare as texts."""
    text = _as_text(other)
    try:
        pairs: Any = zip_longest(_rank(own), _rank(text))
    except InvalidVersion:
        pairs = [(str(own), text)]
    for left, right in pairs:
        if left != right:
            return -1 if left < right else 1
    return 0


class TorchVersion(str):
    """A version: a text that compares with texts, with parts and with versions as versions do.

    >>> from rushlight.torch_version import TorchVersion
    >>> TorchVersion("2.13.0+rushlight") >= "2.4", TorchVersion("2.13.0") > (2, 9)
    (True, True)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return _compare(self, other) == 0

    def __ne__(self, other: object) -> bool:
        return _compare(self, other) != 0

    def __lt__(self, other: Any) -> bool:
        return _compare(self, other) < 0

    def __le__(self, other: Any) -> bool:
        return _compare(self, other) <= 0

    def __gt__(self, other: Any) -> bool:
        return _compare(self, other) > 0

    def __ge__(self, other: Any) -> bool:
        return _compare(self, other) >= 0

    __hash__ = str.__hash__


__version__ = TorchVersion("2.13.0+rushlight")

"""A world of one process, which has nobody to send anything to."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._transport import Transfer, Transport

if TYPE_CHECKING:
    from collections.abc import Sequence


class Alone(Transport):
    """The way from a process to itself, which no operation takes."""

    rank = 0
    size = 1

    def begin_send(self, peer: int, channel: int, view: memoryview) -> Transfer:
        """Refuse: nobody is there."""
        raise RuntimeError(f"rank {peer} is not in a group of one process")

    def begin_receive(self, peer: int | None, channel: int, view: memoryview) -> Transfer:
        """Refuse: nobody is there."""
        raise RuntimeError("nobody can send anything in a group of one process")

    def part(self, name: str, ranks: Sequence[int]) -> Transport:
        """Return itself."""
        return self

    def warn_others(self, reason: str) -> None:
        """Do nothing: there are none."""

    def close(self) -> None:
        """Do nothing: nothing is open."""

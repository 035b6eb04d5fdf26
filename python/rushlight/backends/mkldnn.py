"""A library for networks on the CPU, which is not used."""

from __future__ import annotations

from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


def is_available() -> bool:
    """Tell whether it is there: never."""
    return False


enabled = True
deterministic = allow_tf32 = False


@contextmanager
def flags(
    enabled: bool = False, deterministic: bool = False, allow_tf32: bool = True, fp32_precision: str = "none"
) -> Iterator[None]:
    """Have other settings in a block, of which none changes what is computed."""
    settings = globals()
    before = {name: settings[name] for name in ("enabled", "deterministic", "allow_tf32")}
    settings.update(enabled=enabled, deterministic=deterministic, allow_tf32=allow_tf32)
    try:
        yield
    finally:
        settings.update(before)

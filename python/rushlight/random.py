"""The generator of random numbers that serves whoever names none: its seed, its state, a block apart."""

from __future__ import annotations

from contextlib import contextmanager

from ._rushlight import default_generator, get_rng_state, initial_seed, manual_seed, seed, set_rng_state

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Generator, Iterable

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]


@contextmanager
def fork_rng(
    devices: Iterable[int] | None = None,
    enabled: bool = True,
    _caller: str = "fork_rng",
    _devices_kw: str = "devices",
    device_type: str | None = None,
) -> Generator[None]:
    """Put the generator back at the end of the block to where it stood at the start.

    `devices` and `device_type` name further devices in torch; here there is only the CPU, whose
    generator is always put back unless `enabled` is false.

    >>> import rushlight as torch
    >>> with torch.random.fork_rng():
    ...     x = torch.rand(2)
    >>> torch.equal(x, torch.rand(2))
    True
    """
    if not enabled or device_type == "meta":
        yield
        return
    state = default_generator.get_state()
    try:
        yield
    finally:
        default_generator.set_state(state)

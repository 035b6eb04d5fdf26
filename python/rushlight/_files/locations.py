"""Where files say that memory was, and where it is to be instead.

There is one device with memory, and one without numbers: a file that names another is read by who says with
`map_location` what is to become of that. Others may register places of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor, device

if TYPE_CHECKING:
    from ..storage import UntypedStorage

__all__: list[str] = []

_TO_MEMORY = (
    "If you are running on a CPU-only machine, please use torch.load with map_location=torch.device('cpu') "
    "to map your storages to the CPU."
)

Tagger = Callable[[Any], "str | None"]
Deserializer = Callable[[Any, str], Any]


def _here(storage: UntypedStorage, location: str) -> UntypedStorage | None:
    return storage if location == "cpu" else None


def _without_numbers(storage: UntypedStorage, location: str) -> UntypedStorage | None:
    if location != "meta":
        return None
    from ..storage import UntypedStorage

    return UntypedStorage(storage.nbytes(), device="meta")


def _elsewhere(kind: str) -> Deserializer:
    """Return what refuses to put memory on a kind of device that is not there."""

    def refuse(storage: UntypedStorage, location: str) -> None:
        if not location.startswith(kind):
            return
        if kind == "mps":
            raise RuntimeError("torch.UntypedStorage(): Storage device not recognized: mps")
        if kind in ("privateuseone", "hpu"):
            raise RuntimeError(f"The {kind.upper()} device module is not registered. {_TO_MEMORY}")
        device(location)
        raise RuntimeError(
            f"Attempting to deserialize object on a {kind.upper()} device but torch.{kind}.is_available() "
            f"is False. {_TO_MEMORY}"
        )

    return refuse


def _kind(storage: UntypedStorage) -> str:
    return str(storage.device)


# By priority: who names the place of memory, and who brings it to a place that is named.
_PLACES: list[tuple[int, Tagger, Deserializer]] = [
    (10, _kind, _here),
    (20, _kind, _elsewhere("cuda")),
    (21, _kind, _elsewhere("mps")),
    (22, _kind, _without_numbers),
    (23, _kind, _elsewhere("privateuseone")),
    (24, _kind, _elsewhere("hpu")),
    (25, _kind, _elsewhere("xpu")),
    (26, _kind, _elsewhere("mtia")),
]


def register_package(priority: int, tagger: Tagger, deserializer: Deserializer) -> None:
    """Let files name a place of one's own: who has the lowest priority is asked first.

    `tagger` names the place of a storage, `deserializer` brings one there; both answer None for what is not
    theirs.
    """
    _PLACES.append((priority, tagger, deserializer))
    _PLACES.sort(key=lambda place: place[0])


def location_tag(storage: Any) -> str:
    """Return what a file would say of where a storage is.

    >>> import rushlight as torch
    >>> torch.serialization.location_tag(torch.ones(2).untyped_storage())
    'cpu'
    """
    for _, tagger, _ in _PLACES:
        if location := tagger(storage):
            return location
    raise RuntimeError(f"don't know how to determine data location of {_name(storage)}")


def default_restore_location(storage: Any, location: str) -> Any:
    """Return a storage at the place that a file names, or fail where there is no such place.

    >>> import rushlight as torch
    >>> storage = torch.ones(2).untyped_storage()
    >>> torch.serialization.default_restore_location(storage, "cpu") is storage
    True
    """
    for _, _, deserializer in _PLACES:
        if (placed := deserializer(storage, location)) is not None:
            return placed
    raise RuntimeError(
        f"don't know how to restore data location of {_name(storage)} (tagged with {location})"
    )


def _name(storage: Any) -> str:
    return f"torch.storage.{type(storage).__name__}"


def placed(memory: Tensor, location: Any, map_location: Any) -> Tensor:
    """Return the memory that a file has at a location where `map_location` wants it."""
    if isinstance(location, bytes):
        location = location.decode("ascii")
    if isinstance(map_location, dict):
        location = map_location.get(location, location)
    elif isinstance(map_location, (str, bytes, device)):
        location = str(map_location) if isinstance(map_location, device) else map_location
    elif map_location is not None:
        found = map_location(memory.untyped_storage(), location)
        if found is not None:
            return _shown(found, memory)
    if location == "meta":
        return native.empty_like(memory, device="meta")
    return _shown(default_restore_location(memory.untyped_storage(), location), memory)


def _shown(storage: Any, memory: Tensor) -> Tensor:
    """Return the elements of a storage that takes the place of memory."""
    return (
        memory if storage is memory.untyped_storage() else native.empty(0, dtype=memory.dtype).set_(storage)
    )

"""`Backend`: the names of what processes reach each other by."""

from __future__ import annotations

import os
from typing import Any, ClassVar

from . import _mpi

__all__ = [
    "Backend",
    "is_backend_available",
    "is_gloo_available",
    "is_mpi_available",
    "is_nccl_available",
    "is_ucc_available",
    "is_xccl_available",
]


class Backend(str):  # no slots: as for any string, names can be put on it
    """The name of what processes reach each other by, in small letters.

    >>> import rushlight as torch
    >>> torch.distributed.Backend("GLOO")
    'gloo'
    """

    UNDEFINED = "undefined"
    GLOO = "gloo"
    NCCL = "nccl"
    UCC = "ucc"
    MPI = "mpi"
    XCCL = "xccl"
    FAKE = "fake"
    backend_list: ClassVar[list[str]] = [UNDEFINED, GLOO, NCCL, XCCL, UCC, MPI, FAKE]
    default_device_backend_map: ClassVar[dict[str, str]] = {
        "cpu": GLOO,
        "cuda": NCCL,
        "xpu": XCCL,
        "mps": GLOO,
    }

    def __new__(cls, name: str) -> Any:
        """Return the name as it is known."""
        if not isinstance(name, str):
            raise ValueError("Backend constructor parameter must be string-ish")
        known = getattr(Backend, name.upper(), Backend.UNDEFINED)
        return name.lower() if known == Backend.UNDEFINED else known


def for_processors(name: str) -> str:
    """Return what is meant for tensors of the CPU: `cpu:gloo,cuda:nccl` says it for each device."""
    said = dict(part.partition(":")[::2] for part in name.split(",")) if ":" in name else {"cpu": name}
    found = said.get("cpu", Backend.UNDEFINED)
    if found != Backend.UNDEFINED:
        return found
    return Backend.MPI if _mpi.is_launched() else Backend.GLOO


def is_backend_available(backend: str) -> bool:
    """Tell whether processes can reach each other by this.

    >>> import rushlight as torch
    >>> torch.distributed.is_backend_available("gloo")
    True
    """
    if ":" in backend:
        return all(is_backend_available(part.partition(":")[2]) for part in backend.split(","))
    return {"gloo": True, "mpi": is_mpi_available()}.get(backend.lower(), False)


def is_gloo_available() -> bool:
    """Tell whether processes can reach each other by sockets: always."""
    return True


def is_mpi_available() -> bool:
    """Tell whether processes can reach each other by MPI: if mpi4py is there, and nothing else started them.

    Libraries take MPI if it is there, which would make a world of its own of each process that `run` starts.
    """
    return _mpi.is_there() and (_mpi.is_launched() or "RANK" not in os.environ)


def is_nccl_available() -> bool:
    """Tell whether there is what connects processors for graphics: never."""
    return False


def is_ucc_available() -> bool:
    """Tell whether there is UCC: never."""
    return False


def is_xccl_available() -> bool:
    """Tell whether there is XCCL: never."""
    return False

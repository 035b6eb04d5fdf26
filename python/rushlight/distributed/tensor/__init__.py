"""Tensors whose parts lie in several processes: there are only their classes, for libraries that ask."""

from __future__ import annotations

from ..._devices.absent import Unavailable, refusing
from ..._module_aliases import add_module_aliases

__all__ = [
    "DTensor",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
]


class DTensor(Unavailable):
    """A tensor whose parts lie in several processes: nothing is one."""


class Placement:
    """Where the parts of a tensor would lie."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Tell whether each process would have a part, along a dimension."""
        return False

    def is_replicate(self) -> bool:
        """Tell whether each process would have all."""
        return False

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Tell whether each process would have a summand."""
        return False


class Shard(Placement):
    """Each process would have a part along a dimension.

    >>> from rushlight.distributed.tensor import Shard
    >>> Shard(0)
    Shard(dim=0)
    """

    def __init__(self, dim: int) -> None:
        self.dim = dim

    def is_shard(self, dim: int | None = None) -> bool:
        """Tell whether it is this dimension."""
        return dim is None or dim == self.dim

    def __eq__(self, other: object) -> bool:
        return type(other) is Shard and other.dim == self.dim

    def __hash__(self) -> int:
        return hash(self.dim)

    def __repr__(self) -> str:
        return f"Shard(dim={self.dim})"


class _StridedShard(Shard):
    """Such a part of parts that were made along the same dimension before."""

    def __init__(self, dim: int, *, split_factor: int) -> None:
        super().__init__(dim)
        self.split_factor = split_factor


class Replicate(Placement):
    """Each process would have all."""

    def is_replicate(self) -> bool:
        """Tell that it is so."""
        return True

    def __eq__(self, other: object) -> bool:
        return type(other) is Replicate

    def __hash__(self) -> int:
        return -1

    def __repr__(self) -> str:
        return "Replicate()"


class Partial(Placement):
    """Each process would have a summand."""

    def __init__(self, reduce_op: str = "sum") -> None:
        self.reduce_op = reduce_op

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Tell whether it is this way to make one of them."""
        return reduce_op is None or reduce_op == self.reduce_op

    def __eq__(self, other: object) -> bool:
        return type(other) is Partial and other.reduce_op == self.reduce_op

    def __hash__(self) -> int:
        return hash(self.reduce_op)

    def __repr__(self) -> str:
        return f"Partial({self.reduce_op})"


refusing(
    globals(),
    "distribute_module distribute_tensor",
    NotImplementedError,
    "tensors whose parts lie in several processes are not there",
)
add_module_aliases(
    globals(),
    {
        "placement_types": {".": "Partial Placement Replicate Shard _StridedShard"},
        "device_mesh": {"..device_mesh": "DeviceMesh init_device_mesh"},
    },
)

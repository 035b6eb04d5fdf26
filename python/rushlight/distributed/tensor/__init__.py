"""Tensors whose parts lie in several processes: libraries ask whether a tensor is one, and none is."""

from __future__ import annotations

from typing import Any

from ..._absent import refusing
from ..._rushlight import Tensor
from ..device_mesh import DeviceMesh, init_device_mesh

__all__ = [
    "DTensor",
    "DeviceMesh",
    "Partial",
    "Placement",
    "Replicate",
    "Shard",
    "distribute_module",
    "distribute_tensor",
    "init_device_mesh",
]

_REFUSED = "torch.distributed.tensor: there are no tensors here whose parts lie in several processes"


class DTensor(Tensor):
    """A tensor of which this process has a part. None is ever made."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Refuse."""
        raise NotImplementedError(_REFUSED)

    @staticmethod
    def from_local(*args: Any, **kwargs: Any) -> Any:
        """Refuse."""
        raise NotImplementedError(_REFUSED)


class Placement:
    """How a tensor would lie in several processes."""

    def is_shard(self, dim: int | None = None) -> bool:
        """Tell whether each process would have a part (along a dimension)."""
        return isinstance(self, Shard) and dim in (None, self.dim)

    def is_replicate(self) -> bool:
        """Tell whether each process would have all of it."""
        return isinstance(self, Replicate)

    def is_partial(self, reduce_op: str | None = None) -> bool:
        """Tell whether each process would have a term of a sum (or of what else joins them)."""
        return isinstance(self, Partial) and reduce_op in (None, self.reduce_op)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    def __hash__(self) -> int:
        return hash((type(self), *vars(self).values()))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in vars(self).items())
        return f"{type(self).__name__}({shown})"


class Shard(Placement):
    """A part for each process, along a dimension."""

    def __init__(self, dim: int) -> None:
        self.dim = dim


class Replicate(Placement):
    """All of it for each process."""


class Partial(Placement):
    """A term for each process."""

    def __init__(self, reduce_op: str = "sum") -> None:
        self.reduce_op = reduce_op


refusing(globals(), "distribute_tensor distribute_module", NotImplementedError, _REFUSED)

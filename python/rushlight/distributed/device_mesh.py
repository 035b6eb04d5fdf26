"""`DeviceMesh`: processes in rows and columns, with a group for each row and each column."""

from __future__ import annotations

from math import prod
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, arange, tensor
from ._world import default_group, get_group_rank, init_process_group, is_initialized, new_group

if TYPE_CHECKING:
    from ._process_group import ProcessGroup

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """Processes along several dimensions. All have to make it, alike."""

    def __init__(
        self, device_type: str, mesh: Any, *, mesh_dim_names: tuple[str, ...] | None = None, **options: Any
    ) -> None:
        if not is_initialized():
            init_process_group()
        self.device_type = device_type
        self.mesh = mesh if isinstance(mesh, Tensor) else tensor(mesh)
        self.mesh_dim_names = None if mesh_dim_names is None else tuple(mesh_dim_names)
        rank = default_group().rank()
        if self.mesh.unique().numel() != self.mesh.numel():
            raise RuntimeError(f"a process can be in a mesh once, but it has {self.mesh.tolist()}")
        where = (self.mesh == rank).nonzero()
        self._coordinate = tuple(where[0].tolist()) if len(where) else None
        self._groups: list[Any] = [self._make_groups(dim, rank) for dim in range(self.ndim)]

    def _make_groups(self, dim: int, rank: int) -> Any:
        lines = self.mesh.movedim(dim, -1).reshape(-1, self.size(dim)).tolist()
        mine = None
        for line in lines:
            made = new_group(line, sort_ranks=False)
            if rank in line:
                mine = made
        return mine

    @property
    def ndim(self) -> int:
        """How many dimensions there are."""
        return self.mesh.dim()

    @property
    def shape(self) -> tuple[int, ...]:
        """How many processes there are along each dimension."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """Return how many processes there are, in all or along a dimension."""
        return self.mesh.numel() if mesh_dim is None else self.mesh.shape[mesh_dim]

    def _dim(self, mesh_dim: int | str | None) -> int:
        if mesh_dim is None:
            if self.ndim != 1:
                raise RuntimeError(
                    f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` needs to "
                    "be specified when device_mesh.ndim > 1."
                )
            return 0
        if isinstance(mesh_dim, str):
            if self.mesh_dim_names is None or mesh_dim not in self.mesh_dim_names:
                raise KeyError(f"Invalid mesh_dim_name {mesh_dim!r}, a mesh has {self.mesh_dim_names}")
            return self.mesh_dim_names.index(mesh_dim)
        return mesh_dim

    def get_group(self, mesh_dim: int | str | None = None) -> ProcessGroup:
        """Return the group of the processes along a dimension, of which this is one."""
        found: ProcessGroup = self._groups[self._dim(mesh_dim)]
        return found

    def get_all_groups(self) -> list[Any]:
        """Return the groups of this process, one a dimension."""
        return list(self._groups)

    def get_rank(self) -> int:
        """Return the rank of this process among all."""
        return default_group().rank()

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Return the rank of this process along a dimension."""
        return get_group_rank(self.get_group(mesh_dim), self.get_rank())

    def get_coordinate(self) -> tuple[int, ...] | None:
        """Return where this process is, or None if it is not there."""
        return self._coordinate

    def __repr__(self) -> str:
        if self.mesh_dim_names:
            named = zip(self.mesh_dim_names, self.shape, strict=True)
            said = ", ".join(f"{name}={size}" for name, size in named)
        else:
            said = ", ".join(map(str, self.shape))
        return f"DeviceMesh(({said}), {self.device_type!r}, stride={tuple(self.mesh.stride())})"


def init_device_mesh(
    device_type: str,
    mesh_shape: tuple[int, ...],
    *,
    mesh_dim_names: tuple[str, ...] | None = None,
    **options: Any,
) -> DeviceMesh:
    """Return a mesh of all processes, row by row."""
    if mesh_dim_names is not None:
        if len(set(mesh_dim_names)) != len(mesh_dim_names):
            raise RuntimeError(
                "Each mesh_dim_name must be unique. Found repeated mesh_dim_name in mesh_dim_names "
                f"{mesh_dim_names}"
            )
        if len(mesh_shape) != len(mesh_dim_names):
            raise RuntimeError(
                "mesh_shape and mesh_dim_names should have same length! Found len(mesh_dim_names): "
                f"{len(mesh_dim_names)} and len(mesh_shape):{len(mesh_shape)}."
            )
    ranks = arange(prod(mesh_shape)).view(mesh_shape)
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names, **options)

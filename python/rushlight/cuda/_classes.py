"""Classes of tensors on CUDA devices: nothing is an instance, and none can be made."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from .._rushlight import dtype
from .._tensors import legacy as _legacy
from .._tensors.legacy import tensortype
from ._utils import NO_DEVICE


class _absent(tensortype):
    is_cuda = True

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        raise TypeError(f"type torch.cuda.{cls.__name__} not available. {NO_DEVICE}.")

    def __instancecheck__(cls, instance: Any) -> bool:
        return False


def _class(name: str, kind: dtype, place: str) -> type:
    return _absent(name, (), {"dtype": kind, "__module__": place})


def _classes(place: str) -> dict[str, type]:
    names = (name for name in vars(_legacy) if name.endswith("Tensor") and name != "Tensor")
    return {name: _class(name, getattr(_legacy, name).dtype, place) for name in names}


globals().update(_classes("rushlight.cuda"))

sparse = ModuleType("rushlight.cuda.sparse", "Classes of sparse tensors on CUDA devices.")
vars(sparse).update(_classes("rushlight.cuda.sparse"))

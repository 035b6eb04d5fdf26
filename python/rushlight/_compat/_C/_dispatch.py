"""Keys by which torch chooses how to compute, as libraries name them. Here they choose nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._kinds import Kind

if TYPE_CHECKING:
    from collections.abc import Iterable

__all__ = ["DispatchKey", "DispatchKeySet"]

_BACKENDS = "CPU CUDA HIP XLA MPS IPU XPU HPU VE Lazy MTIA MAIA PrivateUse1 PrivateUse2 PrivateUse3 Meta"
_FAMILIES = {
    "Dense": "",
    "Quantized": "Quantized",
    "Sparse": "Sparse",
    "SparseCsr": "SparseCsr",
    "NestedTensor": "NestedTensor",
    "AutogradFunctionality": "Autograd",
}
_FIRST = (
    "Undefined CompositeExplicitAutogradNonFunctional CompositeExplicitAutograd "
    "CompositeImplicitAutogradNestedTensor CompositeImplicitAutograd AutogradNestedTensor AutogradOther "
    "Autograd Conjugate ZeroTensor Negative BackendSelect ADInplaceOrView PythonTLSSnapshot Python "
    "FuncTorchDynamicLayerFrontMode FuncTorchDynamicLayerBackMode FuncTorchBatchedDecomposition "
    "FuncTorchBatched FuncTorchVmapMode FuncTorchGradWrapper PythonDispatcher PreDispatch Functionalize "
    "AutocastCPU AutocastMPS AutocastXPU AutocastHPU AutocastIPU AutocastCUDA AutocastPrivateUse1"
)


def _names() -> list[str]:
    names = _FIRST.split()
    for family, prefix in _FAMILIES.items():
        names += [
            family,
            f"StartOf{family}Backends",
            *(prefix + one for one in _BACKENDS.split()),
            f"EndOf{family}Backends",
        ]
    return names


if TYPE_CHECKING:

    class DispatchKey(Kind):
        """A key."""
else:
    DispatchKey = Kind("DispatchKey", [(name, at) for at, name in enumerate(_names())], module="rushlight._C")


class DispatchKeySet:
    """Several keys.

    >>> from rushlight._C import DispatchKey, DispatchKeySet
    >>> DispatchKeySet(DispatchKey.CPU).add(DispatchKey.AutogradCPU)
    DispatchKeySet(CPU, AutogradCPU)
    """

    def __init__(self, keys: DispatchKey | Iterable[DispatchKey] = ()) -> None:
        self._keys = frozenset([keys] if isinstance(keys, DispatchKey) else keys)

    def has(self, key: DispatchKey) -> bool:
        """Tell whether a key is among them."""
        return key in self._keys

    def add(self, key: DispatchKey) -> DispatchKeySet:
        """Return these and another."""
        return DispatchKeySet(self._keys | {key})

    def remove(self, key: DispatchKey) -> DispatchKeySet:
        """Return these without one."""
        return DispatchKeySet(self._keys - {key})

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys | other._keys)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys & other._keys)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet(self._keys - other._keys)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DispatchKeySet) and self._keys == other._keys

    def __hash__(self) -> int:
        return hash(self._keys)

    def __repr__(self) -> str:
        return (
            f"DispatchKeySet({', '.join(key.name for key in sorted(self._keys, key=lambda key: key.value))})"
        )

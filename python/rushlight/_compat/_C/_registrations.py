"""What programs ask of torch's dispatcher: which operators there are, and what they have functions for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..._ops import OpOverload, OpOverloadPacket, ops, table
from ._dispatch import DispatchKey, DispatchKeySet

if TYPE_CHECKING:
    from ..._operators.schemas import FunctionSchema
    from ..._rushlight import Tensor

__all__ = [
    "_dispatch_find_schema_or_throw",
    "_dispatch_get_all_op_names",
    "_dispatch_get_backend_keyset_from_autograd",
    "_dispatch_has_computed_kernel_for_dispatch_key",
    "_dispatch_has_kernel",
    "_dispatch_has_kernel_for_any_dispatch_key",
    "_dispatch_has_kernel_for_dispatch_key",
    "_dispatch_is_alias_key",
    "_dispatch_key_for_device",
    "_dispatch_key_name",
    "_dispatch_key_parse",
    "_dispatch_keys",
    "_dispatch_tls_is_dispatch_key_excluded",
    "_dispatch_tls_is_dispatch_key_included",
    "_get_schema",
    "_parse_dispatch_key",
]

_ALIASES = frozenset(
    [
        "Autograd",
        "CompositeExplicitAutograd",
        "CompositeExplicitAutogradNonFunctional",
        "CompositeImplicitAutograd",
        "CompositeImplicitAutogradNestedTensor",
    ]
)
# Autograd of every device lets an operator pass that says nothing of derivatives, and so do these.
_PASSING = (
    "Autograd",
    "ADInplaceOrView",
    "Autocast",
    "BackendSelect",
    "Python",
    "FuncTorch",
    "Functionalize",
)


def _operator(name: str) -> OpOverload | None:
    namespace, _, own = name.partition("::")
    packet, _, overload = own.partition(".")
    found = getattr(getattr(ops, namespace), packet, None)
    return found._overloads.get(overload or "default") if found is not None else None


def _dispatch_has_kernel(name: str) -> bool:
    """Tell whether an operator is known that computes something."""
    operator = _operator(name)
    own = getattr(operator, "definition", None)
    return operator is not None and (own is None or bool(own.kernels.keys()))


def _dispatch_has_kernel_for_dispatch_key(name: str, key: DispatchKey | str) -> bool:
    """Tell whether an operator has a function for a key, of its own."""
    operator, key = _operator(name), key if isinstance(key, str) else key.name
    own = getattr(operator, "definition", None)
    if operator is None:
        raise RuntimeError(f"operator {name} does not exist")
    if own is None:
        return key in ("CPU", "Meta", "Autograd", "CUDA")
    registered = own._backward is not None or own._needs_fake
    return key in own.kernels or (own._needs_fake and key == "Meta") or (registered and key == "Autograd")


def _dispatch_has_kernel_for_any_dispatch_key(name: str, keys: DispatchKeySet) -> bool:
    """Tell whether an operator has a function for one of these keys."""
    return any(_dispatch_has_kernel_for_dispatch_key(name, key) for key in keys._keys)


def _dispatch_has_computed_kernel_for_dispatch_key(name: str, key: DispatchKey | str) -> bool:
    """Tell whether something would be called for a key."""
    key = key if isinstance(key, str) else key.name
    if key in _ALIASES:
        raise RuntimeError("Alias keys do not have runtime kernel registrations.")
    own = getattr(_operator(name), "definition", None)
    if key.startswith(_PASSING) or key == "Meta":
        return True
    general = own is not None and own.kernels.without_numbers() is not None
    return general or _dispatch_has_kernel_for_dispatch_key(name, key)


def _dispatch_get_backend_keyset_from_autograd(key: DispatchKey) -> DispatchKeySet:
    """Return the keys of the devices that a key of autograd is for."""
    return DispatchKeySet(DispatchKey[key.name.removeprefix("Autograd")])


def _dispatch_get_all_op_names() -> list[str]:
    """Name all operators."""
    others = (vars(one).values() for one in list(vars(ops).values()) if isinstance(one, type(ops.aten)))
    added = [one for namespace in others for one in namespace if isinstance(one, OpOverloadPacket)]
    known = [*table()[1].values(), *added]
    names = (overload.name() for packet in known for overload in packet._overloads.values())
    return list(dict.fromkeys(names))


def _get_schema(name: str, overload: str) -> FunctionSchema:
    """Return the schema of an operator."""
    operator = _operator(f"{name}.{overload}".rstrip("."))
    if operator is None:
        raise RuntimeError(f"Found no matching schema for {name}.{overload}")
    return operator._schema


def _dispatch_find_schema_or_throw(name: str, overload: str) -> OpOverload:
    """Return an operator, or refuse."""
    operator = _operator(f"{name}.{overload}".rstrip("."))
    if operator is None:
        raise RuntimeError(f"Could not find schema for {name}.{overload}")
    return operator


def _dispatch_key_parse(name: str) -> DispatchKey:
    """Return the key of a name."""
    found = _parse_dispatch_key(name)
    if found is None:
        raise RuntimeError(f"could not parse dispatch key: {name}")
    return found


def _parse_dispatch_key(name: str) -> DispatchKey | None:
    """Return the key of a name, if there is one."""
    return DispatchKey.__members__.get(name)


def _dispatch_key_name(key: DispatchKey) -> str:
    """Return the name of a key."""
    return key.name


def _dispatch_key_for_device(kind: str) -> str:
    """Return the name of the key of a type of devices."""
    return {"meta": "Meta", "privateuseone": "PrivateUse1"}.get(kind, kind.upper())


def _dispatch_is_alias_key(key: DispatchKey) -> bool:
    """Tell whether a key stands for several."""
    return key.name in _ALIASES


def _dispatch_keys(tensor: Tensor) -> DispatchKeySet:
    """Return the keys that a call with a tensor would have."""
    device = _dispatch_key_for_device(tensor.device.type)
    kind = {"torch.sparse_coo": "Sparse", "torch.strided": ""}.get(str(tensor.layout), "SparseCsr")
    names = [f"{kind}{device}", "ADInplaceOrView", f"Autograd{device}", f"Autocast{device}"]
    return DispatchKeySet([DispatchKey[name] for name in names if name in DispatchKey.__members__])


def _dispatch_tls_is_dispatch_key_excluded(key: DispatchKey) -> bool:
    """Tell whether this thread leaves a key out: never."""
    return False


_dispatch_tls_is_dispatch_key_included = _dispatch_tls_is_dispatch_key_excluded

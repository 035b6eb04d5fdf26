"""Two tensors that exchange everything but who they are."""

from __future__ import annotations

from copyreg import _slotnames  # type: ignore[attr-defined]
from typing import Any
from weakref import getweakrefs

from .._rushlight import Tensor

# What is under an object has the number of the object until it is exchanged. Those that were are here: each
# stands once on either side, so that no two objects have the same, whoever comes to lie where one lay.
_EXCHANGED: dict[int, int] = {}


def number_beneath(tensor: Tensor) -> int:
    """Return the number of what is under a tensor's object, which `swap_tensors` exchanges.

    >>> import rushlight as torch
    >>> a, b = torch.ones(2), torch.zeros(2)
    >>> before = a._cdata, b._cdata
    >>> torch.utils.swap_tensors(a, b)
    >>> (b._cdata, a._cdata) == before
    True
    """
    return _EXCHANGED.get(id(tensor), id(tensor))


def swap_tensors(t1: Tensor, t2: Tensor) -> None:
    """Give each of two tensors what the other is: numbers, type, class, attributes, gradient.

    Neither may have been computed with history, or have weak references to it.

    >>> import rushlight as torch
    >>> a, b = torch.ones(2), torch.tensor(5)
    >>> torch.utils.swap_tensors(a, b)
    >>> a, b
    (tensor(5), tensor([1., 1.]))
    """
    for name, tensor in (("t1", t1), ("t2", t2)):
        if getweakrefs(tensor):
            raise RuntimeError(f"Cannot swap {name} because it has weakref associated with it")
    slots = set(_slotnames(type(t1)))
    if slots != set(_slotnames(type(t2))):
        raise RuntimeError("Cannot swap t1 and t2 if they have different slots")
    for name, tensor in (("t1", t1), ("t2", t2)):
        if not tensor.is_leaf:
            raise RuntimeError(f"Cannot swap {name} because it was computed with history")
    first, second = _content(t1), _content(t2)
    t1.__class__, t2.__class__ = type(t2), type(t1)
    _fill(t1, *second)
    _fill(t2, *first)
    for slot in slots:
        _exchange(t1, t2, slot)
    _EXCHANGED[id(t1)], _EXCHANGED[id(t2)] = number_beneath(t2), number_beneath(t1)


def _content(tensor: Tensor) -> tuple[Any, bool, Any, dict[str, Any]]:
    """Take a leaf apart, and leave it without a gradient."""
    content = tensor.data, tensor.requires_grad, tensor.grad, dict(vars(tensor))
    tensor.grad = None
    tensor.requires_grad_(False)
    return content


def _fill(tensor: Tensor, data: Tensor, requires_grad: bool, grad: Any, attributes: dict[str, Any]) -> None:
    tensor.data = data
    tensor.requires_grad_(requires_grad)
    tensor.grad = grad
    vars(tensor).clear()
    vars(tensor).update(attributes)


def _exchange(t1: Tensor, t2: Tensor, slot: str) -> None:
    """Exchange what two tensors have in a slot, or that there is nothing in it."""
    found = [(other, hasattr(one, slot), getattr(one, slot, None)) for one, other in ((t1, t2), (t2, t1))]
    for tensor, is_set, value in found:
        if is_set:
            setattr(tensor, slot, value)
        elif hasattr(tensor, slot):
            delattr(tensor, slot)

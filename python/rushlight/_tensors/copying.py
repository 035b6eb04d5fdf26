"""Copies of tensors, and tensors as files keep them: what `copy` and `pickle` ask for."""

from __future__ import annotations

from copy import deepcopy
from copyreg import _slotnames  # type: ignore[attr-defined]
from typing import TYPE_CHECKING

from .. import _rushlight
from .._files.torch_names import is_torch
from .._functions.under_vmap import check_storage
from .._rushlight import Tensor, _memory_of, _on_memory, _whole_memory, from_numpy
from ..autograd.grad_mode import no_grad
from ..utils.hooks import warn_if_has_hooks

if TYPE_CHECKING:
    from typing import Any


def __deepcopy__(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    """Return a copy, in which tensors that share memory share a copy of it."""
    if not self.is_leaf:
        raise RuntimeError(
            "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol at "
            "the moment.  If you were attempting to deepcopy a module, this may be because of a "
            "torch.nn.utils.weight_norm usage, see https://github.com/pytorch/pytorch/pull/103001"
        )
    if id(self) in memo:
        found: Tensor = memo[id(self)]
        return found
    check_storage(self)
    with no_grad():
        copied = _copy_on_shared_memory(self, memo) if type(self) is Tensor else _copy_of_class(self, memo)
        if self.requires_grad:
            copied.requires_grad_()
    if self.grad is not None:
        copied.grad = deepcopy(self.grad, memo)
    memo[id(self)] = copied
    if type(self) is not Tensor:
        for slot in filter(self.__class__.__dict__.__contains__, _slotnames(type(self))):
            if hasattr(self, slot):
                setattr(copied, slot, deepcopy(getattr(self, slot), memo))
    attributes = getattr(self, "__dict__", None)
    if attributes:
        copied.__dict__.update(deepcopy(attributes, memo))
    return copied


def _copy_of_class(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    """Copy the memory of a tensor of another class into one that the class makes."""
    empty = self.numel() == 0 or _rushlight._has_no_data(self)
    made = self.clone() if empty else self.new_empty([])
    if type(made) is type(self):
        return made if empty else made.set_(_copy_on_shared_memory(self, memo))
    kind, way, doing = ("wrapper", "clone()", "cloning") if empty else ("non-wrapper", "new_empty()", "")
    raise RuntimeError(
        f"The default implementation of __deepcopy__() for {kind} subclasses only works for subclass types "
        f"that implement {way} and for which {doing or 'that function'} returns another instance of the same "
        f"subclass. You should either properly implement {way} for your subclass or override __deepcopy__() "
        f"if it is intended behavior for {way} to return an instance of a different type."
    )


def _form_without_data(self: Tensor) -> tuple[Any, ...]:
    """Return what a tensor without numbers is made anew of."""
    return type(self), tuple(self.shape), self.stride(), self.storage_offset(), self.dtype, self.requires_grad


def _without_data(
    cls: type[Tensor],
    size: tuple[int, ...],
    strides: tuple[int, ...],
    storage_offset: int,
    dtype: Any,
    requires_grad: bool,
) -> Tensor:
    """Make a tensor without numbers of such a form."""
    made: Tensor = _rushlight._make_without_data(cls, list(size), list(strides), storage_offset, dtype)
    return made.requires_grad_(requires_grad)


def _copy_on_shared_memory(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    """Copy the memory of a tensor, once for all tensors that share it, and show it as the tensor does."""
    if self.numel() == 0:
        return _rushlight.empty_strided(self.shape, self.stride(), dtype=self.dtype)
    place = ("memory", _memory_of(self))
    if place not in memo:
        whole = _whole_memory(self)
        if whole is None:
            return self.detach().clone()
        # What is copied has to stay: other memory could come to lie there.
        memo[place] = whole.clone(), self
    shown: Tensor = _on_memory(memo[place][0], self)
    return shown


def copied(self: Tensor) -> Tensor:
    """Return a leaf on the same memory, as the pieces of `__reduce_ex__` would be put together in torch."""
    warn_if_has_hooks(self)
    check_storage(self)
    if _rushlight._has_no_data(self):
        made = _without_data(*_form_without_data(self))
    else:
        # Writes to the one are not counted by the other.
        made = self.new_empty([]) if type(self) is Tensor else _rushlight.empty([], dtype=self.dtype)
        made = made.set_(self.detach())
        if type(self) is not Tensor:
            made = Tensor._make_subclass(type(self), made, self.requires_grad)
        elif self.requires_grad:
            made.requires_grad_()
    attributes = getattr(self, "__dict__", None)
    if attributes:
        made.__dict__.update(attributes)
    return made


def __reduce_ex__(self: Tensor, _protocol: Any) -> tuple[Any, ...]:
    """Take a tensor apart for `pickle`."""
    warn_if_has_hooks(self)
    check_storage(self)
    attributes = dict(getattr(self, "__dict__", None) or {})
    if _rushlight._has_no_data(self):
        return _without_data, _form_without_data(self), attributes or None
    if is_torch():
        from .._files.pickles import reduced

        return reduced(self)
    # A copy: what numpy sees keeps its size for good.
    plain = self.detach()
    shown = "conj" if plain.is_conj() else "neg" if plain.is_neg() else ""
    if shown:
        plain = plain.conj() if shown == "conj" else _rushlight._neg_view(plain)
    if plain.dtype is _rushlight.bfloat16:
        # numpy has no such type.
        plain, shown = plain.view(_rushlight.int16), "bfloat16"
    return _rebuild, (type(self), plain.clone().numpy(), self.requires_grad, shown), attributes or None


def _rebuild(cls: type[Tensor], array: Any, requires_grad: bool, shown: str = "") -> Tensor:
    """Make the tensor that `__reduce_ex__` took apart."""
    made = from_numpy(array).clone()
    if shown == "bfloat16":
        made = made.view(_rushlight.bfloat16)
    elif shown:
        made = (made.conj() if shown == "conj" else _rushlight._neg_view(made)).detach()
    if cls is Tensor:
        return made.requires_grad_(requires_grad)
    parameter: Tensor = Tensor._make_subclass(cls, made, requires_grad)
    return parameter

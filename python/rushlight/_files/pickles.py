"""Plain pickles of tensors in torch's form: what a program writes that runs as torch, and what torch wrote.

The memory of a tensor is a file of its own in such a pickle, as `save` writes files.
"""

from __future__ import annotations

import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from copyreg import _slotnames  # type: ignore[attr-defined]
from io import BytesIO
from typing import Any

from .. import _rushlight
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from .checkpoints import _rebuild_tensor_v2, _rebuild_tensor_v3
from .writing import has_storage

_PACKAGE = __package__.partition(".")[0]


class _Memory:
    """The elements that a tensor shows, on their way into a pickle."""

    def __init__(self, shown: Tensor) -> None:
        self.shown = shown

    def __reduce__(self) -> tuple[Any, ...]:
        # The pickle in that file, by hand: a storage of so many elements, which lie in the member "0".
        kind, count = f"torch\n{scalar_name(self.shown)}Storage", self.shown.numel()
        if not has_storage(self.shown.dtype):
            kind, count = "torch.storage\nUntypedStorage", self.shown.nbytes
        pickled = f"\x80\x02(Vstorage\nc{kind}\nV0\nVcpu\nI{count}\ntQ.".encode("latin-1")
        content = BytesIO()
        with zipfile.ZipFile(content, "w", zipfile.ZIP_STORED) as archive:
            archive.writestr("archive/data.pkl", pickled)
            elements: Any = self.shown.contiguous().view(_rushlight.uint8).numpy()
            archive.writestr("archive/byteorder", sys.byteorder)
            archive.writestr("archive/data/0", elements.data)
            archive.writestr("archive/version", "3\n")
        return _load_from_bytes, (content.getvalue(),)


def parts(tensor: Tensor) -> tuple[Callable[..., Tensor], tuple[Any, ...]]:
    """Return what makes a plain tensor anew, and of what."""
    plain = tensor.detach()
    metadata = ({"conj" if plain.is_conj() else "neg": True},) if plain.is_conj() or plain.is_neg() else ()
    if metadata:
        plain = plain.conj() if plain.is_conj() else _rushlight._neg_view(plain)
    # From the first element that it shows to the last: no more of what may be a large block.
    steps = zip(plain.shape, plain.stride(), strict=True)
    span = 1 + sum((size - 1) * stride for size, stride in steps) if plain.numel() else 0
    memory = _Memory(plain.as_strided((span,), (1,)))
    shape = tuple(tensor.shape), tuple(tensor.stride())
    hooks: OrderedDict[Any, Any] = OrderedDict()
    how = memory, 0, *shape, tensor.requires_grad, hooks
    if not has_storage(tensor.dtype):
        return _rebuild_tensor_v3, (*how, tensor.dtype, *metadata)
    return _rebuild_tensor_v2, (*how, *metadata)


def says_itself(tensor: Tensor) -> bool:
    """Tell whether the class of a tensor says what it is made anew of."""
    from ..nn import Parameter

    return type(tensor).__reduce_ex__ not in (Tensor.__reduce_ex__, Parameter.__reduce_ex__)


def _state_of(tensor: Tensor) -> Any:
    """Return the attributes of a tensor, or what its class says they are."""
    own = getattr(type(tensor), "__getstate__", None)
    if own is not None and own not in (
        getattr(object, "__getstate__", None),
        getattr(Tensor, "__getstate__", None),
    ):
        return own(tensor)
    attributes = dict(getattr(tensor, "__dict__", None) or {})
    names = _slotnames(type(tensor)) if type(tensor) is not Tensor else ()
    slots = {name: getattr(tensor, name) for name in names if hasattr(tensor, name)}
    return (attributes or None, slots) if slots else attributes or None


def made_of(
    tensor: Tensor, parts: Callable[[Tensor], tuple[Callable[..., Tensor], tuple[Any, ...]]]
) -> tuple[Any, ...]:
    """Take a tensor apart as torch does; `parts` says what makes its elements anew."""
    from ..nn import Parameter

    state, kind = _state_of(tensor), type(tensor)
    if Parameter in kind.__mro__:  # Of which class else is forgotten.
        hooks: OrderedDict[Any, Any] = OrderedDict()
        pieces = tensor.data, tensor.requires_grad, hooks
        return (_rebuild_parameter_with_state, (*pieces, state)) if state else (_rebuild_parameter, pieces)
    if _rushlight._has_no_data(tensor):
        form = tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.layout, tensor.device
        function, given = _rebuild_wrapper_subclass, (kind, tensor.dtype, *form, tensor.requires_grad)
    else:
        function, given = parts(tensor)
    if kind is Tensor and not state:
        return function, given
    return _rebuild_from_type_v2, (function, kind, given, state)


def reduced(tensor: Tensor) -> tuple[Any, ...]:
    """Take a tensor apart for a pickle that stands alone."""
    return made_of(tensor, parts)


def _rebuild_wrapper_subclass(
    cls: type[Tensor],
    dtype: Any,
    size: Any,
    stride: Any,
    storage_offset: int,
    layout: Any,
    device: Any,
    requires_grad: bool,
) -> Tensor:
    """Make a tensor without numbers of a class that has them elsewhere."""
    made: Tensor = Tensor._make_wrapper_subclass(
        cls,
        size,
        strides=stride,
        dtype=dtype,
        storage_offset=storage_offset,
        layout=layout,
        device=device,
        requires_grad=requires_grad,
    )
    return made


def _load_from_bytes(b: bytes) -> Any:
    """Read the memory of a tensor."""
    from .. import serialization

    return serialization.load(BytesIO(b), weights_only=False)


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """Make the tensor that shows memory in this way."""
    return _rebuild_tensor_v2(storage, storage_offset, size, stride, False, None)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Tensor:
    """Make the parameter of a tensor."""
    from ..nn import Parameter

    return Parameter(data, requires_grad)


def _rebuild_parameter_with_state(
    data: Tensor, requires_grad: bool, backward_hooks: Any, state: dict[str, Any]
) -> Tensor:
    """Make the parameter of a tensor, with attributes."""
    made = _rebuild_parameter(data, requires_grad, backward_hooks)
    made.__dict__.update(state)
    return made


def _rebuild_from_type_v2(
    func: Callable[..., Tensor], new_type: type[Tensor], args: tuple[Any, ...], state: Any
) -> Tensor:
    """Make a tensor of a class, with attributes."""
    made = func(*args)
    if type(made) is not new_type:
        made = made.as_subclass(new_type)
    own = getattr(type(made), "__setstate__", None)
    if own is not None and own is not getattr(Tensor, "__setstate__", None):
        made.__setstate__(state)  # type: ignore[attr-defined]
        return made
    attributes, slots = state if isinstance(state, tuple) else (state, {})
    made.__dict__.update(attributes or {})
    for name, value in (slots or {}).items():
        setattr(made, name, value)
    return made


def _get_layout(name: str) -> Any:
    """Return a layout by its name."""
    return getattr(sys.modules[_PACKAGE], name.removeprefix("torch."))


class _Functions(type):
    def __getattr__(cls, name: str) -> Any:
        from .._compat.absent_operators import operator

        for owner in (_rushlight, sys.modules[_PACKAGE], Tensor):
            if hasattr(owner, name):
                return getattr(owner, name)
        return operator(name)


class _VariableFunctionsClass(metaclass=_Functions):
    """Whose methods compiled functions are in torch's pickles."""


_VariableFunctions = _VariableFunctionsClass

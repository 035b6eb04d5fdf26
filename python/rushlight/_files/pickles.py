"""Plain pickles of tensors in torch's form: what a program writes that runs as torch, and what torch wrote.

The memory of a tensor is a file of its own in such a pickle, as `save` writes files.
"""

from __future__ import annotations

import sys
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from io import BytesIO
from typing import Any

from .. import _rushlight, serialization
from .._rushlight import Tensor
from .._tensors.typename import scalar_name
from .checkpoints import rebuild_tensor_v3

_PACKAGE = __package__.partition(".")[0]


class _Memory:
    """The elements that a tensor shows, on their way into a pickle."""

    def __init__(self, shown: Tensor) -> None:
        self.shown = shown

    def __reduce__(self) -> tuple[Any, ...]:
        # The pickle in that file, by hand: a storage of so many elements, which lie in the member "0".
        kind, count = f"torch\n{scalar_name(self.shown)}Storage", self.shown.numel()
        if not serialization.has_storage(self.shown.dtype):
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
    how = memory, 0, *shape, tensor.requires_grad, OrderedDict[Any, Any]()
    if not serialization.has_storage(tensor.dtype):
        return _rebuild_tensor_v3, (*how, tensor.dtype, *metadata)
    return _rebuild_tensor_v2, (*how, *metadata)


def reduced(tensor: Tensor) -> tuple[Any, ...]:
    """Take a tensor apart as torch does."""
    from ..nn import Parameter

    state = dict(getattr(tensor, "__dict__", None) or {})
    if type(tensor) is Tensor and not state:
        return parts(tensor)
    if type(tensor) is Parameter:
        made_of = tensor.data, tensor.requires_grad, OrderedDict[Any, Any]()
        return (_rebuild_parameter_with_state, (*made_of, state)) if state else (_rebuild_parameter, made_of)
    function, given = parts(tensor)
    return _rebuild_from_type_v2, (function, type(tensor), given, state)


def _load_from_bytes(b: bytes) -> Any:
    """Read the memory of a tensor."""
    return serialization.load(BytesIO(b), weights_only=False)


def _rebuild_tensor(storage: Any, storage_offset: int, size: Any, stride: Any) -> Tensor:
    """Make the tensor that shows memory in this way."""
    return _rebuild_tensor_v2(storage, storage_offset, size, stride, False, None)


def _rebuild_tensor_v2(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    metadata: Any = None,
) -> Tensor:
    """Make the tensor that shows memory in this way, as a leaf."""
    elements = storage if isinstance(storage, Tensor) else storage._shown
    how = storage_offset, size, stride, requires_grad, backward_hooks, metadata
    made: Tensor = serialization._NAMED["torch._utils", "_rebuild_tensor_v2"](elements, *how)
    return made


def _rebuild_tensor_v3(
    storage: Any,
    storage_offset: int,
    size: Any,
    stride: Any,
    requires_grad: bool,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Tensor:
    """Make the tensor that shows bytes as elements of a type that no storage is named for, as a leaf."""
    elements = storage if isinstance(storage, Tensor) else storage._shown
    how = storage_offset, size, stride, requires_grad, backward_hooks, dtype, metadata
    return rebuild_tensor_v3(elements, *how)


def _rebuild_parameter(data: Tensor, requires_grad: bool, backward_hooks: Any) -> Tensor:
    """Make the parameter of a tensor."""
    return serialization._rebuild_parameter(data, requires_grad, backward_hooks)


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
        return getattr(sys.modules[_PACKAGE], name)


class _VariableFunctionsClass(metaclass=_Functions):
    """Whose methods compiled functions are in torch's pickles."""

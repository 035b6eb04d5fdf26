"""What tensors were made with once: a class for each type of element, `new`, a default class."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Size, Tensor

if TYPE_CHECKING:
    from collections.abc import Iterable

# As options of a tensor name them.
_NAMES = {
    native.bfloat16: "c10::BFloat16",
    native.bool: "bool",
    native.complex64: "c10::complex<float>",
    native.complex128: "c10::complex<double>",
    native.float16: "c10::Half",
    native.float32: "float",
    native.float64: "double",
    native.int8: "signed char",
    native.int16: "short int",
    native.int32: "int",
    native.int64: "long int",
    native.uint8: "unsigned char",
}
_OPTIONS = (
    "TensorOptions(dtype={}, device=cpu, layout=Strided, requires_grad=false (default), "
    "pinned_memory=false (default), memory_format=(nullopt))"
)
_COMBINATIONS = (
    "new() received an invalid combination of arguments - got ({}), but expected one of:\n"
    " * (*, torch.device device = None)\n"
    "      didn't match because some of the keywords were incorrect: {}\n"
    " * (torch.Storage storage)\n * (Tensor other)\n * (tuple of ints size, *, torch.device device = None)\n"
    " * (object data, *, torch.device device = None)\n"
)
_DEPRECATED = (
    "torch.set_default_tensor_type() is deprecated as of PyTorch 2.1, please use torch.set_default_dtype() "
    "and torch.set_default_device() as alternatives."
)

_warned = False


class tensortype(type):
    """The class of `FloatTensor` and its like: tensors of a type are its instances, and it makes them."""

    __module__ = "rushlight"
    dtype: native.dtype
    is_cuda = False
    layout = native.strided

    def __call__(cls, *args: Any, **kwargs: Any) -> Tensor:
        return _make(cls.dtype, *args, **kwargs)

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.dtype is cls.dtype

    def __getattr__(cls, name: str) -> Any:
        if hasattr(Tensor, name):
            return getattr(Tensor, name)
        raise AttributeError(f"type object 'torch.{cls.__name__}' has no attribute '{name}'")


def _make(dtype: native.dtype, *args: Any, device: Any = None, **named: Any) -> Tensor:
    """Make a tensor of sizes, or of what a sequence holds."""
    if device is not None and native.device(device).type != "cpu":
        raise RuntimeError(
            f"legacy constructor expects device type: cpu but device type: {native.device(device).type} was "
            "passed"
        )
    for name in ("data", "size", "other"):
        if name in named and not args:
            args = (Size(named.pop(name)) if name == "size" else named.pop(name),)
    if len(args) == 1 and isinstance(args[0], Tensor) and not named:
        if args[0].dtype is not dtype:
            wanted, found = (_OPTIONS.format(_NAMES[one]) for one in (dtype, args[0].dtype))
            raise TypeError(f"expected {wanted} (got {found})")
        return Tensor(args[0])  # type: ignore[call-arg]
    if (
        len(args) == 1
        and not named
        and isinstance(args[0], Sequence)
        and not isinstance(args[0], (str, Size))
    ):
        return native.tensor(args[0], dtype=dtype)
    if len(args) == 1 and hasattr(args[0], "__array__"):
        return native.tensor(args[0], dtype=dtype)
    if named:
        given = [type(one).__name__ for one in args]
        given += [f"{name}={type(one).__name__}" for name, one in named.items()]
        raise TypeError(_COMBINATIONS.format(", ".join(given), ", ".join(named)))
    if len(args) == 1 and type(args[0]) is not int and not isinstance(args[0], Size):
        from ..storage import _Storage

        if isinstance(args[0], _Storage):
            return native.empty(0, dtype=dtype).set_(args[0])
        found = type(args[0]).__name__
        wrong = "invalid data type 'str'" if found == "str" else f"data must be a sequence (got {found})"
        raise TypeError(f"new(): {wrong}")
    for position, size in enumerate(args[1:], 2):
        if not isinstance(size, int):
            raise TypeError(
                f"new(): argument 'size' failed to unpack the object at pos {position} with error "
                f'"type must be tuple of ints,but got {type(size).__name__}"'
            )
    sizes = args[0] if args and isinstance(args[0], Size) else args or (0,)
    return native.empty(sizes, dtype=dtype)


def new(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Make a tensor of this one's type of sizes, or of what a sequence holds.

    >>> import rushlight as torch
    >>> torch.tensor([1, 2]).new([3.0])
    tensor([3])
    """
    return _make(self.dtype, *args, **kwargs)


def _class_of(name: str, dtype: native.dtype) -> tensortype:
    return tensortype(name, (), {"dtype": dtype, "__module__": "rushlight", "__doc__": None})


BFloat16Tensor = _class_of("BFloat16Tensor", native.bfloat16)
BoolTensor = _class_of("BoolTensor", native.bool)
ByteTensor = _class_of("ByteTensor", native.uint8)
CharTensor = _class_of("CharTensor", native.int8)
DoubleTensor = _class_of("DoubleTensor", native.float64)
FloatTensor = _class_of("FloatTensor", native.float32)
HalfTensor = _class_of("HalfTensor", native.float16)
IntTensor = _class_of("IntTensor", native.int32)
LongTensor = _class_of("LongTensor", native.int64)
ShortTensor = _class_of("ShortTensor", native.int16)


def set_default_tensor_type(t: Any, /) -> None:
    """Say of which type tensors of floating-point numbers are. Use `set_default_dtype`.

    >>> import rushlight as torch
    >>> torch.set_default_tensor_type(torch.DoubleTensor)
    >>> torch.tensor([0.5]).dtype
    torch.float64
    >>> torch.set_default_tensor_type(torch.FloatTensor)
    """
    global _warned
    if isinstance(t, str):
        place, _, name = t.rpartition(".")
        if place == "torch" and isinstance(globals().get(name), tensortype):
            t = globals()[name]
        else:
            from importlib import import_module

            t = getattr(import_module(place or name), name)
    if not isinstance(t, tensortype):
        raise TypeError("invalid type object: only floating-point types are supported as the default type")
    if not t.dtype.is_floating_point:
        raise TypeError("only floating-point types are supported as the default type")
    if not _warned:
        _warned = True
        warnings.warn(_DEPRECATED, UserWarning, stacklevel=2)
    native.set_default_dtype(t.dtype)


def resize(self: Tensor, *sizes: Any) -> Tensor:
    """Return this tensor in another shape. It is deprecated: use `reshape`."""
    warnings.warn("non-inplace resize is deprecated", stacklevel=3)
    return _resized(self, sizes)


def resize_as(self: Tensor, tensor: Tensor) -> Tensor:
    """Return this tensor in the shape of another. It is deprecated: use `reshape`."""
    warnings.warn("non-inplace resize_as is deprecated", stacklevel=3)
    return _resized(self, tensor.shape)


def _resized(self: Tensor, sizes: Iterable[int]) -> Tensor:
    shape = tuple(sizes)
    elements = 1
    for size in shape:
        elements = elements * size
    if elements != self.numel():
        wanted = "x".join(map(str, shape))
        had = "x".join(map(str, self.shape))
        raise RuntimeError(
            f"requested resize to {wanted} ({elements} elements in total), but the given tensor has a size "
            f"of {had} ({self.numel()} elements). autograd's resize can only change the shape of a given "
            "tensor, while preserving the number of elements. "
        )
    return self.contiguous().view(shape)


def module_load(self: Tensor, other: Tensor, assign: bool = False) -> Tensor:
    """Return what a parameter or buffer becomes when another tensor is loaded into it, as a new object."""
    return other.detach() if assign else self.copy_(other).detach()

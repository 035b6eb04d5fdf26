"""Tensors on the device `meta`: they have a form and no numbers, and operations on them give forms.

What form the result of an operation has is found by running it, on zeros of the same form: memory of zeros
takes room only where it is written to. Operations that write, and products that would take long, are not run.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from .wrappers import make_wrapper_subclass

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__: list[str] = []

META = native.device("meta")
_NO_DATA = "Cannot copy out of meta tensor; no data!"
_NO_ITEM = "Tensor.item() cannot be called on meta tensors"
# Tensors of more bytes have steps of zero beneath: there may be no such memory.
_MOST = 1 << 30


class MetaTensor(Tensor):
    """A tensor without numbers."""

    # The steps in memory, of a tensor that is too large to have memory of these beneath.
    _strides: tuple[int, ...] | None

    def __new__(cls, data: Any = None, requires_grad: bool = True, **_: Any) -> Any:
        """Make a parameter, as the class of one is called for."""
        from ..nn import Parameter

        return Parameter(data, requires_grad)

    def __init__(self, *_: Any, **__: Any) -> None:
        """Nothing is left to do."""

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        from .meta_forms import answer

        return answer(func, args, kwargs or {}, cls)

    @classmethod
    def __torch_function__(cls, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        from .._compat._C import DisableTorchFunctionSubclass
        from .meta_forms import as_one

        with DisableTorchFunctionSubclass():
            return as_one(func, args, kwargs or {}) if cls is MetaTensor else func(*args, **(kwargs or {}))

    device = property(lambda self: META)
    is_meta = property(lambda self: True)
    is_cpu = property(lambda self: False)

    def stride(self, dim: int | None = None) -> Any:
        """Return the steps in memory, if there were any."""
        strides = Tensor.stride(self) if self._strides is None else self._strides
        return strides if dim is None else strides[dim]

    def is_contiguous(self, memory_format: Any = native.contiguous_format) -> bool:
        """Tell whether elements would lie one after another."""
        if self._strides is None:
            return Tensor.is_contiguous(self, memory_format=memory_format)
        return self._strides == in_rows(self.shape)

    def get_device(self) -> int:
        """Return no number: there is one such device."""
        return -1

    def numpy(self, **_: Any) -> Any:
        """Refuse."""
        raise TypeError(
            "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host "
            "memory first."
        )

    def __array__(self, *_: Any, **__: Any) -> Any:
        return self.numpy()

    def tolist(self) -> Any:
        """Refuse."""
        raise NotImplementedError(_NO_DATA)

    def cpu(self, *_: Any, **__: Any) -> Any:
        """Refuse."""
        raise NotImplementedError(_NO_DATA)

    def item(self) -> Any:
        """Refuse."""
        if self.numel() != 1:
            raise RuntimeError(f"a Tensor with {self.numel()} elements cannot be converted to Scalar")
        raise RuntimeError(_NO_ITEM)

    def _number(self) -> Any:
        return self.item()

    __float__ = __int__ = __complex__ = __index__ = _number

    def __bool__(self) -> bool:
        if self.numel() != 1:
            words = "more than one value" if self.numel() else "no values"
            raise RuntimeError(f"Boolean value of Tensor with {words} is ambiguous")
        raise RuntimeError(_NO_ITEM)

    def to(self, *args: Any, **kwargs: Any) -> Any:
        """Return the form in another type; numbers, which another device wants, are not there."""
        device = kwargs.get("device")
        for one in args:
            if isinstance(one, (str, native.device)):
                device = one
            elif isinstance(one, Tensor):
                device = one.device
        if device is not None and native.device(device).type != "meta":
            raise NotImplementedError(_NO_DATA)
        dtype = kwargs.get("dtype")
        dtype = next(
            (getattr(one, "dtype", one) for one in args if isinstance(one, (Tensor, native.dtype))), dtype
        )
        order = kwargs.get("memory_format", native.preserve_format)
        must = kwargs.get("copy") or (len(args) > 2 and args[-1] is True)
        if order is native.preserve_format and dtype in (None, self.dtype) and not must:
            return self
        return Tensor.to(self, dtype or self.dtype, memory_format=order, copy=bool(must))

    def clone(self, *, memory_format: Any = native.preserve_format) -> Any:
        """Return the form in another order."""
        return Tensor.clone(self, memory_format=memory_format)

    def type(self, dtype: Any = None, non_blocking: bool = False) -> Any:
        """Return the name of the type, or the form in another type."""
        if dtype is None:
            return str(Tensor.type(self)).replace("torch.", "torch.meta.")
        return self.to(dtype)

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if not self.is_leaf:
            return Tensor.__deepcopy__(self, memo)
        if id(self) not in memo:
            made = without_data(self.shape, self.stride(), 0, self.dtype)
            vars(made).update({name: one for name, one in vars(self).items() if name != "_strides"})
            memo[id(self)] = made.requires_grad_(self.requires_grad)
        return memo[id(self)]

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        from .._utils import _rebuild_meta_tensor_no_storage

        return _rebuild_meta_tensor_no_storage, (self.dtype, self.size(), self.stride(), self.requires_grad)

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return self._text()

    def _text(self) -> str:
        from .._tensor_str import with_suffixes

        said = ["device='meta'", f"size={tuple(self.shape)}"]
        if self.dtype is not native.get_default_dtype():
            said.append(f"dtype={self.dtype}")
        if self.grad_fn is not None:
            said.append(f"grad_fn=<{type(self.grad_fn).__name__}>")
        elif self.requires_grad:
            said.append("requires_grad=True")
        text = with_suffixes("tensor(...", said, len("tensor("))
        begin = "Parameter containing:\n" if getattr(self, "_is_param", False) else ""
        return f"{begin}{text})"

    __str__ = __repr__

    def __format__(self, format_spec: str) -> str:
        return object.__format__(self, format_spec)


def _to(dtype: Any) -> Callable[..., Any]:
    return lambda self, **_: self.to(dtype)


def _unwritten(self: Any, *_: Any, **__: Any) -> Any:
    """Return the tensor: there is nothing to write to."""
    return self


for _name in ("bernoulli_", "exponential_", "fill_", "normal_", "random_", "uniform_", "zero_"):
    setattr(MetaTensor, _name, _unwritten)
for _name, _dtype in {
    "double": native.float64,
    "float": native.float32,
    "half": native.float16,
    "bfloat16": native.bfloat16,
    "bool": native.bool,
    "byte": native.uint8,
    "char": native.int8,
    "short": native.int16,
    "chalf": native.complex32,
    "cfloat": native.complex64,
    "cdouble": native.complex128,
    "int": native.int32,
    "long": native.int64,
}.items():
    setattr(MetaTensor, _name, _to(_dtype))

MetaTensor.__name__ = MetaTensor.__qualname__ = "Tensor"


def in_rows(size: Sequence[int]) -> tuple[int, ...]:
    """Return the steps of elements that lie one after another."""
    steps, step = [], 1
    for length in reversed(size):
        steps.append(step)
        step *= max(length, 1)
    return tuple(steps[::-1])


def without_data(
    size: Sequence[int],
    strides: Sequence[int] | None = None,
    offset: int = 0,
    dtype: Any = None,
    cls: Any = MetaTensor,
) -> Any:
    """Make a tensor of a form."""
    size = tuple(size)
    strides = in_rows(size) if strides is None else tuple(strides)
    dtype = dtype or native.get_default_dtype()
    reach = (
        1 + offset + sum((length - 1) * step for length, step in zip(size, strides, strict=True) if length)
    )
    is_large = reach * dtype.itemsize > _MOST
    beneath, start = ((0,) * len(size), 0) if is_large else (strides, offset)
    made = make_wrapper_subclass(cls, size, strides=beneath, storage_offset=start, dtype=dtype)
    made._strides = strides if is_large else None
    return made


def of_form(tensor: Tensor, dtype: Any = None) -> Any:
    """Make a tensor of the form of another."""
    return without_data(tensor.shape, tensor.stride(), 0, dtype or tensor.dtype)


def called(func: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Answer a call of a function of the engine that names the device."""
    name = func.__name__
    rest = {key: value for key, value in kwargs.items() if key != "device"}
    requires_grad = rest.pop("requires_grad", False)
    if name in ("to", "_to_copy"):
        left = [one for one in args[1:] if not isinstance(one, (str, native.device))]
        if "device" not in kwargs and len(left) == len(args) - 1:
            return NotImplemented
        dtype = rest.get("dtype") or next((one for one in left if isinstance(one, native.dtype)), None)
        if rest.get("memory_format", native.preserve_format) is not native.preserve_format:
            return of_form(native.empty_like(args[0], dtype=dtype, memory_format=rest["memory_format"]))
        return moved(args[0], dtype)
    if "device" not in kwargs:
        return NotImplemented
    if name in (
        "tensor",
        "as_tensor",
        "asarray",
        "scalar_tensor",
        "from_file",
        "arange",
        "linspace",
        "logspace",
    ):
        made = of_form(func(*args, **rest))
    elif name.endswith("_like"):
        made = of_form(native.empty_like(args[0], **_only(rest, "dtype", "memory_format")))
    else:
        made = _sized(name, args, rest, func)
    return made.requires_grad_(requires_grad)


def moved(tensor: Any, dtype: Any = None) -> Any:
    """Return the form of a tensor, with its history."""
    from ..autograd import Function

    class ToCopy(Function):
        @staticmethod
        def forward(ctx: Any, source: Tensor) -> Any:
            return of_form(native.empty_like(source), dtype)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            raise NotImplementedError(_NO_DATA)

    if not tensor.requires_grad:
        return of_form(native.empty_like(tensor), dtype)
    ToCopy._backward_cls.__name__ = "ToCopyBackward0"
    return ToCopy.apply(tensor)


def _only(given: dict[str, Any], *names: str) -> dict[str, Any]:
    return {name: given[name] for name in names if given.get(name) is not None}


def _sized(name: str, args: tuple[Any, ...], rest: dict[str, Any], func: Callable[..., Any]) -> Any:
    """Make a tensor by a function that is given sizes."""
    dtype = rest.get("dtype")
    if name.startswith("new_"):
        dtype, args = dtype or args[0].dtype, args[1:]
    given: Any = rest.get("size", rest.get("shape"))
    if name in ("randint", "random"):
        given, dtype = (
            next(one for one in (*args[::-1], given) if isinstance(one, (tuple, list))),
            dtype or native.int64,
        )
    elif given is None and args:
        given = args[0] if isinstance(args[0], (tuple, list)) else args
    if name == "eye":
        given = (*args[:2], args[0])[:2]
    elif name in ("empty_strided", "new_empty_strided"):
        strides = args[1] if len(args) > 1 else rest["stride"]
        return without_data(given, strides, 0, dtype)
    elif name in ("full", "new_full"):
        value = args[1] if len(args) > 1 else rest["fill_value"]
        given, dtype = args[0] if args else given, dtype or native.tensor(value).dtype
    elif name in ("randperm", "tril_indices", "triu_indices", "bartlett_window", "hann_window", "range"):
        return of_form(func(*args, **rest))
    order = rest.get("memory_format")
    if order is not None:
        return of_form(native.empty(tuple(given), dtype=dtype, memory_format=order))
    if any(int(length) < 0 for length in given):
        native.empty(tuple(given))
    return without_data([int(length) for length in given], None, 0, dtype)

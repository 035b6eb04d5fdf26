"""Parameters and buffers without a shape, as lazy modules have them before they see their first input.

They want to see every call, to refuse it: with them there every call with a parameter is looked at twice. So
this is loaded when somebody asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, empty
from .parameter import Parameter

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["UninitializedBuffer", "UninitializedParameter", "UninitializedTensorMixin", "is_lazy"]

_WITHOUT_SHAPE = (
    "Can't access the shape of an uninitialized parameter or buffer. This error usually happens in "
    "`load_state_dict` when trying to load an uninitialized parameter into an initialized one. Call "
    "`forward` to initialize the parameters before accessing their attributes."
)
_WITHOUT_VALUE = (
    "Attempted to use an uninitialized parameter in {}. This error happens when you are using a `LazyModule` "
    "or explicitly manipulating `torch.nn.parameter.UninitializedParameter` objects. When using LazyModules "
    "Call `forward` with a dummy batch to initialize the parameters before calling torch functions"
)


class UninitializedTensorMixin:
    """What has no shape before it is made from the first input that comes by."""

    cls_to_become: type
    data: Any
    _may = frozenset(
        {"__hash__", "size", "copy_", "is_floating_point", "is_complex", "half", "float", "double", "char"}
        | {"short", "int", "long", "cuda", "cpu", "to", "get_device", "_has_compatible_shallow_copy_type"}
    )

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Get a shape, and become what this stands for."""
        self.data = empty(shape, dtype=self.data.dtype if dtype is None else dtype)
        self.__class__ = self.cls_to_become

    @property
    def shape(self) -> Any:
        """Refuse: there is none yet."""
        raise RuntimeError(_WITHOUT_SHAPE)

    def __repr__(self) -> str:
        return f"<{type(self).__name__}>"

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.requires_grad,)  # type: ignore[attr-defined]

    def share_memory_(self) -> None:
        """Refuse: there is no memory."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to initialize the "
            "parameters before calling `module.share_memory()`."
        )

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func.__name__ in cls._may or func.__name__ in ("__get__", "__set__"):
            # What a buffer is converted to has no shape either.
            return super().__torch_function__(func, types, args, kwargs or {})  # type: ignore[misc]
        raise ValueError(_WITHOUT_VALUE.format(func))


class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter without a shape; a lazy module gives it one when it sees its first input."""

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Self:
        """Make a parameter without a shape."""
        made: Self = Tensor._make_subclass(cls, empty(0, dtype=dtype), requires_grad)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        found = memo.get(id(self))
        if found is None:
            found = memo[id(self)] = type(self)(self.requires_grad, dtype=self.data.dtype)
        copied: Self = found
        return copied


class UninitializedBuffer(UninitializedTensorMixin, Tensor):  # type: ignore[misc]
    """A buffer without a shape; a lazy module gives it one when it sees its first input."""

    cls_to_become = Tensor

    def __new__(
        cls, requires_grad: bool = False, device: Any = None, dtype: Any = None, persistent: bool = True
    ) -> Self:
        """Make a buffer without a shape."""
        made: Any = Tensor._make_subclass(cls, empty(0, dtype=dtype), requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        buffer: Self = made
        return buffer


def is_lazy(param: Any) -> bool:
    """Return whether a tensor has no shape yet."""
    return isinstance(param, UninitializedTensorMixin)


# Where they are known from.
for _class in (UninitializedTensorMixin, UninitializedParameter, UninitializedBuffer):
    _class.__module__ = Parameter.__module__
del _class

"""`Parameter` and `Buffer`, which a module registers as its own, and those of them that have no shape yet."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, _disabled_torch_function_impl, empty

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["Buffer", "Parameter", "UninitializedBuffer", "UninitializedParameter"]


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        """A tensor of another class is a parameter too, if it was made one."""
        if super().__instancecheck__(instance):
            return True
        return cls is Parameter and isinstance(instance, Tensor) and getattr(instance, "_is_param", False)


class Parameter(Tensor, metaclass=_ParameterMeta):
    """A tensor that is a module's parameter as soon as it is assigned to an attribute of it.

    >>> import rushlight as torch
    >>> torch.nn.Parameter(torch.zeros(2))
    Parameter containing:
    tensor([0., 0.], requires_grad=True)
    """

    # Modules compute with parameters as with any tensor; results are no parameters.
    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, data: Tensor | None = None, requires_grad: bool = True) -> Self:
        """Make a leaf that shares the memory of `data`; of another class of tensors, one of that class."""
        if data is not None and not (type(data) is Tensor or isinstance(data, Parameter)):
            of_its_class: Self = _of_its_class(data, requires_grad)
            return of_its_class
        made: Self = Tensor._make_subclass(cls, (empty(0) if data is None else data).detach(), requires_grad)
        return made

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        found = memo.get(id(self))
        if found is None:
            found = memo[id(self)] = type(self)(self.data.clone(), self.requires_grad)
        copied: Self = found
        return copied

    def __repr__(self) -> str:
        return f"Parameter containing:\n{self.detach().requires_grad_(self.requires_grad)!r}"

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return type(self), (self.data, self.requires_grad), vars(self) or None


def _of_its_class(data: Any, requires_grad: bool) -> Any:
    """Make a parameter that stays what it is."""
    made = data.detach().requires_grad_(requires_grad)
    if type(made) is not type(data):
        raise RuntimeError(
            f"Creating a Parameter from an instance of type {type(data).__name__} requires that detach() "
            f"returns an instance of the same type, but return type {type(made).__name__} was found instead. "
            "To use the type as a Parameter, please correct the detach() semantics defined by its "
            "__torch_dispatch__() implementation."
        )
    made._is_param = True
    return made


class _BufferType(type):
    def __instancecheck__(self, instance: Any) -> bool:
        if self is Buffer:
            return isinstance(instance, Tensor) and getattr(instance, "_is_buffer", False)
        return super().__instancecheck__(instance)


class Buffer(Tensor, metaclass=_BufferType):
    """A tensor that is a module's buffer as soon as it is assigned to an attribute of it.

    >>> import rushlight as torch
    >>> module = torch.nn.Module()
    >>> module.mean = torch.nn.Buffer(torch.zeros(2))
    >>> [name for name, _ in module.named_buffers()]
    ['mean']
    """

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:  # type: ignore[misc]
        """Return a tensor that shares the memory of `data`, with a mark on it."""
        data = empty(0) if data is None else data
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        marked: Tensor = made
        return marked


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


class _Uninitialized:
    """What has no shape before it is made from the first input that comes by."""

    cls_to_become: type
    data: Any
    _may = frozenset(
        {"requires_grad_", "is_floating_point", "is_complex", "half", "float", "double", "short", "int"}
        | {"long", "cuda", "cpu", "to", "get_device", "_has_compatible_shallow_copy_type", "has_names"}
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
        if func.__name__ in cls._may or func.__name__ in ("__get__", "__set__", "detach"):
            return _disabled_torch_function_impl(func, types, args, kwargs or {})
        raise ValueError(_WITHOUT_VALUE.format(func))


class UninitializedParameter(_Uninitialized, Parameter):  # type: ignore[misc]
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


class UninitializedBuffer(_Uninitialized, Tensor):
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
    return isinstance(param, _Uninitialized)

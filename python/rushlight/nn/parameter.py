"""`Parameter` and `Buffer`, which a module registers as its own. `uninitialized` has those without shapes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._files.torch_names import is_torch
from .._lazy import on_first_use
from .._rushlight import Tensor, _disabled_torch_function_impl, empty

if TYPE_CHECKING:
    from typing_extensions import Self

    from .uninitialized import (
        UninitializedBuffer,
        UninitializedParameter,
        UninitializedTensorMixin,
        is_lazy,
    )

__all__ = [
    "Buffer",
    "Parameter",
    "UninitializedBuffer",
    "UninitializedParameter",
    "UninitializedTensorMixin",
    "is_lazy",
]


class _ParameterMeta(type(Tensor)):  # type: ignore[misc]
    def __instancecheck__(cls, instance: Any) -> bool:
        """Tell whether it is a parameter; a tensor of another class is one too, if it was made one."""
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
        if type(self) is not Parameter:
            return f"Parameter containing:\nParameter({Tensor.__repr__(self)})"
        from ..autograd.grad_mode import inference_mode

        # Outside of inference mode what was made inside cannot be made to require grad.
        with inference_mode(self.is_inference()):
            shown = Tensor._make_subclass(Tensor, self.detach(), self.requires_grad)
            return f"Parameter containing:\n{shown!r}"

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        if is_torch() and type(self) is Parameter:
            from .._files.pickles import reduced

            return reduced(self)
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

    __torch_function__ = _disabled_torch_function_impl  # type: ignore[assignment]

    def __new__(cls, data: Tensor | None = None, *, persistent: bool = True) -> Tensor:  # type: ignore[misc]
        """Return a tensor that shares the memory of `data`, with a mark on it."""
        data = empty(0) if data is None else data
        made: Any = data.detach().requires_grad_(data.requires_grad)
        made.persistent = persistent
        made._is_buffer = True
        marked: Tensor = made
        return marked


__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        ".uninitialized": "UninitializedBuffer UninitializedParameter UninitializedTensorMixin is_lazy",
    },
)

"""Operators that take functions, as programs make them: `torch._ops.HigherOrderOperator`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["HigherOrderOperator"]

# What computes an operator, the first that there is. Autograd and transforms follow what it does.
_COMPUTING = (
    *("AutogradCPU", "Autograd", "CompositeExplicitAutograd", "CompositeImplicitAutograd", "CPU"),
    *("BackendSelect", "ADInplaceOrView"),
)


class HigherOrderOperator(ABC):
    """An operator that is known by what computes it where: for keys, and for modes that see operations.

    >>> import rushlight as torch
    >>> from rushlight._ops import HigherOrderOperator
    >>> class Twice(HigherOrderOperator):
    ...     def __init__(self):
    ...         super().__init__("twice")
    ...
    ...     def __call__(self, function, x):
    ...         return super().__call__(function, x)
    >>> twice = Twice()
    >>> @twice.py_impl(torch._C.DispatchKey.CompositeExplicitAutograd)
    ... def compute(function, x):
    ...     return function(function(x))
    >>> twice(torch.exp, torch.zeros(1))
    tensor([2.7183])
    """

    def __init__(self, name: str, *, cacheable: bool = False) -> None:
        self._name = self.__name__ = name
        self.namespace = "higher_order"
        self._cacheable = cacheable
        self.py_kernels: dict[Any, Callable[..., Any]] = {}
        self.non_fallthrough_keys: Any = None

    def name(self) -> str:
        """Return the name."""
        return self._name

    def cacheable(self) -> bool:
        """Tell whether graphs with it may be kept in files."""
        return self._cacheable

    def py_impl(self, k: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Have a function compute the operator for a key, in a mode, or inside of a transform."""

        def register(function: Callable[..., Any]) -> Callable[..., Any]:
            self.py_kernels[k] = function
            return function

        return register

    def py_functionalize_impl(self, fn: Callable[..., Any]) -> Callable[..., Any]:
        """Have a function compute the operator where writes are taken out, which nothing here has to."""
        return fn

    @abstractmethod
    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:
        """Compute it."""
        from ...utils._python_dispatch import _get_current_dispatch_mode

        mode = _get_current_dispatch_mode()
        if mode is not None and (kernel := self.py_kernels.get(type(mode))) is not None:
            return kernel(mode, *args, **kwargs)
        by_name = {getattr(key, "name", None): kernel for key, kernel in self.py_kernels.items()}
        kernel = next((by_name[key] for key in _COMPUTING if key in by_name), None)
        if kernel is None:
            raise NotImplementedError(f"could not find kernel for HigherOrderOperator {self._name}")
        return kernel(*args, **kwargs)

    def __str__(self) -> str:
        return self._name

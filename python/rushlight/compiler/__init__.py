"""What programs tell the compiler, and ask it: see `compile`.

>>> import rushlight as torch
>>> torch.compiler.is_compiling()
False
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._calls.compiled import compile
from .._lazy import on_first_use

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "compile",
    "cudagraph_mark_step_begin",
    "disable",
    "explain",
    "export",
    "get_default_backend",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "list_backends",
    "load",
    "nested_compile_region",
    "repeat",
    "reset",
    "set_default_backend",
    "set_stance",
    "substitute_in_graph",
    "wrap_numpy",
]


__getattr__, __dir__ = on_first_use(
    globals(),
    rooms={"config"},
    places={
        ".explanation": "explain",
        ".exporting": "export load",
        ".repetition": "repeat",
        ".stance": "set_stance",
    },
)


def is_compiling() -> bool:
    """Tell whether a function is being compiled: never."""
    return False


is_dynamo_compiling = is_exporting = is_compiling


def allow_in_graph(fn: Any) -> Any:
    """Return the function, which is called as it is."""
    return fn


assume_constant_result = allow_in_graph


def disable(fn: Any = None, recursive: bool = True, *, reason: str | None = None) -> Any:
    """Return the function, which is not compiled; without one, a decorator."""

    def same(function: Callable[..., Any]) -> Callable[..., Any]:
        return function

    return same if fn is None else fn


def reset() -> None:
    """Forget what was recorded of all functions."""
    from .function import Function

    for function in list(Function.all):
        function.forget()


def cudagraph_mark_step_begin() -> None:
    """Say that a step begins."""


def list_backends(exclude_tags: Any = ("debug", "experimental")) -> list[str]:
    """Name the compilers that could be chosen: there is one way here, whatever is named."""
    from .._compat._dynamo import list_backends as listed

    return listed(exclude_tags)


_default_backend: Any = "inductor"


def get_default_backend() -> Any:
    """Return the compiler that is taken where none is named.

    >>> import rushlight as torch
    >>> torch.compiler.get_default_backend()
    'inductor'
    """
    return _default_backend


def set_default_backend(backend: Any) -> None:
    """Name the compiler that is to be taken where none is named; `None` is the first again."""
    global _default_backend
    _default_backend = "inductor" if backend is None else backend


def nested_compile_region(fn: Any = None, **options: Any) -> Any:
    """Return the function, which torch would compile once for all its calls; without one, a decorator."""
    return disable(fn)


def substitute_in_graph(
    original_fn: Any, *, can_constant_fold_through: bool = False, skip_signature_check: bool = False, **_: Any
) -> Any:
    """Return a decorator for what a compiler would see in the place of a function: here it sees all of it."""
    return disable()


def wrap_numpy(fn: Callable[..., Any]) -> Callable[..., Any]:
    """Make a function of arrays one of tensors, and of what it answers tensors again.

    >>> import numpy, rushlight as torch
    >>> torch.compiler.wrap_numpy(numpy.cumsum)(torch.ones(3))
    tensor([1., 2., 3.])
    """
    from functools import wraps

    import numpy

    from .._rushlight import Tensor, from_numpy
    from ..utils._pytree import tree_map_only

    @wraps(fn)
    def of_tensors(*args: Any, **kwargs: Any) -> Any:
        args, kwargs = tree_map_only(Tensor, lambda tensor: tensor.numpy(), (args, kwargs))
        return tree_map_only(numpy.ndarray, from_numpy, fn(*args, **kwargs))

    return of_tensors

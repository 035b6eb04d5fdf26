"""Decorators of functions that show their calls: to classes that have `__torch_function__`, and to modes.

A function that torch, too, writes in Python is `shown`: to those arguments that are annotated as tensors, or
to those that `shown_to` names; all arguments are handed on, those with a default by their names. What torch
has compiled is `shown_as_given`: to any argument, and handed on as it came. It refuses arguments in the words
of compiled functions, by its annotations, or by the forms that it is `taking`.
"""

from __future__ import annotations

from .._rushlight import _shown, _shown_as_method

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TypeVar

    Function = TypeVar("Function", bound=Callable[..., Any])

shown = _shown
shown_as_method = _shown_as_method


def shown_to(names: str) -> Callable[[Function], Function]:
    """Decorate a function that shows its calls to the arguments of these names."""
    return lambda function: _shown(function, names)


def shown_with(with_indices: Any) -> Callable[[Function], Function]:
    """Decorate a function whose call is shown as one of `with_indices` where `return_indices` is true."""

    def decorate(function: Function) -> Any:
        found: Any = _shown(function)
        found._with_indices = with_indices
        return found

    return decorate


def shown_like(function: Any, form: Any, owner: str = "") -> Any:
    """Return a function that shows its calls as one with the parameters of `form` does: see `_written`.

    `owner` is the class of a method, with a dot.
    """
    form.__qualname__, form.__doc__ = owner + form.__name__, function.__doc__
    form.__module__ = __package__ + (".._tensor" if owner else "")
    return _shown(function, like=form)


def shown_as_given(function: Function) -> Function:
    """Decorate a function that hands on its arguments as they came."""
    return _shown(function, as_given=True)


def taking(*forms: str) -> Callable[[Function], Function]:
    """Decorate a function that hands on its arguments as they came, and takes them in any of these forms."""
    return lambda function: _shown(function, as_given=True, forms=forms)

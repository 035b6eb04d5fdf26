"""Functions of devices that are not there: each says so when it is called."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def refusing(module: dict[str, Any], names: str, error: type[Exception], text: str) -> None:
    """Put functions of these names into a module, whose globals are `module`; a call of any is an error.

    `{}` in the text is what stands behind a name, if something does: `synchronize:deviceSynchronize`.
    """
    for entry in names.split():
        name, _, inner = entry.partition(":")
        module[name] = _refusal(name, module["__name__"], error, text.format(inner))


def idle(module: dict[str, Any], answers: dict[str, Any]) -> None:
    """Put functions into a module that do nothing; `answers` says which of them there are for each answer."""
    for names, answer in answers.items():
        for name in names.split():
            module[name] = _constant(name, module["__name__"], answer)


def _refusal(name: str, place: str, error: type[Exception], text: str) -> Callable[..., Any]:
    def refuse(*args: Any, **kwargs: Any) -> Any:
        raise error(text)

    return _named(refuse, name, place, "An error: there is no such device.")


def _constant(name: str, place: str, answer: Any) -> Callable[..., Any]:
    def give(*args: Any, **kwargs: Any) -> Any:
        return answer() if isinstance(answer, type) else answer

    return _named(give, name, place, "Ask or tell a device that is not there.")


def _named(function: Callable[..., Any], name: str, place: str, text: str) -> Callable[..., Any]:
    function.__name__ = function.__qualname__ = name
    function.__module__ = place
    function.__doc__ = text
    return function


class Unavailable:
    """An object of a device that cannot be made where the device is not."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        """Refuse."""
        raise RuntimeError(f"Tried to instantiate dummy base class {cls.__name__}")


class Switch:
    """A block that would run on another device, and runs where it is."""

    def __init__(self, what: Any = None) -> None:
        self.what = what

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        pass

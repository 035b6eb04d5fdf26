"""How functions of the compiled module refuse arguments that they are not made for."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


def mismatch(name: str, form: str, *given: object) -> TypeError:
    """Return the error for a call that is not of the form that the function has."""
    return TypeError(
        f"{name}(): incompatible function arguments. The following argument types are supported:\n"
        f"    1. {form}\n\nInvoked with: {', '.join(map(repr, given))}"
    )


def of_tensor(answer: str) -> Callable[[Callable[[Any], Any]], Callable[[Any], Any]]:
    """Make a function refuse what is no tensor, in words that say what it answers."""
    from ..._rushlight import Tensor

    def checked(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
        name = function.__name__

        def of_any(tensor: Any) -> Any:
            if not isinstance(tensor, Tensor):
                raise mismatch(name, f"(arg0: torch.Tensor) -> {answer}", tensor)
            return function(tensor)

        of_any.__name__, of_any.__doc__ = name, function.__doc__
        return of_any

    return checked

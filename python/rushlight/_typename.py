"""The name of an object's type, as error texts give it."""

from __future__ import annotations

from ._rushlight import Tensor


def typename(value: object) -> str:
    """Return the full name of the type of `value`; builtins go without their module.

    >>> from rushlight._typename import typename
    >>> typename(3)
    'int'
    """
    if isinstance(value, Tensor):
        return str(value.type())
    found = value if isinstance(value, type) or callable(value) else type(value)
    module = getattr(found, "__module__", None)
    name = getattr(found, "__qualname__", type(found).__qualname__)
    return name if module in (None, "", "builtins") else f"{module}.{name}"

"""The name of an object's type, and of a tensor's elements, as error texts give them."""

from __future__ import annotations

from .._rushlight import Tensor


def typename(obj: object) -> str:
    """Return the full name of the type of `obj`; builtins go without their module.

    >>> from rushlight._tensors.typename import typename
    >>> typename(3)
    'int'
    """
    if isinstance(obj, Tensor):
        return str(obj.type())
    found = obj if isinstance(obj, type) or callable(obj) else type(obj)
    module = getattr(found, "__module__", None)
    name = getattr(found, "__qualname__", type(found).__qualname__)
    return name if module in (None, "", "builtins") else f"{module}.{name}"


def scalar_name(x: Tensor) -> str:
    """Return the name of the type of a tensor's elements.

    >>> import rushlight as torch
    >>> from rushlight._tensors.typename import scalar_name
    >>> scalar_name(torch.zeros(1))
    'Float'
    """
    return str(x.type()).rpartition(".")[2].removesuffix("Tensor")

"""Modules made of parameters: a list, a dictionary."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ..parameter import Parameter
from .containers import _from_start, pairs
from .module import Module

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ParameterDict", "ParameterList"]


def _line(key: Any, value: Any, kind: str) -> str:
    """Describe one entry of a collection of parameters."""
    if not isinstance(value, Tensor):
        return f"  ({key}): Object of type: {type(value).__name__}"
    what = "Parameter" if isinstance(value, Parameter) else "Tensor"
    size = "x".join(str(length) for length in value.shape)
    return f"  ({key}): {what} containing: [{kind or value.dtype} of size {size}]"


class ParameterList(Module):
    """Parameters in a list; tensors that are put in become parameters.

    >>> import rushlight as torch
    >>> parameters = torch.nn.ParameterList([torch.zeros(2)])
    >>> len(parameters), type(parameters[0]).__name__
    (1, 'Parameter')
    """

    def __init__(self, values: Iterable[Any] | None = None) -> None:
        super().__init__()
        self._size = 0
        if values is not None:
            self += values

    def _get_abs_string_index(self, position: Any) -> str:
        """Return the name of what stands at a position; classes built on this one ask for it so."""
        return str(_from_start(position, len(self)))

    def __getitem__(self, position: Any) -> Any:
        if isinstance(position, slice):
            kept = type(self)()
            for number in range(*position.indices(len(self))):
                kept.append(self[number])
            return kept
        return getattr(self, self._get_abs_string_index(position))

    def __setitem__(self, position: int, value: Any) -> None:
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, self._get_abs_string_index(position), value)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Any]:
        return iter([self[number] for number in range(len(self))])

    def __iadd__(self, values: Iterable[Any]) -> Self:
        return self.extend(values)

    def append(self, value: Any) -> Self:
        """Add a value at the end."""
        self._size += 1
        self[self._size - 1] = value
        return self

    def extend(self, values: Iterable[Any]) -> Self:
        """Add several values at the end."""
        if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__") or isinstance(values, Tensor):
            raise TypeError(
                f"ParameterList.extend should be called with an iterable, but got {type(values).__name__}"
            )
        for value in values:
            self.append(value)
        return self

    def extra_repr(self) -> str:
        """Show one line for each value."""
        return "\n".join(_line(key, value, "") for key, value in enumerate(self))

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a list computes nothing."""
        raise RuntimeError("ParameterList should not be called.")


class ParameterDict(Module):
    """Parameters by name; tensors that are put in become parameters.

    >>> import rushlight as torch
    >>> list(torch.nn.ParameterDict({"scale": torch.ones(1)}))
    ['scale']
    """

    def __init__(self, parameters: Any = None) -> None:
        super().__init__()
        self._keys: dict[str, None] = {}
        if parameters is not None:
            self.update(parameters)

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)

    def __setitem__(self, key: str, value: Any) -> None:
        if not isinstance(key, str):
            raise TypeError(
                f"Index given to ParameterDict cannot be used as a key as it is not a "
                f"string (type is '{type(key).__name__}'). Open an issue on github if you "
                f"need non-string keys."
            )
        self._keys[key] = None
        if isinstance(value, Tensor) and not isinstance(value, Parameter):
            value = Parameter(value)
        setattr(self, key, value)

    def __delitem__(self, key: str) -> None:
        del self._keys[key]
        delattr(self, key)

    def __len__(self) -> int:
        return len(self._keys)

    def __iter__(self) -> Iterator[str]:
        return iter(self._keys)

    def __reversed__(self) -> Iterator[str]:
        return reversed(list(self._keys))

    def __contains__(self, key: object) -> bool:
        return key in self._keys

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._keys.keys()

    def values(self) -> Iterable[Any]:
        """Return the values."""
        return [self[key] for key in self._keys]

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return names with values."""
        return [(key, self[key]) for key in self._keys]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of that name, or `default`."""
        return self[key] if key in self else default  # noqa: SIM401 - this is `get`

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of that name, which is `default` from now on if there was none."""
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: str) -> Any:
        """Take a value out and return it."""
        value = self[key]
        del self[key]
        return value

    def popitem(self) -> tuple[str, Any]:
        """Take the last name and value out and return them."""
        key = next(reversed(self))
        return key, self.pop(key)

    def copy(self) -> ParameterDict:
        """Return another dictionary of the same values."""
        return ParameterDict(OrderedDict(self.items()))

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def update(self, parameters: Any) -> None:
        """Add the entries of a mapping, or pairs of names and values.

        Those of a plain dictionary are added in the order of their names.
        """
        if isinstance(parameters, Mapping) and not isinstance(parameters, OrderedDict):
            parameters = sorted(parameters.items())
        for key, value in pairs(parameters, "ParameterDict", "ParametersDict"):
            self[key] = value

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a dictionary that has `default` under each of these names."""
        return ParameterDict((key, default) for key in keys)

    def __or__(self, other: Any) -> ParameterDict:
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: Any) -> Any:
        joined = other.copy()
        joined.update(self)
        return joined

    def __ior__(self, other: Any) -> Self:
        self.update(other)
        return self

    def extra_repr(self) -> str:
        """Show one line for each value."""

        def kind(value: Any) -> str:
            return str(value.type()) if isinstance(value, Tensor) else ""

        return "\n".join(_line(key, value, kind(value)) for key, value in self.items())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse: a dictionary computes nothing."""
        raise RuntimeError("ParameterDict should not be called.")

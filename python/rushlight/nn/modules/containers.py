"""Modules made of modules: a chain, a list, a dictionary."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from operator import index as as_index
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ..parameter import Parameter
from .module import Module, _indent

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ModuleDict", "ModuleList", "ParameterDict", "ParameterList", "Sequential"]


def _from_start(position: Any, size: int) -> int:
    """Count a position in a row of that size from the start."""
    number = as_index(position)
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of range")
    return number % size


class _Numbered(Module):
    """Children in a row; numbers are their names unless others were given."""

    def _replace(self, modules: Iterable[Module]) -> None:
        self._modules.clear()
        for position, module in enumerate(modules):
            self.add_module(str(position), module)

    def _get_abs_string_index(self, position: Any) -> str:
        """Return the name of what stands at a position; classes built on this one ask for it so."""
        return list(self._modules)[_from_start(position, len(self))]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._modules.values())

    def __setitem__(self, position: int, module: Module) -> None:
        setattr(self, self._get_abs_string_index(position), module)

    def append(self, module: Module) -> Self:
        """Add a module at the end."""
        self.add_module(str(len(self)), module)
        return self

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at `index`; the names become numbers again."""
        modules: list[Any] = list(self)
        modules.insert(index, module)
        self._replace(modules)
        return self

    def pop(self, key: int) -> Any:
        """Take a module out and return it."""
        module = self._modules[self._get_abs_string_index(key)]
        del self[key]
        return module

    def __delitem__(self, position: int | slice) -> None:
        names = (
            list(self._modules)[position]
            if isinstance(position, slice)
            else [self._get_abs_string_index(position)]
        )
        self._replace([module for name, module in self._modules.items() if name not in names])  # type: ignore[misc]


class Sequential(_Numbered):
    """A chain: every module is called with the result of the one before it.

    >>> import rushlight as torch
    >>> torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    Sequential(
      (0): Linear(in_features=2, out_features=3, bias=True)
      (1): ReLU()
    )
    """

    def __init__(self, *args: Any) -> None:
        super().__init__()
        named = args[0].items() if len(args) == 1 and isinstance(args[0], dict) else enumerate(args)
        for name, module in named:
            self.add_module(str(name) if isinstance(name, int) else name, module)

    def forward(self, input: Any) -> Any:
        """Send `input` through the chain."""
        for module in self._modules.values():
            input = module(input)  # type: ignore[misc]
        return input

    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return type(self)(dict(list(self._modules.items())[position]))
        return self._modules[self._get_abs_string_index(position)]

    def insert(self, index: int, module: Module) -> Self:
        """Put a module before the one at `index`."""
        if not isinstance(module, Module):
            raise AssertionError(f"module should be of type: {Module}")
        if not -len(self) <= index <= len(self):
            raise IndexError(f"Index out of range: {index}")
        return super().insert(index, module)

    def extend(self, sequential: Iterable[Module]) -> Self:
        """Add modules at the end."""
        for module in sequential:
            self.append(module)
        return self

    def __add__(self, other: Sequential) -> Sequential:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return Sequential(*self, *other)

    def __iadd__(self, other: Sequential) -> Self:
        if not isinstance(other, Sequential):
            raise ValueError(
                f"add operator supports only objects of Sequential class, but {type(other)} is given."
            )
        return self.extend(list(other))

    def _times(self, factor: int) -> list[Any]:
        if not isinstance(factor, int):
            raise TypeError(f"unsupported operand type(s) for *: {type(self)} and {type(factor)}")
        if factor <= 0:
            raise ValueError(f"Non-positive multiplication factor {factor} for {type(self)}")
        return list(self) * factor

    def __mul__(self, factor: int) -> Sequential:
        return Sequential(*self._times(factor))

    __rmul__ = __mul__

    def __imul__(self, factor: int) -> Self:
        return self.extend(self._times(factor)[len(self) :])


class ModuleList(_Numbered):
    """A list whose modules are registered.

    >>> import rushlight as torch
    >>> torch.nn.ModuleList(torch.nn.Tanh() for _ in range(3))
    ModuleList(
      (0-2): 3 x Tanh()
    )
    """

    def __init__(self, modules: Iterable[Module] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.extend(modules)

    def __getitem__(self, position: int | slice) -> Any:
        if isinstance(position, slice):
            return type(self)(list(self)[position])
        return self._modules[self._get_abs_string_index(position)]

    def extend(self, modules: Iterable[Module]) -> Self:
        """Add modules at the end."""
        if not hasattr(modules, "__iter__"):
            raise TypeError(
                f"ModuleList.extend should be called with an iterable, but got {type(modules).__name__}"
            )
        for module in modules:
            self.append(module)
        return self

    __iadd__ = extend

    def __add__(self, other: Iterable[Module]) -> ModuleList:
        return ModuleList([*self, *other])

    def _repr_children(self) -> list[str]:
        """Show modules in a row that print alike once, with their count."""
        groups: list[list[Any]] = []
        for position, text in enumerate(map(repr, self)):
            if groups and groups[-1][2] == text:
                groups[-1][1] = position
            else:
                groups.append([position, position, text])
        return [
            f"({first}): {_indent(text)}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {_indent(text)}"
            for first, last, text in groups
        ]


class ModuleDict(Module):
    """A dictionary whose modules are registered.

    >>> import rushlight as torch
    >>> torch.nn.ModuleDict({"act": torch.nn.ReLU()})["act"]
    ReLU()
    """

    def __init__(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]] | None = None) -> None:
        super().__init__()
        if modules is not None:
            self.update(modules)

    def update(self, modules: Mapping[str, Module] | Iterable[tuple[str, Module]]) -> None:
        """Add the modules of a dictionary, or of pairs."""
        for name, module in dict(modules).items():
            self.add_module(name, module)

    def __getitem__(self, key: str) -> Any:
        return self._modules[key]

    def __setitem__(self, key: str, module: Module) -> None:
        self.add_module(key, module)

    def __delitem__(self, key: str) -> None:
        del self._modules[key]

    def __len__(self) -> int:
        return len(self._modules)

    def __iter__(self) -> Iterator[str]:
        return iter(self._modules)

    def __contains__(self, key: str) -> bool:
        return key in self._modules

    def keys(self) -> Iterable[str]:
        """Return the names."""
        return self._modules.keys()

    def values(self) -> Iterable[Any]:
        """Return the modules."""
        return self._modules.values()

    def items(self) -> Iterable[tuple[str, Any]]:
        """Return the names with their modules."""
        return self._modules.items()

    def pop(self, key: str) -> Any:
        """Take a module out and return it."""
        return self._modules.pop(key)

    def clear(self) -> None:
        """Take all modules out."""
        self._modules.clear()


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

    def __dir__(self) -> list[str]:
        return [name for name in super().__dir__() if not name.isdigit()]

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
        return ParameterDict(dict(self.items()))

    def clear(self) -> None:
        """Take everything out."""
        for key in list(self._keys):
            del self[key]

    def update(self, parameters: Any) -> None:
        """Add the entries of a mapping, or pairs of names and values."""
        if hasattr(parameters, "items"):
            parameters = parameters.items()
        for key, value in parameters:
            self[key] = value

    def fromkeys(self, keys: Iterable[str], default: Any = None) -> ParameterDict:
        """Return a dictionary that has `default` under each of these names."""
        return ParameterDict(dict.fromkeys(keys, default))

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

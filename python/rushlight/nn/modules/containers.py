"""Modules made of modules: a chain, a list, a dictionary."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from operator import index as as_index
from typing import TYPE_CHECKING, Any

from .module import Module, _addindent

if TYPE_CHECKING:
    from typing_extensions import Self

__all__ = ["ModuleDict", "ModuleList", "Sequential"]


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
            f"({first}): {_addindent(text, 2)}"
            if first == last
            else f"({first}-{last}): {last - first + 1} x {_addindent(text, 2)}"
            for first, last, text in groups
        ]


def pairs(entries: Any, kind: str, caller: str) -> Iterator[tuple[str, Any]]:
    """Return the names and values of what a container is updated with."""
    if not isinstance(entries, Iterable):
        raise TypeError(
            f"{caller}.update should be called with an iterable of key/value pairs, but got "
            f"{type(entries).__name__}"
        )
    for place, pair in enumerate(entries.items() if hasattr(entries, "items") else entries):
        if not isinstance(pair, Collection):
            raise TypeError(
                f"{kind} update sequence element #{place} should be Iterable; is{type(pair).__name__}"
            )
        if len(pair) != 2:
            raise ValueError(f"{kind} update sequence element #{place} has length {len(pair)}; 2 is required")
        key, value = pair
        yield key, value


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
        for name, module in pairs(modules, "ModuleDict", "ModuleDict"):
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

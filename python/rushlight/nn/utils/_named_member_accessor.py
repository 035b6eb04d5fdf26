"""Parameters, buffers and modules within a module, by their paths: read, set, exchanged."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor
from ..modules.module import Module

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["NamedMemberAccessor", "set_tensor", "swap_submodule", "swap_tensor"]

_MISSING: Any = object()


def _check(module: Any, name: str, kind: str) -> None:
    if not isinstance(module, Module):
        raise TypeError(f"{module} is not an instance of torch.nn.Module")
    if "." in name:
        raise KeyError(f'{kind} name can\'t contain "."')
    if name == "":
        raise KeyError(f'{kind} name can\'t be empty string ""')


def _is_tensor(value: Any) -> bool:
    return value is None or value is _MISSING or isinstance(value, Tensor)


def _home(module: Module, name: str) -> dict[str, Any] | None:
    """Return where a module keeps a tensor of this name, if it is a parameter or a buffer."""
    homes = (module._parameters, module._buffers)
    return next((home for home in homes if name in home), None)


def set_tensor(module: Module, name: str, tensor: Any) -> None:
    """Put a tensor in the place of a parameter or a buffer, as it is."""
    _check(module, name, "tensor")
    if not _is_tensor(tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    home = _home(module, name)
    if home is None:
        setattr(module, name, tensor)
    else:
        home[name] = tensor


def swap_tensor(module: Module, name: str, tensor: Any, allow_missing: bool = False) -> Any:
    """Put a tensor in the place of another, and return that."""
    _check(module, name, "tensor")
    if not _is_tensor(tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    home = _home(module, name)
    if home is None and not hasattr(module, name) and not allow_missing:
        raise AttributeError(f"{module._get_name()} has no attribute `{name}`")
    before = getattr(module, name, _MISSING) if home is None else home[name]
    if not _is_tensor(before):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        set_tensor(module, name, tensor)
    elif home is not None:
        del home[name]
    elif before is not _MISSING:
        delattr(module, name)
    return before


def swap_submodule(module: Module, name: str, submodule: Module) -> Module:
    """Put a module in the place of another, and return that."""
    if not isinstance(submodule, Module):
        raise TypeError(f"{submodule} is not an instance of torch.nn.Module")
    _check(module, name, "submodule")
    if name not in module._modules:
        raise KeyError(f"submodule {name} does not exist")
    before = module._modules[name]
    if not isinstance(before, Module):
        raise TypeError(f"{name} attribute is not an instance of torch.nn.Module")
    module._modules[name] = submodule
    return before


class NamedMemberAccessor:
    """What is within a module, by paths.

    >>> import rushlight as torch
    >>> from rushlight.nn.utils._named_member_accessor import NamedMemberAccessor
    >>> net = torch.nn.Sequential(torch.nn.Linear(1, 1))
    >>> NamedMemberAccessor(net).swap_tensor("0.bias", torch.ones(1)) is None
    False
    >>> net[0].bias
    tensor([1.])
    """

    def __init__(self, module: Module) -> None:
        self.module = module
        self.memo: dict[str, Module] = {}

    def get_submodule(self, name: str) -> Module:
        """Return a module within; it is found again at once."""
        if not name:
            return self.module
        if name not in self.memo:
            path, _, last = name.rpartition(".")
            within = self.get_submodule(path)
            try:
                found = getattr(within, last)
            except AttributeError as error:
                raise AttributeError(f"{within._get_name()} has no attribute `{last}`") from error
            if not isinstance(found, Module):
                raise TypeError(f"submodule `{name}`: {found} is not an instance of torch.nn.Module")
            self.memo[name] = found
        return self.memo[name]

    def _place(self, name: str) -> tuple[Module, str]:
        path, _, last = name.rpartition(".")
        return self.get_submodule(path), last

    def swap_submodule(self, path: str, value: Module) -> Module:
        """Put a module in the place of another, and return that."""
        # Whatever was found within the other is there no longer.
        self.memo = {name: one for name, one in self.memo.items() if not f"{name}.".startswith(f"{path}.")}
        return swap_submodule(*self._place(path), value)

    def get_tensor(self, name: str) -> Any:
        """Return a tensor within."""
        module, last = self._place(name)
        try:
            found = getattr(module, last)
        except AttributeError as error:
            raise AttributeError(f"{module._get_name()} has no attribute `{name}`") from error
        if not _is_tensor(found):
            raise TypeError(f"{found} is not an instance of torch.Tensor")
        return found

    def set_tensor(self, name: str, value: Any) -> None:
        """Set a tensor within."""
        set_tensor(*self._place(name), value)

    def del_tensor(self, name: str) -> None:
        """Delete a tensor within."""
        delattr(*self._place(name))

    def swap_tensor(self, name: str, value: Any, allow_missing: bool = False) -> Any:
        """Put a tensor in the place of another, and return that."""
        return swap_tensor(*self._place(name), value, allow_missing)

    def get_tensors(self, names: Iterable[str]) -> list[Any]:
        """Return tensors within."""
        return [self.get_tensor(name) for name in names]

    def set_tensors(self, names: Iterable[str], values: Iterable[Any]) -> None:
        """Set tensors within."""
        for name, value in _paired(names, values):
            self.set_tensor(name, value)

    def set_tensors_dict(self, named_tensors: dict[str, Any]) -> None:
        """Set tensors within, by name."""
        self.set_tensors(named_tensors, named_tensors.values())

    def del_tensors(self, names: Iterable[str]) -> None:
        """Delete tensors within."""
        for name in names:
            self.del_tensor(name)

    def swap_tensors(
        self, names: Iterable[str], values: Iterable[Any], allow_missing: bool = False
    ) -> list[Any]:
        """Put tensors in the place of others, and return these."""
        return [self.swap_tensor(name, value, allow_missing) for name, value in _paired(names, values)]

    def swap_tensors_dict(
        self, named_tensors: dict[str, Any], allow_missing: bool = False
    ) -> tuple[dict[str, Any], list[str]]:
        """Put tensors in the place of others by name; return these, and the names that were missing."""
        before: dict[str, Any] = {}
        try:
            for name, tensor in named_tensors.items():
                before[name] = self.swap_tensor(name, tensor, allow_missing=True)
        finally:
            missing = [name for name, tensor in before.items() if tensor is _MISSING]
            if missing and not allow_missing:
                for name, tensor in before.items():
                    self.swap_tensor(name, tensor, allow_missing=True)
        if missing and not allow_missing:
            raise RuntimeError(f"Missing key(s): {', '.join(map(repr, missing))}.")
        return before, missing

    def check_keys(self, keys: Iterable[str]) -> tuple[list[str], list[str]]:
        """Return which names are missing among those, and which of them there are not."""
        given, there = set(keys), {name for name, _ in self.named_tensors(remove_duplicate=False)}
        return list(there - given), list(given - there)

    def named_parameters(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """Walk over the parameters."""
        yield from self.module.named_parameters(remove_duplicate=remove_duplicate)

    def named_buffers(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """Walk over the buffers."""
        yield from self.module.named_buffers(remove_duplicate=remove_duplicate)

    def named_tensors(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Any]]:
        """Walk over both."""
        yield from self.named_parameters(remove_duplicate)
        yield from self.named_buffers(remove_duplicate)

    def named_modules(self, remove_duplicate: bool = True) -> Iterator[tuple[str, Module]]:
        """Walk over the modules."""
        yield from self.module.named_modules(remove_duplicate=remove_duplicate)


def _paired(names: Iterable[str], values: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    names, values = list(names), list(values)
    if len(names) != len(values):
        raise ValueError(f"names and values must have the same length: {len(names)} and {len(values)}")
    return zip(names, values, strict=True)

"""Calling a module with other tensors than its own."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ..._rushlight import Tensor

if TYPE_CHECKING:
    from ..modules.module import Module

__all__ = ["functional_call"]

_MISSING: Any = object()


def functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    """Call `module` with other tensors than its own; deprecated in favour of `func.functional_call`."""
    import warnings

    warnings.warn(
        "`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed in a "
        "future version of PyTorch. Please use `torch.func.functional_call` instead which is a drop-in "
        "replacement.",
        FutureWarning,
        stacklevel=2,
    )
    return _functional_call(
        module, parameters_and_buffers, args, kwargs, tie_weights=tie_weights, strict=strict
    )


def _functional_call(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    args: Any = None,
    kwargs: dict[str, Any] | None = None,
    *,
    tie_weights: bool = True,
    strict: bool = False,
) -> Any:
    if args is None:
        args = ()
    elif not isinstance(args, tuple):
        args = (args,)
    with _reparametrize_module(module, parameters_and_buffers, tie_weights=tie_weights, strict=strict):
        return module(*args, **(kwargs or {}))


@contextmanager
def _reparametrize_module(
    module: Module,
    parameters_and_buffers: dict[str, Tensor],
    tie_weights: bool = False,
    strict: bool = False,
) -> Iterator[None]:
    """Put the given tensors in the place of the module's for a block.

    What the block itself assigned to these names is in `parameters_and_buffers` afterwards.
    """
    tensors = _tied(module, parameters_and_buffers) if tie_weights else parameters_and_buffers
    if strict:
        _check_names(module, tensors)
    own: dict[str, Any] = {}
    try:
        for name, tensor in tensors.items():
            own[name] = _swap(module, name, tensor)
        yield
    finally:
        # Backwards: where two names lead to one place, the first took what had been there.
        used = {name: _swap(module, name, own[name]) for name in reversed(own)}
        for name in parameters_and_buffers:
            if name in used:
                parameters_and_buffers[name] = used[name]


def _tied(module: Module, tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    """Return `tensors` with each of them under all names that the module has for what it replaces."""
    names_of: dict[int, list[str]] = {}
    for name, tensor in _named_tensors(module).items():
        names_of.setdefault(id(tensor), []).append(name)
    result = dict(tensors)
    for names in names_of.values():
        given = [name for name in names if name in tensors]
        if len(names) < 2 or not given:
            continue
        if len({id(tensors[name]) for name in given}) > 1:
            raise ValueError(
                f"functional_call got multiple values for keys {sorted(names)}, which are tied. Consider "
                "using tie_weights=False"
            )
        result.update(dict.fromkeys(names, tensors[given[0]]))
    return result


def _named_tensors(module: Module) -> dict[str, Tensor]:
    return {
        **dict(module.named_parameters(remove_duplicate=False)),
        **dict(module.named_buffers(remove_duplicate=False)),
    }


def _check_names(module: Module, tensors: dict[str, Tensor]) -> None:
    known = _named_tensors(module).keys()
    problems = [
        f"{kind} key(s): {', '.join(map(repr, sorted(names)))}."
        for kind, names in (("Unexpected", tensors.keys() - known), ("Missing", known - tensors.keys()))
        if names
    ]
    if problems:
        listed = "\n\t".join(problems)
        raise RuntimeError(f"Error(s) in reparametrizing for {module._get_name()}:\n\t{listed}")


def _swap(module: Module, path: str, tensor: Any) -> Any:
    """Put `tensor` where `path` leads to; return what was there, `_MISSING` if nothing was."""
    *parents, name = path.split(".")
    owner = _owner(module, parents)
    if tensor is not _MISSING and tensor is not None and not isinstance(tensor, Tensor):
        raise TypeError(f"{tensor} is not an instance of torch.Tensor")
    if name == "":
        raise KeyError('tensor name can\'t be empty string ""')
    for registry in (owner._parameters, owner._buffers):
        if name in registry:
            before = registry[name]
            _assign(registry, name, tensor)
            return before
    before = getattr(owner, name, _MISSING)
    if before is not _MISSING and before is not None and not isinstance(before, Tensor):
        raise TypeError(f"attribute `{name}`: {before} is not an instance of torch.Tensor")
    if tensor is not _MISSING:
        setattr(owner, name, tensor)
    elif before is not _MISSING:
        delattr(owner, name)
    return before


def _assign(registry: dict[str, Any], name: str, tensor: Any) -> None:
    if tensor is _MISSING:
        del registry[name]
    else:
        registry[name] = tensor


def _owner(module: Module, path: list[str]) -> Module:
    from ..modules.module import Module

    owner: Any = module
    for depth, name in enumerate(path):
        if not hasattr(owner, name):
            raise AttributeError(f"{owner._get_name()} has no attribute `{name}`")
        owner = getattr(owner, name)
        if not isinstance(owner, Module):
            submodule = ".".join(path[: depth + 1])
            raise TypeError(f"submodule `{submodule}`: {owner} is not an instance of torch.nn.Module")
    found: Module = owner
    return found

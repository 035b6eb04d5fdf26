"""Programs in files: what a function was recorded as, to be run without Python."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, _Exported
from ..nn import Module
from ..optim import Optimizer
from .function import Function
from .sight import Sight

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Iterator

_CALLS = 6


class Exported:
    """A program that can be written to a file, and run: what it works on is a copy of its own."""

    def __init__(self, data: bytes) -> None:
        self._program = _Exported(data)

    def __call__(self, *inputs: Tensor) -> Any:
        """Run it: a tensor if it answers one, a tuple if it answers several, None if it answers none."""
        found = self._program.run(*inputs)
        return found[0] if len(found) == 1 else tuple(found) or None

    @property
    def inputs(self) -> list[tuple[str, tuple[int, ...], Any]]:
        """The name, shape and type of each tensor that it is called with."""
        return [(name, tuple(shape), dtype) for name, shape, dtype in self._program.inputs()]

    @property
    def state(self) -> list[tuple[str, Tensor]]:
        """The tensors that it has, with their names: parameters, buffers, what optimisers remember."""
        return self._program.state()

    def set_rate(self, rate: float) -> None:
        """Have steps of optimisers go as far as this from now on."""
        self._program.set_rate(rate)

    def to_bytes(self) -> bytes:
        """Return the bytes of the program, and of what it has now."""
        return self._program.save()

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file."""
        with open(path, "wb") as file:
            file.write(self.to_bytes())


def export(function: Callable[..., Any], args: tuple[Any, ...] = (), kwargs: Any = None) -> Exported:
    """Return the program of a function, called with these arguments, with all that it works on.

    The function is called as often as it takes to record it: what it does to parameters is done each time,
    and the program goes on from there. Programs of Rust read what `save` writes.

    >>> import rushlight as torch
    >>> model = torch.nn.Linear(2, 1)
    >>> with torch.no_grad():
    ...     program = torch.compiler.export(model, (torch.ones(1, 2),))
    >>> program.inputs
    [('input', (1, 2), torch.float32)]
    >>> torch.equal(program(torch.ones(1, 2)), model(torch.ones(1, 2)))
    True
    """
    kwargs = kwargs or {}
    compiled = function if isinstance(function, Function) else Function(function)
    for _ in range(_CALLS):
        compiled(*args, **kwargs)
    name = getattr(function, "__name__", type(function).__name__)
    if not compiled.programs:
        raise RuntimeError(f"{name} cannot be exported: it is not recorded, since {compiled.reason}")
    found = compiled.programs[-1].export(args, kwargs, list(_named(compiled, args, kwargs)))
    if found is None:
        raise RuntimeError(f"{name} cannot be exported: something else is recorded in each call")
    if isinstance(found, tuple):
        operation, place = found
        where = "" if place is None else f", at {place:line}"
        raise RuntimeError(f"{name} cannot be exported: there is no form for {operation} in files{where}")
    return Exported(found)


def load(path: str | os.PathLike[str]) -> Exported:
    """Read a program from a file.

    A file that is no program, or that is damaged, is an error.
    """
    with open(path, "rb") as file:
        return Exported(file.read())


def _named(compiled: Function, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[tuple[Tensor, str]]:
    """Yield tensors and what they are called: arguments, parameters and buffers, what optimisers remember."""
    import inspect

    function = compiled._function
    try:
        called = function.forward if isinstance(function, Module) else function
        given = inspect.signature(called).bind(*args, **kwargs).arguments
    except (TypeError, ValueError):
        given = {str(place): value for place, value in enumerate(args)}
    for name, value in given.items():
        if isinstance(value, Tensor):
            yield value, name
    sight = Sight(compiled._codes)
    sight.look(iter([(function, "it")]))
    seen = list(sight.seen.values())
    names: dict[int, str] = {}
    for module in sorted(
        (one for one in seen if isinstance(one, Module)), key=lambda one: -len(list(one.modules()))
    ):
        for name, tensor in [*module.named_parameters(), *module.named_buffers()]:
            if id(tensor) not in names:
                names[id(tensor)] = name
                yield tensor, name
    for optimizer in (one for one in seen if isinstance(one, Optimizer)):
        for parameter, state in optimizer.state.items():
            for name, value in state.items():
                if isinstance(value, Tensor):
                    yield value, f"{names.get(id(parameter), 'parameter')}.{name}"

"""`Library`: operators that are declared first, and written afterwards."""

from __future__ import annotations

import os
import sys
import weakref
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from .._operators.schemas import parse_schema
from .._ops import OpOverload
from .kernels import checked
from .operator import CustomOpDef, declare, disown, forget, place_of, when_known

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

__all__ = ["Library"]

# Where a namespace was claimed as a whole, which can be done once. The first is torch's own.
_CLAIMED: dict[str, str] = {"aten": "the table of operators"}
_HERE = os.path.dirname(__file__)


def _place() -> str:
    """Return the line of the program that is about to register something."""
    frame = sys._getframe(1)
    while frame.f_back is not None and os.path.dirname(frame.f_code.co_filename) == _HERE:
        frame = frame.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno}"


class Library:
    """Operators that are declared first, and written afterwards. They are there as long as it is.

    >>> import rushlight as torch
    >>> mylib = torch.library.Library("mylib", "FRAGMENT")
    >>> mylib.define("doubled(Tensor x) -> Tensor")
    'doubled'
    >>> mylib.impl("doubled", lambda x: x * 2, "CPU")
    >>> torch.ops.mylib.doubled(torch.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("IMPL", "DEF", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns == "prim":
            raise ValueError(
                f"{ns} is a reserved namespace. Please try creating a library with another name."
            )
        checked(dispatch_key)
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key
        self._place = _place()
        if kind == "DEF":
            if ns in _CLAIMED:
                raise RuntimeError(
                    f"Only a single TORCH_LIBRARY can be used to register the namespace {ns}; please put "
                    "all of your definitions in a single TORCH_LIBRARY block.  If you were trying to "
                    "specify implementations, consider using TORCH_LIBRARY_IMPL (which can be "
                    "duplicated).  If you really intended to define operators for a single namespace in a "
                    "distributed way, you can use TORCH_LIBRARY_FRAGMENT to explicitly indicate this.  "
                    f"Previous registration of TORCH_LIBRARY was registered at {_CLAIMED[ns]}; latest "
                    f"registration was registered at {self._place}"
                )
            _CLAIMED[ns] = self._place
        self._op_defs: set[str] = set()
        self._told: set[str] = set()
        self._token = object()  # Whose functions are forgotten with the library.
        self._end = weakref.finalize(
            self, _end, ns if kind == "DEF" else None, self._op_defs, self._told, self._token
        )

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def _within(self, call: str, namespace: str, what: str, move: str) -> None:
        """Refuse another namespace than the library's."""
        if namespace and namespace != self.ns:
            raise RuntimeError(
                f"{call}Explicitly provided namespace ({namespace}) in {what} does not match namespace of "
                f"enclosing TORCH_LIBRARY block ({self.ns}).  Move this definition to the {move} "
                "corresponding to this namespace (and consider deleting the namespace from your schema "
                f"string.)  (Error occurred while processing TORCH_LIBRARY block at {self._place})"
            )

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator by its schema, and return its name."""
        if alias_analysis not in ("", "FROM_SCHEMA", "CONSERVATIVE"):
            raise RuntimeError(f"Invalid alias_analysis type {alias_analysis}")
        name = schema.partition("(")[0].strip()
        if self.kind == "IMPL":
            raise RuntimeError(
                f'def("{name}"): Cannot define an operator inside of a TORCH_LIBRARY_IMPL block.  All '
                "def()s should be placed in the (unique) TORCH_LIBRARY block for their namespace.  (Error "
                f"occurred while processing TORCH_LIBRARY_IMPL block at {self._place})"
            )
        namespace, _, own = name.rpartition("::")
        self._within("", namespace, "schema string", "(unique) TORCH_LIBRARY block")
        parse_schema(schema)
        first = place_of(f"{self.ns}::{own}")
        if first is not None:
            raise RuntimeError(
                f"Tried to register an operator ({self.ns}::{schema.strip().removeprefix(f'{self.ns}::')}) "
                "with the same name and overload name multiple times. Each overload's schema should only "
                "be registered with a single call to def(). Duplicate registration: registered at "
                f"{self._place}. Original registration: registered at {first}"
            )
        made = CustomOpDef(self.ns, own, f"({schema.partition('(')[2]}", None, tags=tags)
        made.place = self._place
        declare(made)
        self._op_defs.add(f"{self.ns}::{own}")
        return name.partition(".")[0]

    def _destroy(self) -> None:
        """Forget the operators that were declared here, and what was given to those of others."""
        self._end()

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        with_keyset: bool = False,
        allow_override: bool = True,
    ) -> None:
        """Have `fn` compute an operator. Autograd follows what it does, unless a derivative is registered.

        A function for the key "Meta" says what the results look like. Other devices are never there.
        """
        if not callable(fn):
            raise TypeError(f"Input function is required to be a callable but found type {type(fn)}")
        key = checked(dispatch_key or self.dispatch_key)
        if isinstance(op_name, str):
            name = op_name
        elif isinstance(op_name, OpOverload):
            name = op_name.name()
        else:
            raise RuntimeError(
                "impl should be passed either a name or an OpOverload object as the first argument, got "
                f"{type(op_name)}"
            )
        namespace, _, own = name.rpartition("::")
        self._within(f'impl("{name}", ...): ', namespace, "operator name", "TORCH_LIBRARY block")
        qualname = f"{self.ns}::{own}"
        self._told.add(qualname)
        when_known(qualname, partial(_add_kernel, fn=fn, key=key, owner=self._token), self._token)

    def fallback(self, fn: Callable[..., Any], dispatch_key: str = "", *, with_keyset: bool = False) -> None:
        """Refuse to have one function in the place of all operators: a mode is shown them."""
        raise NotImplementedError(
            "Library.fallback: no key has one function for every operator here. Write a TorchDispatchMode."
        )


def _end(claimed: str | None, declared: set[str], given: set[str], owner: object) -> None:
    """Have nothing more of a library."""
    if claimed is not None:
        _CLAIMED.pop(claimed, None)
    while given:
        disown(given.pop(), owner)
    while declared:
        forget(declared.pop())


def _add_kernel(definition: CustomOpDef, fn: Callable[..., Any], key: str, owner: object) -> None:
    """Have `fn` compute an operator for a key."""
    if key == "Meta" and "CompositeImplicitAutograd" in definition.kernels:
        raise RuntimeError(
            f"We should not register a meta kernel directly to the operator '{definition._name}', because "
            "it has a CompositeImplicitAutograd kernel in core. Instead we should let the operator "
            "decompose, and ensure that we have meta kernels for the base ops that it decomposes into."
        )
    definition.kernels.add(key, fn, owner)
    if key.startswith("Autograd"):
        # It is called in the place of what was registered as derivative.
        definition._follows = True


@contextmanager
def _scoped_library(*args: Any, **kwargs: Any) -> Iterator[Library]:
    """Have a library for a block, after which what was added to it is gone."""
    made = Library(*args, **kwargs)
    try:
        yield made
    finally:
        made._destroy()

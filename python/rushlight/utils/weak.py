"""Weak references to tensors, and dictionaries whose keys are objects themselves, not what they equal.

Tensors are compared element by element, so that they cannot be the keys of an ordinary weak dictionary.
"""

from __future__ import annotations

import copy
import weakref
from collections.abc import Iterator, Mapping, MutableMapping
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["TensorWeakRef", "WeakIdKeyDictionary", "WeakIdRef", "WeakTensorKeyDictionary"]


class WeakIdRef(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that equals others to the same object, and itself when that is gone."""

    __slots__ = ("_id",)

    def __init__(self, key: Any, callback: Callable[[Any], Any] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._id = id(key)

    def __hash__(self) -> int:
        return self._id

    def __eq__(self, other: Any) -> bool:
        mine, others = self(), other()
        return mine is others if mine is not None and others is not None else self is other

    def __ne__(self, other: Any) -> bool:
        return not self == other


class _WeakHashRef(weakref.ref):  # type: ignore[type-arg]
    """A weak reference that hashes as its object does, and equals others to the same object."""

    __slots__ = ("_hash",)

    def __init__(self, key: Any, callback: Callable[[Any], Any] | None = None) -> None:
        super().__init__(key, callback)  # type: ignore[call-arg]
        self._hash = hash(key)

    def __hash__(self) -> int:
        return self._hash

    __eq__ = WeakIdRef.__eq__
    __ne__ = WeakIdRef.__ne__


class WeakIdKeyDictionary(MutableMapping[Any, Any]):
    """A dictionary whose keys are objects themselves; an entry goes when its key does.

    >>> import rushlight as torch
    >>> from rushlight.utils.weak import WeakTensorKeyDictionary
    >>> x, y = torch.ones(2), torch.ones(2)
    >>> notes = WeakTensorKeyDictionary({x: "first"})
    >>> notes[x], y in notes
    ('first', False)
    >>> del x
    >>> len(notes)
    0
    """

    def __init__(
        self, dict: Mapping[Any, Any] | None = None, ref_type: type[weakref.ref[Any]] = WeakIdRef
    ) -> None:
        self.data: Any = {}
        self.ref_type = ref_type
        data = self.data
        # The callback holds what it changes, not this object, which could not die otherwise.
        self._forget = lambda reference: data.pop(reference, None)
        if dict is not None:
            self.update(dict)

    def __getitem__(self, key: Any) -> Any:
        return self.data[self.ref_type(key)]

    def __setitem__(self, key: Any, value: Any) -> None:
        self.data[self.ref_type(key, self._forget)] = value

    def __delitem__(self, key: Any) -> None:
        del self.data[self.ref_type(key)]

    def __contains__(self, key: Any) -> bool:
        try:
            return self.ref_type(key) in self.data
        except TypeError:  # There are no weak references to it.
            return False

    def __len__(self) -> int:
        return len(self.data)

    def __iter__(self) -> Iterator[Any]:
        # Keys may die meanwhile: of a copy, entries can go.
        for reference in list(self.data):
            if (key := reference()) is not None:
                yield key

    def __repr__(self) -> str:
        return f"<{type(self).__name__} at {id(self):#x}>"

    def popitem(self) -> tuple[Any, Any]:
        """Remove the entry that was added last, and return it."""
        while True:
            reference, value = self.data.popitem()
            if (key := reference()) is not None:
                return key, value

    def keyrefs(self) -> list[weakref.ref[Any]]:
        """Return weak references to the keys."""
        return list(self.data)

    def copy(self) -> WeakIdKeyDictionary:
        """Return a dictionary of the same entries."""
        return WeakIdKeyDictionary(self)

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> WeakIdKeyDictionary:
        copied = type(self)()
        copied.update((key, copy.deepcopy(value, memo)) for key, value in self.items())
        return copied

    def __or__(self, other: Mapping[Any, Any]) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        joined = self.copy()
        joined.update(other)
        return joined

    def __ror__(self, other: Mapping[Any, Any]) -> WeakIdKeyDictionary:
        if not isinstance(other, Mapping):
            return NotImplemented
        joined = type(self)(other)
        joined.update(self)
        return joined

    def __ior__(self, other: Any) -> WeakIdKeyDictionary:  # type: ignore[misc]
        self.update(other)
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Mapping):
            return NotImplemented
        mine, others = ({id(key): value for key, value in each.items()} for each in (self, other))
        return mine == others

    __hash__ = None  # type: ignore[assignment]


WeakTensorKeyDictionary = WeakIdKeyDictionary


class TensorWeakRef:
    """A weak reference to a tensor: calling it returns the tensor, or `None` when it is gone."""

    ref: weakref.ref[Tensor]

    def __init__(self, tensor: Tensor) -> None:
        if not isinstance(tensor, Tensor):
            raise AssertionError(f"expected torch.Tensor, got {type(tensor)}.")
        self.ref = weakref.ref(tensor)

    def __call__(self) -> Tensor | None:
        return self.ref()

"""What becomes of tensors that are saved for backward: packed by functions, moved, copied before a write."""

from __future__ import annotations

from contextlib import contextmanager

from .. import _rushlight
from .._rushlight import Tensor

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from typing import Any


class saved_tensors_hooks:
    """In its block, what operations save for backward goes through a pair of functions.

    `pack_hook` makes anything of the tensor; `unpack_hook` makes the tensor of that when it is needed.

    >>> import rushlight as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with torch.autograd.graph.saved_tensors_hooks(lambda t: t.item(), torch.tensor):
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor(6.)
    """

    __module__ = "rushlight.autograd.graph"

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook

    def __enter__(self) -> None:
        _rushlight._push_saved_tensors_default_hooks(self.pack_hook, self.unpack_hook)

    def __exit__(self, *args: object) -> None:
        _rushlight._pop_saved_tensors_default_hooks()


class save_on_cpu(saved_tensors_hooks):
    """Keeps copies of what is saved in the memory of the processor, where everything is already.

    >>> import rushlight as torch
    >>> x = torch.tensor(3.0, requires_grad=True)
    >>> with torch.autograd.graph.save_on_cpu():
    ...     y = x * x
    >>> y.backward()
    >>> x.grad
    tensor(6.)
    """

    __module__ = "rushlight.autograd.graph"

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            return tensor.device, tensor.clone() if pin_memory else tensor

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            return packed[1]

        super().__init__(pack, unpack)


@contextmanager
def disable_saved_tensors_hooks(error_message: str) -> Generator[None, None, None]:
    """Refuse `saved_tensors_hooks` in a block, with an error of these words.

    >>> import rushlight as torch
    >>> with torch.autograd.graph.disable_saved_tensors_hooks("not here"):
    ...     with torch.autograd.graph.save_on_cpu():
    ...         pass
    Traceback (most recent call last):
        ...
    RuntimeError: not here
    """
    from .._compat._C._autograd import _saved_tensors_hooks_disable

    before = _rushlight._saved_tensors_hooks_get_disabled_error_message()
    try:
        _saved_tensors_hooks_disable(error_message)
        yield
    finally:
        _rushlight._refuse_saved_tensors_hooks(before)


class _Handle:
    """Stands for a saved tensor, which is copied when its memory is about to be written to."""

    __slots__ = ("__weakref__",)


class _AllowMutationOnSavedContext:
    """Which saved tensors there are, by handle: those that were `cloned`, and the `original` ones."""

    __module__ = "rushlight.autograd.graph"

    def __init__(self) -> None:
        from weakref import WeakKeyDictionary, WeakValueDictionary

        self.cloned: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        self.original: WeakKeyDictionary[_Handle, Tensor] = WeakKeyDictionary()
        # By tensor and version: what is saved again has its handle already.
        self.tid_to_weakhandle: WeakValueDictionary[object, _Handle] = WeakValueDictionary()
        # By memory: which tensors that show it were saved.
        self.sid_to_tid: dict[int, set[tuple[int, int]]] = {}

    def pack(self, tensor: Tensor) -> _Handle:
        memory = _rushlight._memory_of(tensor)
        version = (id(tensor), tensor._version)
        handle = self.tid_to_weakhandle.get(version)
        if handle is None or self.original.get(handle) is not tensor:
            handle = _Handle()
            self.tid_to_weakhandle[version] = handle
            self.original[handle] = tensor
        self.sid_to_tid.setdefault(memory, set()).add(version)
        return handle

    def unpack(self, handle: _Handle) -> Tensor:
        saved = self.cloned.get(handle)
        if saved is None:
            saved = self.original.get(handle)
        if saved is None or _mutation_context is None:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' contextin which the "
                "graph was originally recorded."
            )
        return saved

    def before_write(self, tensor: Tensor) -> None:
        for version in self.sid_to_tid.pop(_rushlight._memory_of(tensor), ()):
            handle = self.tid_to_weakhandle.pop(version, None)
            if handle is not None and handle in self.original:
                self.cloned[handle] = self.original.pop(handle).detach().clone()
                # The tensor may go, and another one take its number.
                self.tid_to_weakhandle[id(handle)] = handle

    def clear(self) -> None:
        self.cloned.clear()
        self.original.clear()
        self.tid_to_weakhandle.clear()
        self.sid_to_tid.clear()


disable_saved_tensors_hooks.__module__ = "rushlight.autograd.graph"

_mutation_context: _AllowMutationOnSavedContext | None = None


@contextmanager
def allow_mutation_on_saved_tensors() -> Generator[_AllowMutationOnSavedContext, None, None]:
    """In its block, saved tensors may be written to: they are copied before. Backward belongs inside too.

    >>> import rushlight as torch
    >>> x = torch.tensor(2.0, requires_grad=True)
    >>> with torch.autograd.graph.allow_mutation_on_saved_tensors():
    ...     y = x * 1
    ...     z = y * y
    ...     _ = y.zero_()
    ...     z.backward()
    >>> x.grad
    tensor(4.)
    """
    global _mutation_context
    if _mutation_context is not None:
        raise RuntimeError("allow_mutation_on_saved_tensors contexts cannot be nested")
    context = _AllowMutationOnSavedContext()
    with saved_tensors_hooks(context.pack, context.unpack):
        _mutation_context = context
        _rushlight._watch_writes(context.before_write)
        try:
            yield context
        finally:
            _rushlight._watch_writes(None)
            _mutation_context = None
            context.clear()


allow_mutation_on_saved_tensors.__module__ = "rushlight.autograd.graph"

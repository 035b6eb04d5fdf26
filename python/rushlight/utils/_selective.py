"""Selective checkpointing: a policy says of every operator of a part whether its result is kept.

In the first computation a mode asks the policy and keeps what it is to keep; in the second one another mode
answers with it, in the order in which it was kept, and has the rest computed again.
"""

from __future__ import annotations

import enum
from collections import defaultdict

from .._ops import OpOverload, OpOverloadPacket, ops
from .._rushlight import Tensor
from . import _checkpoint_words as words
from ._python_dispatch import TorchDispatchMode
from ._pytree import tree_map

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from typing_extensions import Self

__all__ = [
    "SAC_IGNORED_OPS",
    "CheckpointPolicy",
    "SelectiveCheckpointContext",
    "create_selective_checkpoint_contexts",
]


class SelectiveCheckpointContext:
    """What a policy is told beside the operator and its arguments: what the operator gave."""

    __module__ = "rushlight.utils.checkpoint"

    def __init__(self, *, is_recompute: bool, op_output: Any = None) -> None:
        self.is_recompute = is_recompute
        self.op_output = op_output


class CheckpointPolicy(enum.Enum):
    """What becomes of the result of an operator: it is kept, or computed again."""

    __module__ = "rushlight.utils.checkpoint"

    MUST_SAVE = 0
    PREFER_SAVE = 1
    MUST_RECOMPUTE = 2
    PREFER_RECOMPUTE = 3
    MUST_CPU_OFFLOAD = 4
    PREFER_CPU_OFFLOAD = 5


SAC_IGNORED_OPS = {ops.aten.detach.default}
"""Operators that no policy is asked about: the two computations do not make the same number of them."""

_KEPT_BY = (CheckpointPolicy.MUST_SAVE, CheckpointPolicy.PREFER_SAVE)
_RECOMPUTE = object()
_CONSUMED = object()


class _VersionWrapper:
    """A value that was kept, and how often it had been written to by then."""

    def __init__(self, value: Any) -> None:
        self.val = value.detach() if isinstance(value, Tensor) else value
        self.version = value._version if isinstance(value, Tensor) else None

    def get_val(self, allow_cache_entry_mutation: bool) -> Any:
        """Return it, unless it was written to since."""
        if self.version is not None and not allow_cache_entry_mutation and self.val._version != self.version:
            raise RuntimeError(words.CACHED_MUTATED)
        return self.val


_Storage = dict["Any", dict[int, "Any"]]


class _CachingTorchDispatchMode(TorchDispatchMode):
    """Keeps what the policy says, by operator and by how often that had run before."""

    def __init__(self, policy_fn: Callable[..., Any], storage: _Storage) -> None:
        self.policy_fn = policy_fn
        self.storage = storage
        self.func_counter: dict[Any, int] = defaultdict(int)

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Compute, ask the policy, keep."""
        kwargs = kwargs or {}
        out = func(*args, **kwargs)
        if func in SAC_IGNORED_OPS:
            return out
        index = self.func_counter[func]
        self.func_counter[func] += 1
        context = SelectiveCheckpointContext(is_recompute=False, op_output=out)
        policy = self.policy_fn(context, func, *args, **kwargs)
        kept = policy if isinstance(policy, bool) else policy in _KEPT_BY
        self.storage[func][index] = tree_map(_VersionWrapper, out) if kept else _RECOMPUTE
        return out


class _CachedTorchDispatchMode(TorchDispatchMode):
    """Answers with what was kept."""

    def __init__(
        self,
        policy_fn: Callable[..., Any] | None,
        storage: _Storage,
        allow_cache_entry_mutation: bool = False,
    ) -> None:
        self.storage = storage
        self.allow_cache_entry_mutation = allow_cache_entry_mutation
        self.func_counter: dict[Any, int] = defaultdict(int)

    def __enter__(self) -> Self:
        """Begin again from the first operator."""
        self.func_counter.clear()
        return super().__enter__()

    def __torch_dispatch__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        """Hand over what was kept, or compute."""
        if func in SAC_IGNORED_OPS:
            return func(*args, **(kwargs or {}))
        index = self.func_counter[func]
        self.func_counter[func] += 1
        kept = self.storage.get(func)
        if kept is None:
            raise RuntimeError(words.NOT_KEPT.format(func=func))
        entry = kept.get(index)
        if entry is None:
            raise RuntimeError(words.NOT_KEPT_THAT_OFTEN.format(func=func, index=index))
        if entry is _CONSUMED:
            raise RuntimeError(words.CACHE_CONSUMED)
        if entry is _RECOMPUTE:
            return func(*args, **(kwargs or {}))
        kept[index] = _CONSUMED
        return tree_map(lambda value: value.get_val(self.allow_cache_entry_mutation), entry)


def create_selective_checkpoint_contexts(
    policy_fn_or_list: Any, allow_cache_entry_mutation: bool = False
) -> tuple[TorchDispatchMode, TorchDispatchMode]:
    """Return the two contexts that keep the results of some operators over a checkpointed part.

    `policy_fn_or_list` is a list of operators to keep, or a function of a `SelectiveCheckpointContext`, the
    operator and its arguments that returns a `CheckpointPolicy`. What was kept must not be written to before
    backward, unless `allow_cache_entry_mutation`.

    >>> import functools
    >>> import rushlight as torch
    >>> from rushlight.utils.checkpoint import checkpoint, create_selective_checkpoint_contexts
    >>> x = torch.ones(2, 2, requires_grad=True)
    >>> keep_products = functools.partial(create_selective_checkpoint_contexts, [torch.ops.aten.mm.default])
    >>> y = checkpoint(lambda x: (x @ x).sin(), x, use_reentrant=False, context_fn=keep_products)
    >>> y.sum().backward()
    """
    if isinstance(policy_fn_or_list, list):
        for op in policy_fn_or_list:
            if not isinstance(op, OpOverload):
                hint = words.OVERLOAD_HINT if isinstance(op, OpOverloadPacket) else ""
                raise ValueError(words.NOT_AN_OVERLOAD.format(op=op, kind=type(op), hint=hint))

        def policy_fn(context: SelectiveCheckpointContext, op: Any, *args: Any, **kwargs: Any) -> bool:
            return op in policy_fn_or_list

    elif callable(policy_fn_or_list):
        policy_fn = policy_fn_or_list
    else:
        raise TypeError(words.NO_POLICY)
    storage: _Storage = defaultdict(dict)
    return (
        _CachingTorchDispatchMode(policy_fn, storage),
        _CachedTorchDispatchMode(None, storage, allow_cache_entry_mutation),
    )


create_selective_checkpoint_contexts.__module__ = "rushlight.utils.checkpoint"

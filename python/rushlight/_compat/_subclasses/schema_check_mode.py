"""A mode that compares what operators write to and share with what their schemas say."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._rushlight import Tensor
from ...utils._python_dispatch import TorchDispatchMode
from ...utils._pytree import tree_leaves

if TYPE_CHECKING:
    from ..._operators.schemas import Argument

__all__ = ["SchemaCheckMode"]


class SchemaCheckMode(TorchDispatchMode):
    """In the block an operator that does what its schema does not say is an error.

    `ops` names the operators, `mutated` the arguments that were written to, `aliasing` those whose memory
    results have.

    >>> import rushlight as torch
    >>> with SchemaCheckMode() as seen:
    ...     _ = torch.ones(2).neg_()
    >>> seen.ops, seen.mutated
    (['aten::ones', 'aten::neg_'], [('aten::neg_', 'input')])
    """

    def __init__(self) -> None:
        super().__init__()
        self.reset_cache()

    def reset_cache(self) -> None:
        """Forget what was seen."""
        self.ops: list[str] = []
        self.mutated: list[tuple[str, str]] = []
        self.aliasing: list[tuple[str, str, str]] = []

    def display_ops(self) -> None:
        """Print the names of the operators."""
        print(*self.ops, sep=",")

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        schema = func._schema
        named = dict(zip((one.name for one in schema.arguments), args, strict=False))
        named.update(kwargs or {})
        arguments = [_Given(one, named[one.name]) for one in schema.arguments if one.name in named]
        result = func(*args, **(kwargs or {}))
        self.ops.append(schema.name)
        listed = result if isinstance(result, (tuple, list)) and len(schema.returns) > 1 else [result]
        outputs = [_Given(one, value) for one, value in zip(schema.returns, listed, strict=False)]
        if not schema.name.startswith("aten::") and any(
            leaf is one
            for leaf in tree_leaves(result)
            if isinstance(leaf, Tensor)
            for one in tree_leaves(args)
        ):
            raise RuntimeError(
                f"Custom operators such as {schema.name} are not allowed to directly return inputs"
            )
        for given in arguments:
            self._look_at(schema.name, given, arguments, outputs)
        for place, one in enumerate(outputs):
            for other, two in enumerate(outputs[:place]):
                if one.shares(two) and not one.may_share(two):
                    raise RuntimeError(f"Outputs {other} and {place} alias unexpectedly")
        return result

    def _look_at(self, name: str, given: _Given, arguments: list[_Given], outputs: list[_Given]) -> None:
        """Check an argument, and note what became of it. What shares its memory stands for it too."""
        alike = [one for one in arguments if one is given or one.shares(given)]
        if given.is_changed():
            if not any(one.is_written for one in alike):
                raise RuntimeError(f"Argument {given.name} is not defined as mutable but was mutated")
            self.mutated.append((name, given.name))
        for place, output in enumerate(outputs):
            if not given.shares(output):
                continue
            if not any(one.may_share(output) for one in alike):
                raise RuntimeError(f"Argument {given.name} is not defined to alias output but was aliasing")
            self.aliasing.append((name, given.name, f"output_{place}"))


class _Given:
    """An argument or a result: what its schema says, its memory, and its numbers before the call."""

    def __init__(self, declared: Argument, value: Any) -> None:
        self.name = "input" if declared.name == "self" else declared.name
        info = declared.alias_info
        self.sets = (set(info.before_set) | set(info.after_set)) if info else set()
        self.is_written = bool(info and info.is_write)
        # Classes that wrap a tensor keep it as `elem`.
        tensors = [getattr(leaf, "elem", leaf) for leaf in tree_leaves(value) if isinstance(leaf, Tensor)]
        self._tensors = [one for one in tensors if one.layout is native.strided and one.device.type == "cpu"]
        self._before = [(_form(one), one.detach().clone()) for one in self._tensors]
        self._memory = {native._memory_of(one) for one in self._tensors}

    def is_changed(self) -> bool:
        """Tell whether numbers or forms are others than before."""
        return any(
            _form(now) != form or not _are_alike(now.detach(), before)
            for now, (form, before) in zip(self._tensors, self._before, strict=True)
        )

    def shares(self, other: _Given) -> bool:
        """Tell whether both have memory in common."""
        return not self._memory.isdisjoint(other._memory)

    def may_share(self, other: _Given) -> bool:
        """Tell whether the schema says that both may have memory in common."""
        return "*" in self.sets | other.sets or not self.sets.isdisjoint(other.sets)


def _form(tensor: Tensor) -> tuple[Any, ...]:
    return tuple(tensor.shape), tensor.stride(), tensor.storage_offset(), tensor.dtype


def _are_alike(one: Tensor, other: Tensor) -> bool:
    return native.allclose(one, other, equal_nan=True) if one.numel() else True

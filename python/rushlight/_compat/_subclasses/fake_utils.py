"""What results have in common with their inputs, with each other, and with what is known without numbers."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ..._rushlight import Tensor
from ...utils._python_dispatch import TorchDispatchMode
from ...utils._pytree import tree_leaves, tree_map_only
from .._C._memory import _has_storage, _storage_id
from .fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    MetadataMismatchError,
    UnsupportedFakeTensorException,
)

__all__ = ["CrossRefFakeMode"]


def _tensors(tree: Any) -> Iterator[Tensor]:
    return (leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor))


def _memory(tree: Any) -> list[Any]:
    return [_storage_id(tensor) for tensor in _tensors(tree) if _has_storage(tensor)]


def outputs_alias_inputs(outputs: Any, inputs: Any) -> bool:
    """Tell whether a result has memory of an input."""
    return not set(_memory(inputs)).isdisjoint(_memory(outputs))


def outputs_are_inputs(outputs: Any, inputs: Any) -> bool:
    """Tell whether a result is an input."""
    return not set(map(id, _tensors(inputs))).isdisjoint(map(id, _tensors(outputs)))


def output_alias_each_other(outputs: Any) -> bool:
    """Tell whether two results have the same memory."""
    found = _memory(outputs)
    return len(set(found)) < len(found)


class CrossRefFakeMode(TorchDispatchMode):
    """In the block, every operation is computed without numbers too, and both results have to be alike.

    >>> import rushlight as torch
    >>> from rushlight._subclasses import CrossRefFakeMode
    >>> with CrossRefFakeMode():
    ...     torch.ones(2) + 1
    tensor([2., 2.])
    """

    def __init__(
        self,
        ignore_op_fn: Callable[[Any], bool] | None = None,
        *,
        check_strides: bool = True,
        check_aliasing: bool = True,
        only_check_ops_with_meta: bool = True,
    ) -> None:
        super().__init__()
        self.ignore_op_fn = ignore_op_fn or (lambda _: False)
        self.check_strides, self.check_aliasing = check_strides, check_aliasing
        self.only_check_ops_with_meta = only_check_ops_with_meta

    def __torch_dispatch__(self, func: Any, types: Sequence[type], args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        formed = None if self.ignore_op_fn(func) else self._formed(func, args, kwargs)
        found = func(*args, **kwargs)
        if formed is not None:
            self._compare(func, (args, kwargs), found, *formed)
        return found

    def _formed(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Return what the operation gives without numbers, and of what, if that can be known."""
        try:
            with FakeTensorMode() as mode, warnings.catch_warnings():
                given = tree_map_only(Tensor, mode.from_tensor, (args, kwargs))
                return func(*given[0], **given[1]), given
        except (
            DataDependentOutputException,
            DynamicOutputShapeException,
            NotImplementedError,
            UnsupportedFakeTensorException,
        ):
            return None

    def _compare(self, func: Any, given: Any, found: Any, formed: Any, formed_of: Any) -> None:
        context = f"When comparing the output of {func} on FakeTensor and concrete Tensors, found"
        real, fake = tree_leaves(found), tree_leaves(formed)
        if len(real) != len(fake):
            raise AssertionError(f"{context} mismatch in number of returns {len(fake)} != {len(real)}")
        if self.check_aliasing and outputs_are_inputs(found, given) != outputs_are_inputs(formed, formed_of):
            raise MetadataMismatchError(f"{context} mismatch in outputs_are_inputs check")
        for index, (one, other) in enumerate(zip(real, fake, strict=True)):
            if isinstance(one, Tensor) != isinstance(other, Tensor):
                raise AssertionError(f"{context} mismatched number of tensor outputs")
            if not isinstance(one, Tensor) or not isinstance(other, FakeTensor):
                continue
            names = ["dtype", "shape", *(["stride"] if self.check_strides and one.numel() else [])]
            for name in names:
                first, second = (_asked(each, name) for each in (one, other))
                if first != second:
                    where = "" if len(real) == 1 else f" for output[{index}]"
                    raise MetadataMismatchError(
                        f"{context} mismatched tensor metadata{where}: {name}: {second} != {first}"
                    )


def _asked(tensor: Tensor, name: str) -> Any:
    found = getattr(tensor, name)
    return found() if callable(found) else found

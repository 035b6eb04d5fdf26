"""How the tensors of several processes become one: `ReduceOp`."""

from __future__ import annotations

from enum import Enum
from typing import TYPE_CHECKING, Any

from .._rushlight import maximum, minimum

if TYPE_CHECKING:
    from collections.abc import Callable

    from .._rushlight import Tensor

__all__ = ["ReduceOp", "reduce_op", "supports_complex"]


class RedOpType(Enum):
    """The ways there are."""

    SUM = 0
    AVG = 1
    PRODUCT = 2
    MIN = 3
    MAX = 4
    BAND = 5
    BOR = 6
    BXOR = 7
    PREMUL_SUM = 8


RedOpType.__qualname__ = "ReduceOp.RedOpType"


class _Names(type):
    """What `ReduceOp.SUM` is can be taken for a `ReduceOp`."""

    def __instancecheck__(cls, instance: object) -> bool:
        return isinstance(instance, RedOpType) or type.__instancecheck__(cls, instance)


class ReduceOp(metaclass=_Names):
    """How the tensors of several processes become one.

    >>> import rushlight as torch
    >>> torch.distributed.ReduceOp.SUM
    <RedOpType.SUM: 0>
    """

    SUM = RedOpType.SUM
    AVG = RedOpType.AVG
    PRODUCT = RedOpType.PRODUCT
    MIN = RedOpType.MIN
    MAX = RedOpType.MAX
    BAND = RedOpType.BAND
    BOR = RedOpType.BOR
    BXOR = RedOpType.BXOR
    PREMUL_SUM = RedOpType.PREMUL_SUM

    def __init__(self, op: RedOpType) -> None:
        self.op = kind_of(op)

    def __eq__(self, other: object) -> bool:
        return self.op is (other.op if type(other) is ReduceOp else other)

    def __hash__(self) -> int:
        return hash(self.op)


# The class by the name that programs know, which is not to hide it above.
ReduceOp.RedOpType = RedOpType  # type: ignore[attr-defined]


class _Former:
    """The names of `ReduceOp`, where they used to be."""

    __members__ = RedOpType.__members__

    def __getattr__(self, name: str) -> RedOpType:
        import warnings

        if name not in RedOpType.__members__:
            raise AttributeError(f"'_reduce_op' object has no attribute {name!r}")
        warnings.warn(
            "`torch.distributed.reduce_op` is deprecated, please use `torch.distributed.ReduceOp` instead",
            FutureWarning,
            stacklevel=2,
        )
        return RedOpType[name]


reduce_op = _Former()


def kind_of(op: Any) -> RedOpType:
    """Return the way that is meant."""
    if type(op) is ReduceOp:
        return op.op
    if isinstance(op, RedOpType):
        return op
    raise TypeError(
        "(): incompatible function arguments. The following argument types are supported:\n    1. (self: "
        f"AllreduceOptions, arg0: ReduceOp) -> None\n\nInvoked with: {op!r}"
    )


def supports_complex(reduceOp: Any) -> bool:
    """Tell whether complex numbers can be reduced in this way.

    >>> import rushlight as torch
    >>> torch.distributed.distributed_c10d.supports_complex(torch.distributed.ReduceOp.MAX)
    False
    """
    return kind_of(reduceOp) in (RedOpType.SUM, RedOpType.AVG, RedOpType.PREMUL_SUM)


# What each does to a tensor, in place, with another of its shape.
_STEPS: dict[RedOpType, Callable[[Tensor, Tensor], Any]] = {
    RedOpType.SUM: lambda mine, other: mine.add_(other),
    RedOpType.AVG: lambda mine, other: mine.add_(other),
    RedOpType.PRODUCT: lambda mine, other: mine.mul_(other),
    RedOpType.MIN: lambda mine, other: minimum(mine, other, out=mine),
    RedOpType.MAX: lambda mine, other: maximum(mine, other, out=mine),
    RedOpType.BAND: lambda mine, other: mine.bitwise_and_(other),
    RedOpType.BOR: lambda mine, other: mine.bitwise_or_(other),
    RedOpType.BXOR: lambda mine, other: mine.bitwise_xor_(other),
}


def check_kind(op: Any, tensor: Tensor) -> RedOpType:
    """Return the way that is meant, if such tensors can go it."""
    kind = kind_of(op)
    if kind not in _STEPS:
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with Gloo")
    whole = not (tensor.is_floating_point() or tensor.is_complex())
    if kind.name in ("BAND", "BOR", "BXOR") and not whole:
        raise RuntimeError(f"Cannot use ReduceOp.{kind.name} with non-integral dtype")
    if kind is RedOpType.AVG and whole:
        raise RuntimeError("result type Float can't be cast to the desired output type Long")
    return kind


def step_of(kind: RedOpType) -> Callable[[Tensor, Tensor], Any]:
    """Return what takes one tensor into another."""
    return _STEPS[kind]


def end(kind: RedOpType, reduced: Tensor, count: int) -> None:
    """Do what is left when all tensors are one."""
    if kind is RedOpType.AVG:
        reduced.div_(count)

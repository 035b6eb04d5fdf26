"""Tensors of tensors whose sizes differ in one dimension (`layout=torch.jagged`), or in several (`strided`).

>>> import rushlight as torch
>>> x = torch.nested.nested_tensor([torch.ones(1, 2), torch.ones(2, 2)], layout=torch.jagged)
>>> x.offsets(), (x * 2).values().shape
(tensor([0, 1, 3]), torch.Size([3, 2]))
>>> torch.nested.to_padded_tensor(x, 0.0).shape
torch.Size([2, 2, 2])
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ._tensor import NestedTensor, from_parts, from_values

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = [
    "as_nested_tensor",
    "masked_select",
    "narrow",
    "nested_tensor",
    "nested_tensor_from_jagged",
    "to_padded_tensor",
]


def nested_tensor(
    tensor_list: Sequence[Any],
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:
    """Return a nested tensor of copies, without history.

    >>> import rushlight as torch
    >>> torch.nested.nested_tensor([torch.tensor([1.0]), torch.tensor([2.0, 3.0])])
    nested_tensor([
      tensor([1.]),
      tensor([2., 3.])
    ])
    """
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError("Only lists (List[Tensor] and List[List...[Scalar]]) are accepted in nested_tensor")
    parts = [_copied(one, dtype) for one in tensor_list]
    made: Tensor = from_parts(parts, layout).requires_grad_(requires_grad)
    return made


def _copied(value: Any, dtype: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value.detach().to(dtype or value.dtype, copy=True)
    return native.tensor(value, dtype=dtype)


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
    """Return a nested tensor of tensors, through which gradients reach these.

    >>> import rushlight as torch
    >>> parts = [torch.ones(1, requires_grad=True), torch.ones(2, requires_grad=True)]
    >>> torch.nested.as_nested_tensor(parts, layout=torch.jagged).values().sum().backward()
    >>> parts[1].grad
    tensor([1., 1.])
    """
    if isinstance(ts, NestedTensor):
        return ts
    if isinstance(ts, Tensor):
        ts = ts.unbind(0)
    if not isinstance(ts, (list, tuple)) or not all(isinstance(one, Tensor) for one in ts):
        raise TypeError(
            "as_nested_tensor(): Expected first argument to be a tensor or a list / tuple of tensors "
        )
    return from_parts([one if dtype is None else one.to(dtype) for one in ts], layout)


def nested_tensor_from_jagged(
    values: Tensor,
    offsets: Tensor | None = None,
    lengths: Tensor | None = None,
    jagged_dim: int | None = None,
    min_seqlen: int | None = None,
    max_seqlen: int | None = None,
) -> Tensor:
    """Return the nested tensor of values that stand one after another, where parts begin at `offsets`.

    >>> import rushlight as torch
    >>> x = torch.nested.nested_tensor_from_jagged(torch.arange(3.0), torch.tensor([0, 1, 3]))
    >>> x.unbind()
    (tensor([0.]), tensor([1., 2.]))
    """
    if offsets is None:
        if lengths is None:
            raise RuntimeError("nested_tensor_from_jagged(): At least one of offsets or lengths is required.")
        offsets, lengths = native.cat((lengths.new_zeros(1), lengths.cumsum(0))), None
    return from_values(values, offsets, lengths, jagged_dim or 1)


def to_padded_tensor(
    input: Any, padding: float, output_size: Sequence[int] | None = None, out: Tensor | None = None
) -> Tensor:
    """Return a tensor in which all parts have the size of the largest, filled with `padding`."""
    if not isinstance(input, NestedTensor):
        raise RuntimeError("to_padded_tensor: the tensor is not nested")
    found: Tensor = input.to_padded_tensor(padding, output_size)
    return found


def narrow(tensor: Tensor, dim: int, start: Any, length: Any, layout: Any = None) -> Tensor:
    """Return the nested tensor of a stretch of each row: `start` and `length` are numbers or one of each row.

    >>> import rushlight as torch
    >>> x, lengths = torch.arange(4.0).view(2, 2), torch.tensor([1, 2])
    >>> torch.nested.narrow(x, 1, 0, lengths, layout=torch.jagged).unbind()
    (tensor([0.]), tensor([2., 3.]))
    """
    if dim != 1:
        raise RuntimeError("jagged layout only supports dim=1")
    rows = tensor.unbind(0)
    starts, lengths = (
        one.tolist() if isinstance(one, Tensor) else [one] * len(rows) for one in (start, length)
    )
    return from_parts(
        [row.narrow(0, first, count) for row, first, count in zip(rows, starts, lengths, strict=True)], layout
    )


def masked_select(tensor: Tensor, mask: Tensor) -> Tensor:
    """Return the nested tensor of the elements of each row where the mask holds.

    >>> import rushlight as torch
    >>> torch.nested.masked_select(torch.ones(2, 2), torch.tensor([[True, False], [True, True]])).offsets()
    tensor([0, 1, 3])
    """
    tensor, mask = native.broadcast_tensors((tensor, mask))
    lengths = mask.flatten(1).sum(1)
    return from_values(tensor[mask], native.cat((lengths.new_zeros(1), lengths.cumsum(0))), None)

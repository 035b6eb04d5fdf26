"""Bilinear forms: sums of products of two inputs with weights."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ... import _rushlight as native
from ..._calls.showing import shown_as_given

if TYPE_CHECKING:
    from ..._rushlight import Tensor

__all__ = ["bilinear"]


@shown_as_given
def bilinear(input1: Tensor, input2: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Return `input1 @ weight[k] @ input2 + bias[k]` for every output `k`.

    >>> import rushlight as torch
    >>> torch.nn.functional.bilinear(torch.ones(1, 2), torch.ones(1, 3), torch.ones(4, 2, 3))
    tensor([[6., 6., 6., 6.]])
    """
    if input1.dim() != input2.dim():
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.dim()} and {input2.dim()}"
        )
    for place, (first, second) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if first != second:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {place}: got {first} and {second}"
            )
    for number, x in ((1, input1), (2, input2)):
        if x.shape[-1] != weight.shape[number]:
            raise RuntimeError(
                f"bilinear(): input{number} size does not match weight size: got {x.shape[-1]} but expected "
                f"{weight.shape[number]}"
            )
    outputs, first, second = weight.shape
    if bias is not None and bias.shape[0] != outputs:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {outputs}"
        )
    *shape, _ = input1.shape
    count = math.prod(shape)

    def form(left: Tensor, weight: Tensor, right: Tensor) -> Tensor:
        halves = left @ weight.permute(1, 0, 2).reshape(first, outputs * second)
        return (halves.reshape(count, outputs, second) @ right.unsqueeze(-1)).squeeze(-1)

    inputs = (input1.reshape(count, first), weight, input2.reshape(count, second))
    # The form is linear in each: an input is needed if another one has a gradient.
    wanted = [place for place, x in enumerate(inputs) if x.requires_grad]
    needless = 1 << wanted[0] if len(wanted) == 1 else 0
    (result,) = native._as_one(
        form,
        ("_trilinear", "TrilinearBackward0", "i1 i2 i3 -"),
        (3, needless, 0),
        {"expand1": (1, 3), "expand2": (0,), "expand3": (1, 2), "sumdim": (2, 3)},
        *inputs,
    )
    result = result.view(*shape, outputs)
    return result if bias is None else result + bias

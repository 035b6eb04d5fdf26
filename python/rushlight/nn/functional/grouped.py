"""Products of matrices by groups of rows, and of matrices that were scaled to fit few bits."""

from __future__ import annotations

from enum import IntEnum
from itertools import accumulate
from typing import Any

from ... import _rushlight as native
from ..._calls.showing import shown_as_given
from ..._rushlight import Tensor
from ..._tensors.typename import scalar_name

__all__ = ["ScalingType", "SwizzleType", "grouped_mm", "scaled_grouped_mm", "scaled_mm"]

_TYPES = (native.float32, native.bfloat16, native.float16)


class ScalingType(IntEnum):
    """Which elements of a matrix share a factor."""

    TensorWise = 0
    RowWise = 1
    BlockWise1x16 = 2
    BlockWise1x32 = 3
    BlockWise1x128 = 4
    BlockWise128x128 = 5


class SwizzleType(IntEnum):
    """In which order factors lie."""

    NO_SWIZZLE = 0
    SWIZZLE_32_4_4 = 1


@shown_as_given
def _grouped_mm(
    self: Tensor,
    mat2: Tensor,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: native.dtype | None = None,
) -> Tensor:
    """Multiply group by group: `offs` says where groups end along the dimension that they share."""
    _check(self, mat2, offs, bias, out_dtype)
    if offs is None:
        return native.bmm(self, mat2)
    ends = offs.tolist()

    def multiplied(one: Tensor, other: Tensor) -> Tensor:
        return _products(one, other, ends)

    names = ("_grouped_mm", "GroupedMmBackward0", "self mat2 -")
    (result,) = native._as_one(multiplied, names, (2, 0, 0), {}, self, mat2)
    return result


def _products(one: Tensor, other: Tensor, ends: list[int]) -> Tensor:
    # Ends beyond what there is end where it does, as slices do; none lies before the one that it follows.
    ends = list(accumulate(ends, max))
    spans = [slice(start, end) for start, end in zip([0, *ends], ends, strict=False)]
    if one.dim() == 2 and other.dim() == 2:
        return native.stack([one[:, span] @ other[span] for span in spans])
    if one.dim() == 2:
        rows = [one[span] @ other[group] for group, span in enumerate(spans)]
        rest = one.shape[0] - sum(part.shape[0] for part in rows)
        return native.cat([*rows, one.new_zeros(max(rest, 0), other.shape[2])])
    columns = [one[group] @ other[:, span] for group, span in enumerate(spans)]
    rest = other.shape[1] - sum(part.shape[1] for part in columns)
    return native.cat([*columns, one.new_zeros(one.shape[1], max(rest, 0))], 1)


def _check(
    one: Tensor, other: Tensor, offs: Tensor | None, bias: Tensor | None, out_dtype: native.dtype | None
) -> None:
    for name, matrix in (("mat_a", one), ("mat_b", other)):
        if matrix.dtype not in _TYPES:
            found = scalar_name(matrix)
            raise RuntimeError(f"Expected {name} to be Float32, BFloat16 or Float16 matrix, got {found}")
        if matrix.dim() not in (2, 3):
            raise RuntimeError(f"{name} has to be 2 or 3d")
    if one.dtype is not other.dtype:
        raise RuntimeError(
            f"expected m1 and m2 to have the same dtype, but got: {one.dtype} != {other.dtype}"
        )
    if one.shape[-1] != other.shape[-2]:
        raise RuntimeError("contraction dimension of mat_a and mat_b must match")
    if (offs is not None) != (one.dim() == 2 or other.dim() == 2):
        raise RuntimeError(
            "Have to provide offsets if there is a 2d matrix, or no offset if both matrices are 3d"
        )
    if offs is not None and offs.dim() != 1:
        raise RuntimeError("offs has to be 1D")
    if offs is not None and offs.dtype is not native.int32:
        raise RuntimeError("Offsets have to be int32")
    groups = {matrix.shape[0] for matrix in (one, other) if matrix.dim() == 3}
    if len(groups | ({offs.shape[0]} if offs is not None else set())) > 1:
        raise RuntimeError("matrix batch sizes have to match")
    if bias is not None:
        raise RuntimeError("Bias not supported yet")
    if out_dtype not in (None, one.dtype):
        raise RuntimeError("Grouped gemm output dtype must match `mat_a` dtype")


def grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    *,
    offs: Tensor | None = None,
    bias: Tensor | None = None,
    out_dtype: native.dtype | None = None,
) -> Tensor:
    """Multiply group by group: `offs` says where groups end along the dimension that they share.

    >>> import rushlight as torch
    >>> rows, experts = torch.ones(3, 4), torch.stack([torch.ones(4, 4), 2 * torch.ones(4, 4)])
    >>> ends = torch.tensor([1, 3], dtype=torch.int32)
    >>> torch.nn.functional.grouped_mm(rows, experts, offs=ends)[:, 0]
    tensor([4., 8., 8.])
    """
    found: Tensor = _grouped_mm(mat_a, mat_b, offs=offs, bias=bias, out_dtype=out_dtype)
    return found


@shown_as_given
def _scaled_mm(
    self: Tensor,
    mat2: Tensor,
    scale_a: Tensor,
    scale_b: Tensor,
    bias: Tensor | None = None,
    scale_result: Tensor | None = None,
    out_dtype: native.dtype | None = None,
    use_fast_accum: bool = False,
) -> Tensor:
    """Multiply matrices, each times factors: one, or one a row of the first and a column of the second.

    >>> import rushlight as torch
    >>> x = torch.ones(2, 2).to(torch.float8_e4m3fn)
    >>> torch._scaled_mm(x, x, torch.tensor(2.0), torch.tensor(3.0), out_dtype=torch.float32)
    tensor([[12., 12.],
            [12., 12.]])
    """
    one, other = self.float() * _factors(scale_a, self, 0), mat2.float() * _factors(scale_b, mat2, 1)
    found = one @ other
    if bias is not None:
        found = found + bias.float()
    return found.to(out_dtype or self.dtype)


def _factors(scale: Tensor, matrix: Tensor, side: int) -> Tensor:
    """Return factors so that they multiply the rows of a matrix, or its columns (`side` 1)."""
    scale = scale.float()
    if scale.numel() == 1:
        return scale.reshape(())
    if scale.numel() != matrix.shape[side]:
        raise RuntimeError(
            "Invalid scaling configuration: there is one factor for a tensor, or one for each row of the "
            f"first and each column of the second; got {scale.numel()} factors for a matrix of "
            f"{tuple(matrix.shape)}"
        )
    return scale.reshape(-1, 1) if side == 0 else scale.reshape(1, -1)


def scaled_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    scale_a: Any,
    scale_recipe_a: Any,
    scale_b: Any,
    scale_recipe_b: Any,
    swizzle_a: Any = None,
    swizzle_b: Any = None,
    bias: Tensor | None = None,
    output_dtype: native.dtype | None = native.bfloat16,
    contraction_dim: Any = (),
    use_fast_accum: bool = False,
) -> Tensor:
    """Multiply matrices, each times the factors that its recipe says: for all of it, or by rows."""
    first, second = _simple(scale_a, scale_recipe_a), _simple(scale_b, scale_recipe_b)
    found: Tensor = _scaled_mm(mat_a, mat_b, first, second, bias=bias, out_dtype=output_dtype)
    return found


def _scaled_mm_v2(
    self: Tensor,
    mat2: Tensor,
    scale_a: Any,
    recipe_a: Any,
    swizzle_a: Any,
    scale_b: Any,
    recipe_b: Any,
    swizzle_b: Any,
    bias: Tensor | None = None,
    out_dtype: native.dtype | None = None,
    contraction_dim: Any = (),
    use_fast_accum: bool = False,
) -> Tensor:
    """Multiply matrices as `scaled_mm` does, by torch's inner name."""
    return scaled_mm(self, mat2, scale_a, recipe_a, scale_b, recipe_b, swizzle_a, swizzle_b, bias, out_dtype)


def scaled_grouped_mm(
    mat_a: Tensor,
    mat_b: Tensor,
    scale_a: Any,
    scale_recipe_a: Any,
    scale_b: Any,
    scale_recipe_b: Any,
    swizzle_a: Any = None,
    swizzle_b: Any = None,
    bias: Tensor | None = None,
    offs: Tensor | None = None,
    output_dtype: native.dtype | None = native.bfloat16,
    contraction_dim: Any = (),
    use_fast_accum: bool = False,
) -> Tensor:
    """Refuse: torch has it on other devices alone."""
    raise NotImplementedError("scaled_grouped_mm: there is none on the CPU; scale, then use grouped_mm")


def _simple(scale: Any, recipe: Any) -> Tensor:
    """Return the one tensor of factors that a recipe wants here."""
    scales = scale if isinstance(scale, list) else [scale]
    recipes = recipe if isinstance(recipe, list) else [recipe]
    plain = (ScalingType.TensorWise, ScalingType.RowWise)
    if len(scales) != 1 or len(recipes) != 1 or recipes[0] not in plain:
        raise NotImplementedError("scaled_mm: factors are of a tensor or of its rows on the CPU")
    only: Tensor = scales[0]
    return only

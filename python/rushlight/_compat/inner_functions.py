"""Functions that programs call by torch's inner names, where no public function has the same."""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .._calls.showing import shown_as_given
from .._messages.formatting import _DType
from .._rushlight import Tensor
from ..compiler import disable
from .classes import classes as classes

__all__: list[str] = []

_disable_dynamo = disable


@shown_as_given
def _int_mm(input: Tensor, mat2: Tensor, *, out: Tensor | None = None) -> Tensor:
    """Multiply matrices of numbers of eight bits, into numbers of 32.

    >>> import rushlight as torch
    >>> x = torch.full((1, 2), 100, dtype=torch.int8)
    >>> torch._int_mm(x, x.t())
    tensor([[20000]], dtype=torch.int32)
    """
    for name, matrix in (("self", input), ("mat2", mat2)):
        if matrix.dim() != 2:
            raise RuntimeError(f"Expected {name} to be of dimension 2 but got {matrix.dim()}")
        if matrix.dtype not in (native.int8, native.uint8):
            raise RuntimeError(f"Expected {name} dtype to be of type int8 but got {matrix.dtype}")
    if input.shape[1] != mat2.shape[0]:
        raise RuntimeError(
            f"self.size(1) needs to match mat2.size(0) but got {input.shape[1]} and {mat2.shape[0]}"
        )
    return native.mm(input.to(native.int32), mat2.to(native.int32), out=out)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Refuse a zero."""
    if not input:
        raise RuntimeError(assert_msg or "Expected Tensor with single nonzero value, but got zero")


def _assert_scalar(self: Any, assert_msg: str) -> None:
    """Refuse a number that is zero."""
    if not self:
        raise RuntimeError(assert_msg)


@shown_as_given
def _convert_indices_from_coo_to_csr(
    input: Tensor, size: int, *, out_int32: bool = False, out: Tensor | None = None
) -> Tensor:
    """Return where each of `size` rows begins, of sorted rows of elements.

    >>> import rushlight as torch
    >>> torch._convert_indices_from_coo_to_csr(torch.tensor([0, 0, 2]), 3)
    tensor([0, 2, 2, 3])
    """
    counts = native.bincount(input, minlength=size)
    begins = native.cat([counts.new_zeros(1), counts.cumsum(0)])
    found = begins.to(native.int32 if out_int32 else native.int64)
    return native._written("_convert_indices_from_coo_to_csr", found, out)


@shown_as_given
def _convert_indices_from_csr_to_coo(
    crow_indices: Tensor,
    col_indices: Tensor,
    *,
    out_int32: bool = False,
    transpose: bool = False,
    out: Tensor | None = None,
) -> Tensor:
    """Return rows and columns of elements, of where rows begin and of columns.

    >>> import rushlight as torch
    >>> torch._convert_indices_from_csr_to_coo(torch.tensor([0, 1, 3]), torch.tensor([0, 1, 2]))
    tensor([[0, 1, 1],
            [0, 1, 2]])
    """
    rows = native.arange(crow_indices.shape[-1] - 1).repeat_interleave(crow_indices.diff())
    both = [col_indices, rows] if transpose else [rows, col_indices]
    found = native.stack([each.to(native.int32 if out_int32 else native.int64) for each in both])
    return native._written("_convert_indices_from_csr_to_coo", found, out)


@shown_as_given
def _sample_dirichlet(self: Tensor, generator: Any = None) -> Tensor:
    """Draw shares that come to one, by how concentrated each is."""
    from ..distributions.gammas import _shares

    return _shares(self.detach(), generator)


@shown_as_given
def _dirichlet_grad(x: Tensor, alpha: Tensor, total: Tensor) -> Tensor:
    """Return how shares move with how concentrated they are: -(dF/dalpha) / f / (1 - x), F of a beta.

    >>> import rushlight as torch
    >>> torch._dirichlet_grad(torch.tensor([0.5]), torch.tensor([1.0]), torch.tensor([2.0]))
    tensor([0.6931])
    """
    from ..distributions.gammas import _beta_slope

    return _beta_slope(x.double(), alpha.double(), (total - alpha).double()).to(x.dtype)


@shown_as_given
def _standard_gamma(self: Tensor, generator: Any = None) -> Tensor:
    """Draw from gamma distributions of rate one, with these concentrations; gradients pass."""
    from ..distributions.gammas import _standard_gamma as drawn

    return drawn(self, generator)


@shown_as_given
def _assert_tensor_metadata(
    a: Tensor,
    size: Any = None,
    stride: Any = None,
    dtype: native.dtype | None = None,
    *,
    device: Any = None,
    layout: native.layout | None = None,
) -> None:
    """Refuse a tensor that has not this form.

    >>> import rushlight as torch
    >>> torch._assert_tensor_metadata(torch.ones(2), [2], [1], torch.float32)
    """
    found = _DType(a.dtype)
    for name, expected, got in (
        ("sizes", size and list(size), list(a.shape)),
        ("strides", stride and list(stride), list(a.stride())),
        ("dtype", dtype and f"{_DType(dtype):Float}", f"{found:Float}"),
        ("device", device and native.device(device), a.device),
        ("layout", layout, a.layout),
    ):
        if expected is not None and expected != got:
            shown = f"{found:C}" if name == "dtype" else got
            raise RuntimeError(f"Tensor {name} mismatch! Expected: {expected}, Got: {shown}")


def _nnpack_available() -> bool:
    """Tell whether convolutions are computed by a library of that name."""
    return False


def _cast(name: str, dtype: native.dtype) -> Any:
    def function(input: Tensor, non_blocking: bool = False) -> Tensor:
        return input.to(dtype)

    function.__name__ = function.__qualname__ = f"_cast_{name}"
    function.__doc__ = f"Return the elements as {dtype}."
    return shown_as_given(function)


_cast_Byte = _cast("Byte", native.uint8)
_cast_Char = _cast("Char", native.int8)
_cast_Double = _cast("Double", native.float64)
_cast_Float = _cast("Float", native.float32)
_cast_Half = _cast("Half", native.float16)
_cast_Int = _cast("Int", native.int32)
_cast_Long = _cast("Long", native.int64)
_cast_Short = _cast("Short", native.int16)

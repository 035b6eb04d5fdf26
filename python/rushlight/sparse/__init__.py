"""Tensors of which only some elements are kept, and functions of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .. import _rushlight as native
from .._devices import absent_types as layouts
from .._devices.absent import idle, refusing
from .._functions.uniques import unique
from .._module_aliases import add_module_aliases
from .._rushlight import Tensor
from ..autograd import Function
from . import _elements as _elements  # what these answer is known once they are there
from . import _making
from . import _parts as _parts
from ._compressed import to_compressed
from ._forms import Pieces, flattened, in_words, is_sparse
from ._functions import _dim, _sum
from ._invariants import check_sparse_tensor_invariants
from ._making import Values, dense, made, named
from ._matrices import made_of_nothing, without_values
from ._operators import nothing
from ._products import plus_product
from .methods import sparse_mask

__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "solve",
    "spdiags",
    "sum",
]


# Kernels for GPUs, of which libraries import the names.
add_module_aliases(globals(), {"_triton_ops": {}, "_triton_ops_meta": {}})
refusing(
    vars(globals()["_triton_ops"]),
    "bsr_dense_addmm bsr_dense_addmm_meta bsr_dense_mm bsr_scatter_mm bsr_scatter_mm_indices_data "
    "bsr_softmax scatter_mm scatter_mm_meta",
    RuntimeError,
    "torch.sparse: kernels of Triton need a GPU, and there is none",
)
refusing(
    vars(globals()["_triton_ops_meta"]),
    "dump minimize optimize_bsr_dense_addmm optimize_scatter_mm tune_bsr_dense_addmm update",
    RuntimeError,
    "torch.sparse: kernels of Triton are tuned on a GPU, and there is none",
)
idle(vars(globals()["_triton_ops_meta"]), {"get_meta": None})


@named
class SparseAddmm(Function):
    """The product of matrices, the gradient of a sparse one in its places alone."""

    @staticmethod
    def forward(ctx: Any, start: Any, one: Any, other: Any, beta: Any, alpha: Any) -> Any:
        ctx.save_for_backward(one, other)
        ctx.factors = beta, alpha
        if start is None:
            return plus_product(0, one, other, alpha=alpha) if alpha != 1 else one.mm(other)
        return plus_product(start, one, other, beta=beta, alpha=alpha)

    @staticmethod
    def backward(ctx: Any, gradient: Any) -> Any:
        one, other = ctx.saved_tensors
        beta, alpha = ctx.factors
        wanted = ctx.needs_input_grad
        first = _in_places(gradient, other, one, False) if wanted[1] else None
        second = _in_places(gradient, one, other, True) if wanted[2] else None
        if alpha != 1:
            first, second = (each if each is None else each * alpha for each in (first, second))
        return gradient * beta if wanted[0] else None, first, second, None, None


def _in_places(gradient: Any, factor: Any, of: Any, is_second: bool) -> Any:
    """Return the gradient of a factor: of a sparse one, what is in its places."""
    if is_sparse(of) and not is_sparse(gradient) and not is_sparse(factor):
        kept = _making.coalesce(of.detach()) if of.layout is layouts.sparse_coo else of
        rows, columns = _making.places_of(kept._pieces, of.shape)
        left, right = (factor.t(), gradient.t()) if is_second else (gradient, factor)
        return made(native._sparse_samples(rows, columns, left, right), kept._pieces, of.shape)
    found = factor.t() @ gradient if is_second else gradient @ factor.t()
    return sparse_mask(found, of) if is_sparse(of) else dense(found)


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """Return the product of two matrices, of which the first is sparse; gradients of it are sparse too.

    >>> import rushlight as torch
    >>> torch.sparse.mm(torch.eye(2).to_sparse(), torch.ones(2, 1))
    tensor([[1.],
            [1.]])
    """
    if reduce is not None:
        return _reduced(mat1, mat2, reduce)
    if not is_sparse(mat1) and not is_sparse(mat2):
        return native.mm(mat1, mat2)
    return SparseAddmm.apply(None, mat1, mat2, 1, 1)


def _reduced(one: Any, other: Tensor, how: str) -> Tensor:
    """Return of each row what its values times rows of the other come to."""
    if how not in ("sum", "mean", "amax", "amin"):
        raise RuntimeError("torch.sparse.mm: reduce must be one of 'sum', 'mean', 'amax', 'amin'")
    rows, columns = _making.places_of(one._pieces, one.shape)
    products = Values.apply(one).unsqueeze(1) * other[columns]
    empty = native.zeros((one.shape[0], other.shape[1]), dtype=products.dtype)
    where = rows.unsqueeze(1).expand(products.shape)
    return empty.scatter_reduce(0, where, products, how, include_self=False)


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1.0, alpha: Any = 1.0) -> Any:
    """Return `beta * mat + alpha * (mat1 @ mat2)`, of which `mat1` is sparse."""
    return SparseAddmm.apply(mat, mat1, mat2, beta, alpha)


def smm(input: Any, mat: Tensor) -> Any:
    """Return the product of a sparse matrix and a dense one as a sparse one."""
    input = _making.to_coordinates(input)
    found = mm(input, mat)
    rows, columns = (native.arange(length) for length in found.shape)
    full = native.stack([rows.repeat_interleave(len(columns)), columns.repeat(len(rows))])
    there = native.zeros(len(rows), dtype=native.bool).index_fill_(0, input._pieces.places[0], True)
    return made(found.reshape(-1)[there[full[0]]], Pieces(full[:, there[full[0]]], found), found.shape)


def hspmm(mat1: Any, mat2: Tensor) -> Any:
    """Return the product of a sparse matrix and a dense one, of which rows are kept."""
    found = mm(mat1, mat2)
    rows = unique(mat1._pieces.places[0])
    return made(found[rows], Pieces(rows.unsqueeze(0), found), found.shape)


def sspaddmm(input: Any, mat1: Any, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return `beta * input + alpha * (mat1 @ mat2)` as a sparse matrix."""
    if is_sparse(mat2):
        words = in_words(mat2)
        raise RuntimeError(
            f"sspaddmm: expected 'mat2' to have strided layout, got 'mat2' with layout {words}"
        )
    found = smm(mat1, mat2)
    places = native.cat([input._pieces.places, found._pieces.places], 1)
    values = native.cat([Values.apply(input) * beta, Values.apply(found) * alpha])
    return made(values, Pieces(places, values.detach()), input.shape)


def spmm(input: Any, mat: Any) -> Any:
    """Return the product of a sparse matrix and another: `mm` under an older name."""
    return mm(input, mat)


dsmm, hsmm = spmm, hspmm


def saddmm(input: Any, mat1: Any, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """Return `beta * input + alpha * (mat1 @ mat2)`, sparse where `input` is."""
    if is_sparse(input):
        return sspaddmm(input, mat1, mat2, beta=beta, alpha=alpha)
    return addmm(input, mat1, mat2, beta=beta, alpha=alpha)


def native_norm(input: Any, p: Any = 2, dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Any:
    """Return the norm of the values: of all, of a sparse tensor."""
    if is_sparse(input):
        return input.norm(p)
    return native.norm(input, p, dim, keepdim, dtype=dtype)


def sampled_addmm(
    input: Any, mat1: Tensor, mat2: Tensor, *, beta: Any = 1.0, alpha: Any = 1.0, out: Any = None
) -> Any:
    """Return `beta * input + alpha * (mat1 @ mat2)` in the places of `input`."""
    pieces = input._pieces
    rows, columns = _making.places_of(pieces, input.shape)
    values = native._sparse_samples(rows, columns, mat1, mat2.t()) * alpha + beta * Values.apply(input)
    return made(values, pieces, input.shape)


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """Return the sum of the values, of all or along dimensions; gradients are in the places of the values.

    >>> import rushlight as torch
    >>> torch.sparse.sum(torch.eye(3).to_sparse())
    tensor(3.)
    """
    if not is_sparse(input) or input.layout is not layouts.sparse_coo:
        from .methods import coalesce

        coalesce(input)
    if dim is None:
        dim = tuple(range(input.dim()))
    return _sum(input, dim, dtype=dtype)


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the softmax along a dimension of the values that are kept: others count as minus infinity.

    >>> import rushlight as torch
    >>> torch.sparse.softmax(torch.eye(2).to_sparse(), 1).to_dense()
    tensor([[1., 0.],
            [0., 1.]])
    """
    return _normalised(input, dim, dtype, "softmax")


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Return the logarithm of the softmax of the values that are kept."""
    return _normalised(input, dim, dtype, "log_softmax")


def _normalised(input: Any, dim: int, dtype: Any, name: str) -> Any:
    if not is_sparse(input):
        raise NotImplementedError(
            f"Could not run 'aten::_sparse_{name}' with arguments from the 'CPU' backend."
        )
    dim = _dim(dim, input.dim())
    kept = _making.coalesce(input)
    pieces, values = kept._pieces, Values.apply(kept)
    values = values if dtype is None else values.to(dtype)
    first = len(pieces.places)
    if dim >= first:
        return made(getattr(native, name)(values, dim - first + 1), pieces, input.shape)
    # Values that differ in no place but that along the dimension are normalised together.
    rest = [place for place in range(first) if place != dim]
    size = [input.shape[place] for place in rest]
    lines = flattened(pieces.places[rest], size) if rest else native.zeros(len(values), dtype=native.int64)
    _, lines = unique(lines, return_inverse=True)
    count = int(lines.max()) + 1 if len(lines) else 0
    where = lines.reshape(-1, *(1,) * (values.dim() - 1)).expand(values.shape)
    empty = values.detach().new_zeros((count, *values.shape[1:]))
    largest = empty.scatter_reduce(0, where, values.detach(), "amax", include_self=False)
    shifted = values - largest[lines]
    powers = shifted.exp()
    totals = empty.index_add(0, lines, powers)[lines]
    return made(powers / totals if name == "softmax" else shifted - totals.log(), pieces, input.shape)


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: Any = None) -> Any:
    """Return a matrix whose diagonals at `offsets` are the rows of `diagonals`."""
    rows, columns, parts = [], [], []
    for numbers, offset in zip(
        diagonals.reshape(-1, diagonals.shape[-1]), offsets.reshape(-1).tolist(), strict=True
    ):
        across = native.arange(max(0, offset), min(len(numbers), shape[1], shape[0] + offset))
        rows.append(across - offset)
        columns.append(across)
        parts.append(numbers[across])
    places = native.stack([native.cat(rows), native.cat(columns)])
    values = native.cat(parts)
    found = made(values, Pieces(places, values.detach()), shape)
    return found if layout is None else to_compressed(found, layout)


def of_no_values(form: Tensor, layout: Any, maker: str) -> Any:
    """Return a tensor of which nothing is kept, of the size and type of another, by the function `maker`."""
    if layout is layouts.sparse_coo:
        made = nothing(form.shape, form.dtype, form.dim())
    elif maker.endswith("_like"):
        made = without_values(form.shape, layout, form.dtype)
    else:
        made = made_of_nothing(form.shape, layout, form.dtype, maker.removeprefix("new_"))
    return made.requires_grad_(form.requires_grad)


def solve(*_: Any) -> Any:
    """Refuse: no solver of sparse systems is there, and torch has none on a CPU."""
    raise RuntimeError("Calling linear solver with sparse tensors requires compiling PyTorch with CUDA cuDSS")


def of_values(func: Any, inputs: Sequence[Any]) -> tuple[Any, tuple[Any, ...]]:
    """Return a function of the values of sparse inputs, and these: what it answers is dense."""
    forms = [(one._pieces, one.shape) if is_sparse(one) else None for one in inputs]
    kept = tuple(
        one._pieces.values.clone().requires_grad_(one.requires_grad) if is_sparse(one) else one
        for one in inputs
    )

    def function(*given: Any) -> Any:
        pairs = zip(given, forms, strict=True)
        found = func(*(one if form is None else made(one, *form) for one, form in pairs))
        return dense(found) if isinstance(found, Tensor) else tuple(map(dense, found))

    return function, kept


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """Return a `gradcheck` for functions of sparse tensors: any is, which checks them by their values."""
    return gradcheck


def _legacy(dtype: Any) -> Any:
    def make(*given: Any) -> Any:
        from ._constructors import sparse_coo_tensor

        if given and isinstance(given[0], Tensor):
            return sparse_coo_tensor(*given, dtype=dtype)
        return sparse_coo_tensor(size=given, dtype=dtype)

    return make


FloatTensor, DoubleTensor = _legacy(native.float32), _legacy(native.float64)
HalfTensor, BFloat16Tensor = _legacy(native.float16), _legacy(native.bfloat16)
LongTensor, IntTensor, ShortTensor = _legacy(native.int64), _legacy(native.int32), _legacy(native.int16)
CharTensor, ByteTensor, BoolTensor = _legacy(native.int8), _legacy(native.uint8), _legacy(native.bool)


@named
class Embedding(Function):
    """Rows that are looked up; the gradient of the table has these rows alone."""

    @staticmethod
    def forward(ctx: Any, weight: Tensor, numbers: Tensor, padding: int, by_frequency: bool) -> Tensor:
        ctx.numbers, ctx.size, ctx.padding, ctx.by_frequency = numbers, weight.shape, padding, by_frequency
        return native.embedding(weight, numbers)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Any:
        if ctx.by_frequency:
            raise RuntimeError("embedding_backward: scale_grad_by_freq not supported with sparse gradients")
        numbers = ctx.numbers.reshape(-1).to(native.int64)
        values = gradient.reshape(len(numbers), *ctx.size[1:])
        if ctx.padding >= 0:
            kept = numbers != ctx.padding
            numbers, values = numbers[kept], values[kept]
        return made(values, Pieces(numbers.unsqueeze(0), values.detach()), ctx.size), None, None, None


def embedding(weight: Tensor, numbers: Tensor, padding: int, by_frequency: bool) -> Tensor:
    """Return the rows that numbers name; the gradient of the table is sparse."""
    result: Tensor = Embedding.apply(weight, numbers, padding, by_frequency)
    return result

"""Symmetric matrices of either sign: `A = L D Lᵀ`, with blocks of one or two rows in D.

Pivots are chosen as Bunch and Kaufman do. A block of one row has the number of the row that it was exchanged
with, from one on; both rows of a larger block have it with a minus.
"""

from __future__ import annotations

from typing import Any

from .. import _rushlight as native
from .. import return_types
from .._calls.showing import shown_as_given
from .._functions.under_vmap import any_of_all, is_any_batched, of_all_samples
from .._rushlight import Tensor
from .._tensors.typename import scalar_name

# torch has no derivative of these operations, and no name for their nodes.
_NODE = "torch::autograd::NotImplemented"


@shown_as_given
def ldl_factor(input: Tensor, *, hermitian: bool = False, out: Any = None) -> Any:
    """Return both factors in one matrix, with the exchanges of rows.

    >>> import rushlight as torch
    >>> torch.linalg.ldl_factor(torch.tensor([[2.0, 1.0], [1.0, 3.0]])).LD
    tensor([[2.0000, 0.0000],
            [0.5000, 2.5000]])
    """
    LD, pivots, info = _factored(input, hermitian)
    _check_info("ldl_factor", info)
    return native._written("linalg_ldl_factor", return_types.linalg_ldl_factor((LD, pivots)), out)


@shown_as_given
def ldl_factor_ex(
    input: Tensor, *, hermitian: bool = False, check_errors: bool = False, out: Any = None
) -> Any:
    """Return what `ldl_factor` does, and zero, or the number of the first block that is zero.

    >>> import rushlight as torch
    >>> torch.linalg.ldl_factor_ex(torch.zeros(2, 2)).info
    tensor(1, dtype=torch.int32)
    """
    LD, pivots, info = _factored(input, hermitian)
    if check_errors:
        _check_info("ldl_factor_ex", info)
    made = return_types.linalg_ldl_factor_ex((LD, pivots, info))
    return native._written("linalg_ldl_factor_ex", made, out)


@shown_as_given
def ldl_solve(
    LD: Tensor, pivots: Tensor, B: Tensor, *, hermitian: bool = False, out: Tensor | None = None
) -> Tensor:
    """Return the solutions of linear equations whose matrix `ldl_factor` has taken apart.

    >>> import rushlight as torch
    >>> factors = torch.linalg.ldl_factor(torch.tensor([[2.0, 0.0], [0.0, -4.0]]))
    >>> torch.linalg.ldl_solve(*factors, torch.tensor([[2.0], [2.0]]))
    tensor([[ 1.0000],
            [-0.5000]])
    """
    _check_matrices("ldl_solve", LD)
    size = LD.shape[-1]
    if LD.dtype != B.dtype:
        raise RuntimeError(
            f"Expected b and A to have the same dtype, but found b of type {scalar_name(B)} and A of type "
            f"{scalar_name(LD)} instead."
        )
    if B.dim() < 2:
        raise IndexError(
            f"Dimension out of range (expected to be in range of [{-max(B.dim(), 1)}, "
            f"{max(B.dim(), 1) - 1}], but got -2)"
        )
    if B.shape[-2] != size:
        raise RuntimeError(
            f"Incompatible matrix sizes for torch.linalg.ldl_solve: each A matrix is {size} by {size} but "
            f"each b matrix is {B.shape[-2]} by {B.shape[-1]}"
        )
    if pivots.shape != LD.shape[:-1]:
        raise RuntimeError(
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots "
            f"with shape {list(pivots.shape)} instead"
        )
    if pivots.is_floating_point() or pivots.is_complex() or pivots.dtype == native.bool:
        raise RuntimeError(
            f"torch.linalg.ldl_solve: Expected pivots to be integers. Got {scalar_name(pivots)}"
        )
    batch = native.broadcast_tensors([native.empty(x.shape[:-2]) for x in (B, LD)])[0].shape

    def compute(*samples: Tensor) -> list[Tensor]:
        count = samples[0].shape[0]

        def rows_of(x: Tensor, kept: int) -> Tensor:
            own, rest = x.shape[1 : x.dim() - kept], x.shape[x.dim() - kept :]
            aligned = x.reshape(count, *[1] * (len(batch) - len(own)), *own, *rest)
            return aligned.expand(count, *batch, *rest).flatten(0, len(batch))

        rows = zip(*(rows_of(x, kept) for x, kept in zip(samples, (2, 1, 2), strict=True)), strict=True)
        found = [_solved(one, moves.tolist(), right.clone(), hermitian) for one, moves, right in rows]
        return [_together(found, samples[2], (count, *batch, *B.shape[-2:]))]

    def solved(LD: Tensor, B: Tensor, pivots: Tensor) -> Tensor:
        if not _is_derived(LD, B, pivots):
            return of_all_samples("linalg_ldl_solve", compute, [LD, pivots, B])[0]
        LD, B = LD.expand(*batch, *LD.shape[-2:]), B.expand(*batch, *B.shape[-2:])
        order, blocks, rows = _places(pivots.expand(*batch, pivots.shape[-1]))
        L, D = _parted(LD, blocks, rows, hermitian)
        right = native.take_along_dim(B, order.unsqueeze(-1), -2)
        right = native._nn.linalg_solve_triangular(L, right, upper=False, unitriangular=True)
        turned = _turned(L, hermitian).mT
        right = native._nn.linalg_solve_triangular(
            turned, native._nn.linalg_inv(D) @ right, upper=True, unitriangular=True
        )
        return native.take_along_dim(right, order.argsort(-1).unsqueeze(-1), -2)

    names = ("linalg_ldl_solve", _NODE, "- - - -")
    (solution,) = native._as_one(solved, names, (2, 0, 0), {}, LD, B, pivots)
    return native._written("linalg_ldl_solve", solution, out)


def _check_matrices(operation: str, A: Tensor) -> None:
    if A.dim() < 2:
        raise RuntimeError(f"torch.linalg.{operation}: The input tensor A must have at least 2 dimensions.")
    if A.shape[-1] != A.shape[-2]:
        raise RuntimeError(
            f"torch.linalg.{operation}: A must be batches of square matrices, but they are {A.shape[-2]} by "
            f"{A.shape[-1]} matrices"
        )
    if not (A.is_floating_point() or A.is_complex()):
        raise RuntimeError(
            f"torch.linalg.{operation}: Expected a floating point or complex tensor as input. Got "
            f"{scalar_name(A)}"
        )
    if A.dtype in (native.float16, native.bfloat16):
        kernel = operation.removesuffix("_ex")
        raise NotImplementedError(f"\"{kernel}_kernel_cpu\" not implemented for '{scalar_name(A)}'")


def _check_info(operation: str, info: Tensor) -> None:
    if any_of_all(info):
        number = next(filter(None, info.flatten().tolist()))
        raise RuntimeError(f"torch.linalg.{operation}: Unknown error code: {number}.")


def _factored(A: Tensor, hermitian: bool) -> tuple[Tensor, Tensor, Tensor]:
    _check_matrices("ldl_factor_ex", A)
    hermitian = hermitian and A.is_complex()

    def compute(samples: Tensor) -> list[Tensor]:
        return list(native._nn.ldl_factors(samples, hermitian))

    def factored(A: Tensor) -> tuple[Tensor, ...]:
        LD, pivots, info = of_all_samples("linalg_ldl_factor_ex", compute, [A.detach()])
        return (_moved(A, LD, pivots, hermitian) if _is_derived(A) else LD), pivots, info

    names = ("linalg_ldl_factor_ex", _NODE, "- - - -")
    LD, pivots, info = native._as_one(factored, names, (1, 0, 0b110), {}, A)
    return LD, pivots, info


def _is_derived(*tensors: Tensor) -> bool:
    """Tell whether derivatives may pass, which pass operations on whole tensors alone."""
    return native.is_grad_enabled() or is_any_batched(*tensors)


def _places(pivots: Tensor) -> list[Tensor]:
    """Return where rows of the matrix went, which elements are in blocks of D, and where rows of L are kept.

    The columns of L are kept as they were before later exchanges.
    """

    def compute(samples: Tensor) -> list[Tensor]:
        parts = [_places_of(row) for row in samples.flatten(0, -2).tolist()]
        lead, size = samples.shape[:-1], samples.shape[-1]
        found = zip(*parts, strict=True) if parts else ([], [], [])
        shapes = ((*lead, size), (*lead, size, size), (*lead, size, size))
        return [
            native.tensor(one, dtype=native.int64).view(shape)
            for one, shape in zip(found, shapes, strict=True)
        ]

    return of_all_samples("linalg_ldl_factor_ex", compute, [pivots])


def _places_of(pivots: list[int]) -> tuple[list[int], list[list[int]], list[list[int]]]:
    size = len(pivots)
    order = list(range(size))
    blocks = [[int(row == column) for column in order] for row in order]
    rows = [[row] * size for row in order]
    step = 0
    while step < size:
        count = 1 if pivots[step] > 0 else 2
        last, other = step + count - 1, abs(pivots[step]) - 1
        blocks[step][last] = blocks[last][step] = 1
        order[last], order[other] = order[other], order[last]
        for column in range(step):
            rows[last][column], rows[other][column] = rows[other][column], rows[last][column]
        step += count
    return order, blocks, rows


def _turned(x: Tensor, hermitian: bool) -> Tensor:
    return x.conj() if hermitian else x


def _whole(lower: Tensor, hermitian: bool) -> Tensor:
    """Return the symmetric matrices whose lower halves these are."""
    beside, diagonal = lower.tril(-1), lower.diagonal(0, -2, -1)
    if hermitian:
        diagonal = diagonal.real.to(lower.dtype)
    return beside + _turned(beside, hermitian).mT + native.diag_embed(diagonal)


def _parted(LD: Tensor, blocks: Tensor, rows: Tensor, hermitian: bool) -> tuple[Tensor, Tensor]:
    """Return both factors of which the one matrix consists."""
    L = native.take_along_dim(LD * (1 - blocks), rows, -2).tril(-1)
    return L + native.eye(LD.shape[-1], dtype=LD.dtype), _whole(LD * blocks, hermitian)


def _moved(A: Tensor, LD: Tensor, pivots: Tensor, hermitian: bool) -> Tensor:
    """Return the factors as functions of the matrix, near which pivots are the same.

    What is left of L when both sides are divided by it says how it moves. Each step doubles how many
    derivatives are right.
    """
    order, blocks, rows = _places(pivots)
    exchanged = native.take_along_dim(_whole(A, hermitian), order.unsqueeze(-1), -2)
    exchanged = native.take_along_dim(exchanged, order.unsqueeze(-2), -1)
    L, D = _parted(LD, blocks, rows, hermitian)
    for _ in range(2):
        left = native._nn.linalg_solve_triangular(L, exchanged, upper=False, unitriangular=True)
        turned = _turned(L, hermitian).mT
        left = native._nn.linalg_solve_triangular(turned, left, upper=True, left=False, unitriangular=True)
        D = left * blocks
        L = L + L @ ((left - D).tril() @ native._nn.linalg_inv(D))
    return native.take_along_dim(L.tril(-1) * (1 - blocks), rows.argsort(-2), -2) + D.tril()


def _together(matrices: list[Tensor], like: Tensor, shape: Any) -> Tensor:
    """Put matrices together into a batch, column by column in memory."""
    if not matrices:
        return like.detach().new_zeros(shape)
    return native.stack([matrix.mT for matrix in matrices]).view(*shape[:-2], shape[-1], shape[-2]).mT


def _solved(factors: Tensor, pivots: list[int], right: Tensor, hermitian: bool) -> Tensor:
    """Solve equations with one matrix in place of the right sides."""
    turned = native.conj_physical if hermitian and factors.is_complex() else native.clone
    size = len(pivots)
    step = 0
    blocks = []
    while step < size:
        count = 1 if pivots[step] > 0 else 2
        last, rest = step + count - 1, slice(step + count, size)
        block = slice(step, step + count)
        _exchange_rows(right, last, abs(pivots[step]) - 1)
        right[rest] -= factors[rest, block] @ right[block]
        diagonal = factors[block, block].tril()
        right[block] = _inverse(diagonal + turned(diagonal.tril(-1)).mT) @ right[block]
        blocks.append((block, rest, last, abs(pivots[step]) - 1))
        step += count
    for block, rest, last, row in reversed(blocks):
        right[block] -= turned(factors[rest, block]).mT @ right[rest]
        _exchange_rows(right, last, row)
    return right


def _inverse(block: Tensor) -> Tensor:
    """Return the inverse of one or two rows; it is not finite if there is none."""
    if block.shape[0] == 1:
        return block.reciprocal()
    (a, b), (c, d) = block[0].unbind(), block[1].unbind()
    return native.stack([d, -b, -c, a]).view(2, 2) / (a * d - b * c)


def _exchange_rows(matrix: Tensor, first: int, second: int) -> None:
    if first != second:
        matrix[[first, second]] = matrix[[second, first]]

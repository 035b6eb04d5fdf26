"""Deprecated functions, and names that are only there to say what took their place."""

from __future__ import annotations

import math

from .. import _rushlight as native
from .._calls.arguments import require_tensors
from .._calls.showing import shown_to, taking
from .._rushlight import Tensor
from .._warn_once import warn_once

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import Any, NoReturn

    from .._rushlight import dtype as DType
    from ..types import Number

_REMOVED = "This function was deprecated since version 1.9 and is now removed."
_EIG = (
    f"{_REMOVED} `torch.linalg.eig` returns complex tensors of dtype `cfloat` or `cdouble` rather than real "
    "tensors mimicking complex tensors.\n\nL, _ = torch.eig(A) should be replaced with:\n"
    "L_complex = torch.linalg.eigvals(A)\n\nand\n\n"
    "L, V = torch.eig(A, eigenvectors=True) should be replaced with:\n"
    "L_complex, V_complex = torch.linalg.eig(A)"
)
_LSTSQ = (
    f"{_REMOVED} `torch.lstsq` is deprecated in favor of `torch.linalg.lstsq`.\n"
    "`torch.linalg.lstsq` has reversed arguments and does not return the QR decomposition in the returned "
    "tuple (although it returns other information about the problem).\n\n"
    "To get the QR decomposition consider using `torch.linalg.qr`.\n\n"
    "The returned solution in `torch.lstsq` stored the residuals of the solution in the last m - n columns "
    "of the returned value whenever m > n. In torch.linalg.lstsq, the residuals are in the field 'residuals' "
    "of the returned named tuple.\n\nThe unpacking of the solution, as in\n"
    "X, _ = torch.lstsq(B, A).solution[:A.size(1)]\nshould be replaced with:\n"
    "X = torch.linalg.lstsq(A, B).solution"
)
_RANK = (
    f"{_REMOVED}\nPlease use the `torch.linalg.matrix_rank` function instead. The parameter 'symmetric' was "
    "renamed in `torch.linalg.matrix_rank()` to 'hermitian'."
)
_SOLVE = (
    f"{_REMOVED} `torch.solve` is deprecated in favor of `torch.linalg.solve`. `torch.linalg.solve` has its "
    "arguments reversed and does not return the LU factorization.\n\n"
    "To get the LU factorization see `torch.lu`, which can be used with `torch.lu_solve` or "
    "`torch.lu_unpack`.\n"
    "X = torch.solve(B, A).solution should be replaced with:\nX = torch.linalg.solve(A, B)"
)
_SYMEIG = (
    f"{_REMOVED} The default behavior has changed from using the upper triangular portion of the matrix by "
    "default to using the lower triangular portion.\n\n"
    "L, _ = torch.symeig(A, upper=upper) should be replaced with:\n"
    "L = torch.linalg.eigvalsh(A, UPLO='U' if upper else 'L')\n\nand\n\n"
    "L, V = torch.symeig(A, eigenvectors=True) should be replaced with:\n"
    "L, V = torch.linalg.eigh(A, UPLO='U' if upper else 'L')"
)
_REINFORCE = (
    "reinforce() was removed.\nUse torch.distributions instead.\n"
    "See https://pytorch.org/docs/main/distributions.html\n\nInstead of:\n\n"
    "probs = policy_network(state)\naction = probs.multinomial()\nnext_state, reward = env.step(action)\n"
    "action.reinforce(reward)\naction.backward()\n\nUse:\n\nprobs = policy_network(state)\n"
    "# NOTE: categorical is equivalent to what used to be called multinomial\n"
    "m = torch.distributions.Categorical(probs)\naction = m.sample()\n"
    "next_state, reward = env.step(action)\nloss = -m.log_prob(action) * reward\nloss.backward()\n"
)


def eig(self: Any, eigenvectors: bool = False, *, e: Any = None, v: Any = None) -> NoReturn:
    """Refuse: `linalg.eig` is what there is."""
    raise RuntimeError(_EIG)


def lstsq(input: Any, A: Any, *, out: Any = None) -> NoReturn:
    """Refuse: `linalg.lstsq` is what there is."""
    raise RuntimeError(_LSTSQ)


def matrix_rank(input: Any, tol: Any = None, symmetric: bool = False, *, out: Any = None) -> NoReturn:
    """Refuse: `linalg.matrix_rank` is what there is."""
    raise RuntimeError(_RANK)


def solve(input: Any, A: Any, *, out: Any = None) -> NoReturn:
    """Refuse: `linalg.solve` is what there is."""
    raise RuntimeError(_SOLVE)


def symeig(input: Any, eigenvectors: bool = False, upper: bool = True, *, out: Any = None) -> NoReturn:
    """Refuse: `linalg.eigh` is what there is."""
    raise RuntimeError(_SYMEIG)


def reinforce(self: Any, reward: Any) -> NoReturn:
    """Refuse: `distributions` are what there is."""
    raise RuntimeError(_REINFORCE)


@taking(
    "(Number start, Number end, Number step=1, *, Tensor? out=None, dtype? dtype=None, layout? layout=None, "
    "device? device=None, bool? pin_memory=False, bool requires_grad=False)"
)
def range(
    start: Number,
    end: Number,
    step: Number = 1,
    *,
    dtype: DType | None = None,
    out: Tensor | None = None,
    **options: Any,
) -> Tensor:
    """Return the numbers up to the last one, which is among them."""
    import warnings

    warnings.warn(_RANGE, UserWarning, stacklevel=2)
    if step == 0:
        raise RuntimeError("step must be nonzero")
    if (end - start) * step < 0:
        raise RuntimeError("upper bound and lower bound inconsistent with step sign")
    count = math.floor((end - start) / step) + 1
    found = native.arange(count, **options).to(dtype or native.get_default_dtype()) * step + start
    return native._written("range", found, out)


_RANGE = (
    "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent "
    "with Python's range builtin. Instead, use torch.arange, which produces values in [start, end)."
)


_LU = (
    "torch.lu is deprecated in favor of torch.linalg.lu_factor / torch.linalg.lu_factor_ex and will be "
    "removed in a future PyTorch release.\nLU, pivots = torch.lu(A, compute_pivots)\nshould be replaced "
    "with\nLU, pivots = torch.linalg.lu_factor(A, compute_pivots)\nand\n"
    "LU, pivots, info = torch.lu(A, compute_pivots, get_infos=True)\nshould be replaced with\n"
    "LU, pivots, info = torch.linalg.lu_factor_ex(A, compute_pivots)"
)


@shown_to("A")
def lu(A: Tensor, pivot: bool = True, get_infos: bool = False, out: Any = None) -> tuple[Tensor, ...]:
    """Return both triangles of a matrix in one, with the exchanges of rows.

    >>> import rushlight as torch
    >>> factors, exchanges = torch.tensor([[0.0, 2.0], [4.0, 8.0]]).lu()
    >>> factors
    tensor([[4., 8.],
            [0., 2.]])
    >>> exchanges
    tensor([2, 2], dtype=torch.int32)
    """
    from ..return_types import _lu_with_info

    require_tensors("_lu_with_info", input=A)
    warn_once(_LU)
    if not pivot:
        raise RuntimeError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")
    factors, pivots, info = native._nn.linalg_lu_factor_ex(A, pivot=pivot)
    return _lu_with_info((factors, pivots, info)) if get_infos else (factors, pivots)


METHODS = (lu,)

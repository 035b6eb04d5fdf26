"""Whole matrices of derivatives: `jacrev`, `jacfwd` and `hessian`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, cat, split
from ..utils._pytree import tree_flatten, tree_leaves, tree_map, tree_unflatten
from ._arguments import chosen, positions, replaced
from ._basis import standard_basis
from .jvp import jvp
from .reverse import _vjp_with_argnums
from .vmap import mapped, vmap

if TYPE_CHECKING:
    from ._arguments import Argnums


def jacrev(
    func: Callable[..., Any],
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    chunk_size: int | None = None,
    _preallocate_and_copy: bool = False,
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `func` in reverse mode, a row an output's element.

    `chunk_size` rows are computed at a time, by default all; with one at a time nothing is batched.

    >>> import rushlight as torch
    >>> torch.func.jacrev(lambda x: x * x)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError("jacrev: `chunk_size` should be greater than 0.")

    @wraps(func)
    def wrapper_fn(*args: Any) -> Any:
        _refuse_complex("jacrev", "inputs", tree_leaves(args))
        output, pull_back, *aux = _vjp_with_argnums(func, args, argnums, has_aux)
        outputs, output_spec = tree_flatten(output)
        _refuse_complex("jacrev", "outputs", outputs)
        primals, primals_spec = tree_flatten(chosen(args, positions(argnums, len(args))))

        def pieces() -> Iterator[list[Tensor]]:
            for basis in standard_basis(outputs, chunk_size):
                yield _rows(pull_back, basis, output_spec, chunk_size == 1)

        if _preallocate_and_copy:
            rows = _copied(pieces(), primals, sum(piece.numel() for piece in outputs))
        else:
            rows = _joined(list(pieces()))
        numels = [piece.numel() for piece in outputs]
        # By input, then by output; wanted is the other way around.
        by_input = [
            [
                part.view(piece.shape + primal.shape)
                for part, piece in zip(split(row, numels), outputs, strict=True)
            ]
            for row, primal in zip(rows, primals, strict=True)
        ]
        by_output = [tree_unflatten(column, primals_spec) for column in zip(*by_input, strict=True)]
        jacobian = tree_unflatten(by_output, output_spec)
        return (jacobian, *aux) if has_aux else jacobian

    return wrapper_fn


def _refuse_complex(caller: str, kind: str, leaves: list[Any]) -> None:
    """Complex numbers have no Jacobian in one piece."""
    for index, leaf in enumerate(leaves):
        if isinstance(leaf, Tensor) and leaf.is_complex():
            raise RuntimeError(
                f"{caller}: Expected all {kind} to be real but received complex tensor at flattened input "
                f"idx: {index}"
            )


def _rows(
    pull_back: Callable[[Any], Any], basis: tuple[Tensor, ...], spec: Any, single: bool
) -> list[Tensor]:
    """Pull every vector of the basis back."""
    if not single:
        return tree_leaves(vmap(pull_back)(tree_unflatten(basis, spec)))
    row = pull_back(tree_unflatten([vector.squeeze(0) for vector in basis], spec))
    return [gradient.unsqueeze(0) for gradient in tree_leaves(row)]


def _joined(pieces: list[list[Tensor]]) -> list[Tensor]:
    return pieces[0] if len(pieces) == 1 else [cat(column) for column in zip(*pieces, strict=True)]


def _copied(pieces: Iterator[list[Tensor]], primals: list[Tensor], total: int) -> list[Tensor]:
    """Join pieces in memory that is there from the start, so that no two of them are alive at once."""
    rows: list[Tensor] = []
    done = 0
    for piece in pieces:
        count = piece[0].shape[0]
        if count == total:
            return piece
        rows = rows or [primal.new_zeros((total, *primal.shape)) for primal in primals]
        for whole, part in zip(rows, piece, strict=True):
            whole[done : done + count].copy_(part)
        done += count
    return rows


def jacfwd(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False, *, randomness: str = "error"
) -> Callable[..., Any]:
    """Return a function that computes the Jacobian of `func` in forward mode, a column an input's element.

    >>> import rushlight as torch
    >>> torch.func.jacfwd(lambda x: x * x)(torch.tensor([1.0, 2.0]))
    tensor([[2., 0.],
            [0., 4.]])
    """

    @wraps(func)
    def wrapper_fn(*args: Any) -> Any:
        _refuse_complex("jacfwd", "inputs", tree_leaves(args))
        return pushed_forward(
            func,
            args,
            argnums,
            has_aux,
            randomness,
            lambda leaves: _refuse_complex("jacfwd", "outputs", leaves),
        )

    return wrapper_fn


def _by_input(column: Tensor, primals: Sequence[Tensor]) -> list[Tensor]:
    """Take the columns for all inputs' elements apart; their dimension goes last, in the inputs' shapes."""
    parts = split(column.movedim(0, -1), [primal.numel() for primal in primals], dim=-1)
    return [
        part.unflatten(-1, primal.shape) if primal.ndim else part.squeeze(-1)
        for part, primal in zip(parts, primals, strict=True)
    ]


def pushed_forward(
    func: Callable[..., Any],
    args: tuple[Any, ...],
    argnums: Argnums | None,
    has_aux: bool = False,
    randomness: str = "error",
    check: Callable[[list[Any]], None] | None = None,
    arrange: Callable[[Tensor, Sequence[Tensor]], list[Tensor]] = _by_input,
) -> Any:
    """Compute the Jacobian in forward mode; `check` sees the outputs.

    `arrange` takes the columns of one output apart, by input.
    """
    places = tuple(range(len(args))) if argnums is None else positions(argnums, len(args))
    primals, primals_spec = tree_flatten(chosen(args, places))
    (basis,) = standard_basis(primals)

    def push(*tangents: Tensor) -> Any:
        def of_chosen(*leaves: Tensor) -> Any:
            return func(*replaced(args, places, tree_unflatten(leaves, primals_spec)))

        output, *pushed = jvp(of_chosen, tuple(primals), tangents, has_aux=has_aux)
        if check is not None:
            check(tree_leaves(output))
        return tuple(pushed)

    columns, *aux = mapped(push, randomness=randomness)(*basis)
    jacobian = tree_map(lambda column: tree_unflatten(arrange(column, primals), primals_spec), columns)
    # The same for every column.
    return (jacobian, *(tree_map(lambda value: value[0], one) for one in aux)) if has_aux else jacobian


def hessian(func: Callable[..., Any], argnums: Argnums = 0) -> Callable[..., Any]:
    """Return a function that computes the Hessian of `func`, forward over reverse.

    >>> import rushlight as torch
    >>> torch.func.hessian(lambda x: (x**3).sum())(torch.tensor([1.0, 2.0]))
    tensor([[ 6.,  0.],
            [ 0., 12.]])
    """
    return jacfwd(jacrev(func, argnums), argnums)

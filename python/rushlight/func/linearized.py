"""`linearize`: a function near a point."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

from .._rushlight import Tensor, zeros, zeros_like
from ..autograd.grad_mode import no_grad
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten
from .jvp import jvp
from .reverse import vjp

_LEFT_OUT = object()


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the value of `func` at `primals`, and the linear function that pushes tangents forward.

    `func` runs once, however often the latter is called.

    >>> import rushlight as torch
    >>> value, push = torch.func.linearize(lambda x: x**3, torch.tensor(2.0))
    >>> value, push(torch.tensor(1.0)), push(torch.tensor(10.0))
    (tensor(8.), tensor(12.), tensor(120.))
    """
    expected, spec = tree_flatten(primals)
    _check_primals(func, primals, expected)
    # The leaves of the result, of which those that have a derivative are left out, and its structure.
    constant: list[Any] = []
    output_spec: Any = None
    # The primals that the function writes to: it sees copies, which come after the leaves.
    written: list[Tensor] = []

    def differentiable(*inner: Any) -> list[Tensor]:
        nonlocal output_spec
        inner_leaves, inner_spec = tree_flatten(inner)
        seen = [leaf.clone() for leaf in inner_leaves]
        leaves, output_spec = tree_flatten(func(*tree_unflatten(seen, inner_spec)))
        constant[:] = [_LEFT_OUT if _is_differentiable(leaf) else leaf for leaf in leaves]
        changed = [index for index, leaf in enumerate(seen) if leaf._version]
        written[:] = [expected[index] for index in changed]
        # What is in front makes sure that there is something.
        front = seen[0].new_zeros(()) if seen else zeros(())
        return [
            front,
            *(leaf for leaf in leaves if _is_differentiable(leaf)),
            *(seen[index] for index in changed),
        ]

    values, pull_back = vjp(differentiable, *primals)
    with no_grad():
        for primal, value in zip(written, values[len(values) - len(written) :], strict=True):
            primal.copy_(value)
    # Pulling back is linear, so the place of the cotangents does not matter; its transpose pushes forward.
    push = None
    if expected:
        # Something in it may have a derivative in forward direction only.
        with suppress(NotImplementedError):
            _, push = vjp(pull_back, tree_map(zeros_like, values))

    def whole(parts: list[Tensor], rest: list[Any]) -> Any:
        found = iter(parts[1:])
        return tree_unflatten([next(found) if leaf is _LEFT_OUT else leaf for leaf in rest], output_spec)

    def jvp_fn(*tangents: Any) -> Any:
        given, given_spec = tree_flatten(tangents)
        if given_spec != spec:
            raise RuntimeError(
                f"Expected the tangents {given_spec} to have the same argspec as the primals {spec}"
            )
        _check_tangents(given, expected)
        still = [zeros_like(leaf) if isinstance(leaf, Tensor) else leaf for leaf in constant]
        if not expected:
            return whole([zeros_like(value) for value in values], still)
        if push is None:
            return whole(jvp(differentiable, primals, tangents)[1], still)
        return whole(push(tangents)[0], still)

    return whole(values, constant), jvp_fn


def _is_differentiable(leaf: Any) -> bool:
    return isinstance(leaf, Tensor) and (leaf.is_floating_point() or leaf.is_complex())


def _check_primals(func: Callable[..., Any], primals: tuple[Any, ...], leaves: list[Any]) -> None:
    for leaf in leaves:
        if not isinstance(leaf, Tensor):
            func(*primals)  # It may have something to say of it.
            raise AttributeError(f"'{type(leaf).__name__}' object has no attribute 'new_empty'")
        if not _is_differentiable(leaf):
            raise ValueError(f"Expected primal to be floating point or complex, but got: {leaf.dtype}")


def _check_tangents(tangents: list[Any], primals: list[Any]) -> None:
    for index, (tangent, primal) in enumerate(zip(tangents, primals, strict=True)):
        for what in ("shape", "device", "dtype"):
            found, wanted = getattr(tangent, what), getattr(primal, what)
            if found != wanted:
                raise RuntimeError(
                    f"tangent:{index} with {what} {found} in flattened pytree doesn't match the {what} "
                    f"{wanted} of the corresponding primal."
                )

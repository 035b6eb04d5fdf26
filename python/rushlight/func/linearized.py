"""`linearize`: a function near a point."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import zeros_like
from ..utils._pytree import tree_flatten, tree_map
from .reverse import vjp

if TYPE_CHECKING:
    from collections.abc import Callable


def linearize(func: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """Return the value of `func` at `primals`, and the linear function that pushes tangents forward.

    `func` runs once, however often the latter is called.

    >>> import rushlight as torch
    >>> value, push = torch.func.linearize(lambda x: x**3, torch.tensor(2.0))
    >>> value, push(torch.tensor(1.0)), push(torch.tensor(10.0))
    (tensor(8.), tensor(12.), tensor(120.))
    """
    output, pull_back = vjp(func, *primals)
    # Pulling back is linear, so the place of the cotangents does not matter; its transpose pushes forward.
    _, push = vjp(pull_back, tree_map(zeros_like, output))
    expected, spec = tree_flatten(primals)

    def push_forward(*tangents: Any) -> Any:
        given, given_spec = tree_flatten(tangents)
        if given_spec != spec:
            raise RuntimeError(
                f"Expected the tangents {given_spec} to have the same argspec as the primals {spec}"
            )
        for index, (tangent, primal) in enumerate(zip(given, expected, strict=True)):
            for what in ("shape", "device", "dtype"):
                found, wanted = getattr(tangent, what), getattr(primal, what)
                if found != wanted:
                    raise RuntimeError(
                        f"tangent:{index} with {what} {found} in flattened pytree doesn't match the {what} "
                        f"{wanted} of the corresponding primal."
                    )
        return push(tangents)[0]

    return output, push_forward

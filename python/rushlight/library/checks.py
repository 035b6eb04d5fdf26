"""`opcheck`: whether an operator does what its schema says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, equal
from ..autograd.grad_mode import no_grad
from ..utils._pytree import tree_leaves, tree_map
from .operator import CustomOpDef
from .schema import bound, written_to

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .._ops import OpOverload

__all__ = ["opcheck"]

_TESTS = (
    "test_schema",
    "test_autograd_registration",
    "test_faketensor",
    "test_aot_dispatch_static",
    "test_aot_dispatch_dynamic",
)


def opcheck(
    op: OpOverload | CustomOpDef,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = _TESTS,
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Check an operator on arguments, and return what came of each check.

    `test_schema` is that it writes to no other arguments than its schema says; the others are that it runs,
    and backward too.

    >>> import rushlight as torch
    >>> @torch.library.custom_op("mylib::tripled", mutates_args=())
    ... def tripled(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 3
    >>> torch.library.opcheck(tripled, (torch.ones(2),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    chosen = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(chosen) <= set(_TESTS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={chosen}), expected test_utils to be subset of {_TESTS} but it was "
            "not"
        )
    overload = op._opoverload if isinstance(op, CustomOpDef) else op
    outcome: dict[str, Any] = {}
    for name in chosen:
        try:
            (_check_schema if name == "test_schema" else _check_run)(overload, args, kwargs or {})
        except Exception as failure:
            if raise_exception:
                raise
            outcome[name] = failure
        else:
            outcome[name] = "SUCCESS"
    return outcome


def _copies(values: Any) -> Any:
    def copy(value: Any) -> Any:
        if not isinstance(value, Tensor):
            return value
        return value.detach().clone().requires_grad_(value.requires_grad)

    return tree_map(copy, values)


def _check_schema(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    args, kwargs = bound(op._schema, _copies(args), _copies(kwargs))
    names = [one.name for one in op._schema.arguments if not one.kwarg_only]
    given = {**dict(zip(names, args, strict=True)), **kwargs}
    before = _copies(given)
    with no_grad():
        op(*args, **kwargs)
    for name in given.keys() - written_to(op._schema):
        pairs = zip(tree_leaves(given[name]), tree_leaves(before[name]), strict=True)
        if any(isinstance(value, Tensor) and not equal(value, old) for value, old in pairs):
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")


def _check_run(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    results = tree_leaves(op(*_copies(args), **_copies(kwargs)))
    for result in results:
        if isinstance(result, Tensor) and result.requires_grad:
            result.sum().backward()

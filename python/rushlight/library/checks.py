"""`opcheck`: whether an operator does what its schema says."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._ops import OpOverload, OpOverloadPacket
from .._rushlight import Tensor, equal
from ..autograd.grad_mode import no_grad
from ..utils._pytree import tree_flatten, tree_leaves, tree_map
from .fakes import FakeImplCtx, within
from .operator import CustomOpDef
from .schema import bound, written_to

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["OpCheckError", "opcheck"]


class OpCheckError(Exception):
    """An operator does not do what it should."""


def opcheck(
    op: OpOverload | OpOverloadPacket | CustomOpDef,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = (
        "test_schema",
        "test_autograd_registration",
        "test_faketensor",
        "test_aot_dispatch_dynamic",
    ),
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Check an operator on arguments, and return what came of each check.

    `test_schema` is that it writes to no other arguments than its schema says; `test_autograd_registration`
    that what autograd does with it was said where that belongs; `test_faketensor` that its form without
    numbers is that of its results; the others are that it runs without numbers, and backward too.

    >>> import rushlight as torch
    >>> @torch.library.custom_op("mylib::tripled", mutates_args=())
    ... def tripled(x: torch.Tensor) -> torch.Tensor:
    ...     return x * 3
    >>> torch.library.opcheck(tripled, (torch.ones(2),), test_utils="test_schema")
    {'test_schema': 'SUCCESS'}
    """
    chosen = (test_utils,) if isinstance(test_utils, str) else tuple(test_utils)
    if not set(chosen) <= set(_CHECKS):
        raise ValueError(
            f"opcheck(op, ..., test_utils={chosen}), expected test_utils to be subset of {tuple(_CHECKS)} "
            "but it was not"
        )
    overload: Any = op._opoverload if isinstance(op, CustomOpDef) else op
    if isinstance(overload, OpOverloadPacket):
        overload = overload.chosen(args, kwargs or {})
    if not isinstance(overload, OpOverload):
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. "
            f"torch.ops.aten.sin.default, got {type(op)}"
        )
    outcome: dict[str, Any] = {}
    for name in chosen:
        try:
            _CHECKS[name](overload, _copies(args), _copies(kwargs or {}))
        except Exception as failure:
            if raise_exception:
                raise OpCheckError(
                    f"opcheck(op, ...): {name} failed with {failure} (scroll up for stack trace)"
                ) from failure
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
    from .._compat._subclasses.schema_check_mode import SchemaCheckMode

    args, kwargs = bound(op._schema, args, kwargs)
    names = [one.name for one in op._schema.arguments if not one.kwarg_only]
    given = {**dict(zip(names, args, strict=True)), **kwargs}
    before = _copies(given)
    with no_grad(), SchemaCheckMode():
        op(*args, **kwargs)
    for name in given.keys() - written_to(op._schema):
        pairs = zip(tree_leaves(given[name]), tree_leaves(before[name]), strict=True)
        if any(isinstance(value, Tensor) and not equal(value, old) for value, old in pairs):
            raise RuntimeError(f"Argument {name} is not defined as mutable but was mutated")


def _check_registration(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Refuse a derivative that a kernel brings which was not given to autograd."""
    definition = getattr(op, "definition", None)
    inputs = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    if not any(one.requires_grad for one in inputs) or definition is None:
        return
    if not definition._follows or definition.kernels.has_derivative():
        return
    results = [one for one in tree_leaves(op(*args, **kwargs)) if isinstance(one, Tensor)]
    if any(one.requires_grad and all(one is not given for given in inputs) for one in results):
        raise AssertionError(
            f"{op.name()}: at least one output of this operator has requires_grad=True but the operator "
            "does not have an autograd kernel defined at an autograd key (e.g. DispatchKey::Autograd). "
            "This could mean that you have incorrectly registered an autograd kernel to a non-Autograd "
            "DispatchKey, which may lead to silently incorrect results. If your operator consists of "
            "regular PyTorch operations, consider not using an operator at all or registering your "
            "operator as CompositeImplicitAutograd. If you have an autograd.Function registered to a "
            "backend (CPU/CUDA/XPU) key, the correct location for it is the Autograd key."
        )


def _check_form(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Compare the form of the results with what the operator gives without numbers."""
    from .._compat._subclasses.fake_tensor import FakeTensorMode

    unknown = []

    def size() -> int:
        unknown.append(True)
        return 1

    mode = FakeTensorMode()

    def fake(value: Any) -> Any:
        return mode.from_tensor(value) if isinstance(value, Tensor) else value

    with mode, within(FakeImplCtx(size)):
        expected = op(*tree_map(fake, args), **tree_map(fake, kwargs))
    with no_grad():
        results = op(*args, **kwargs)
    (forms, shape), (found, structure) = tree_flatten(expected), tree_flatten(results)
    where = f"the output of {op} on FakeTensor and concrete Tensors"
    told = f"When comparing {where}, found mismatched tensor metadata"
    if shape != structure:
        raise RuntimeError(f"{told}: {shape} and {structure} are not equal!")
    for form, result in zip(forms, found, strict=True):
        if not isinstance(result, Tensor):
            continue
        if not unknown and form.shape != result.shape:
            raise RuntimeError(f"{told}: Shapes {result.shape} and {form.shape} are not equal!")
        if form.dtype != result.dtype:
            raise RuntimeError(f"{told}: Dtypes {result.dtype} and {form.dtype} are not equal!")
        if not unknown and form.stride() != result.stride():
            raise RuntimeError(f"{told}: Stride mismatch! Strides are {result.stride()} and {form.stride()}")


def _check_compiled(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Run an operator without numbers, then with them, and backward."""
    _check_form(op, _copies(args), _copies(kwargs))
    results = [one for one in tree_leaves(op(*args, **kwargs)) if isinstance(one, Tensor)]
    for result in results:
        if result.requires_grad:
            result.sum().backward(retain_graph=True)


_CHECKS: dict[str, Callable[..., None]] = {
    "test_schema": _check_schema,
    "test_autograd_registration": _check_registration,
    "test_faketensor": _check_form,
    "test_aot_dispatch_static": _check_compiled,
    "test_aot_dispatch_dynamic": _check_compiled,
}

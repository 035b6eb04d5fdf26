"""Transforms in reverse mode: `grad`, `grad_and_value` and `vjp`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor, _kept, _leads_out, _outer, is_grad_enabled
from ..utils._pytree import tree_flatten, tree_unflatten, treespec_pprint
from ._arguments import chosen, positions, replaced
from ._level import Level, gradients

if TYPE_CHECKING:
    from ._arguments import Argnums


def grad(func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False) -> Callable[..., Any]:
    """Return a function that computes the gradient of `func`, whose result is a scalar.

    The gradient is by the arguments that `argnums` names, of the structure that they have. With
    `has_aux`, `func` returns a pair, and its second half is handed on.

    >>> import rushlight as torch
    >>> cube = lambda x: x**3
    >>> torch.func.grad(cube)(torch.tensor(2.0))
    tensor(12.)
    >>> torch.func.grad(torch.func.grad(cube))(torch.tensor(2.0))
    tensor(12.)
    """
    both = grad_and_value(func, argnums, has_aux)

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> Any:
        gradient, value = both(*args, **kwargs)
        return (gradient, value[1]) if has_aux else gradient

    return wrapper


def grad_and_value(
    func: Callable[..., Any], argnums: Argnums = 0, has_aux: bool = False
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that computes the gradient of `func` and its value, in this order.

    With `has_aux`, `func` returns a pair, and the value is the pair.

    >>> import rushlight as torch
    >>> torch.func.grad_and_value(lambda x: x**3)(torch.tensor(2.0))
    (tensor(12.), tensor(8.))
    """

    @wraps(func)
    def wrapper(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        with Level() as level:
            places = positions(argnums, len(args))
            given, spec = tree_flatten(chosen(args, places))
            leaves = [level.enter(leaf) for leaf in given]
            level.admit(args, kwargs)
            output = func(*replaced(args, places, tree_unflatten(leaves, spec)), **kwargs)
            aux = None
            if has_aux:
                output, aux = _pair(output, "grad_and_value(f)(*args)")
            _check_scalar(output)
            tracked = level.is_tracked([output])
            # What is kept of the graph may serve the world outside too, through `aux`.
            keeps = tracked or has_aux
            found = gradients([output], leaves, since=level.since, retain_graph=keeps, create_graph=tracked)
            gradient = level.leave(tree_unflatten(found, spec))
            value = level.leave(output)
            return gradient, (value, level.leave(aux)) if has_aux else value

    return wrapper


def vjp(func: Callable[..., Any], *primals: Any, has_aux: bool = False) -> tuple[Any, ...]:
    """Return the value of `func` at `primals`, and the function that pulls cotangents back.

    The latter takes what has the structure of the value, and returns a tuple with what has the
    structure of each of `primals`. With `has_aux`, `func` returns a pair, and its second half comes third.

    >>> import rushlight as torch
    >>> value, pull_back = torch.func.vjp(lambda x, y: x * y, torch.tensor(2.0), torch.tensor(5.0))
    >>> value, pull_back(torch.tensor(1.0))
    (tensor(10.), (tensor(5.), tensor(2.)))
    """
    return _vjp_with_argnums(func, primals, None, has_aux)


def _vjp_with_argnums(
    func: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums | None, has_aux: bool
) -> tuple[Any, ...]:
    """Do what `vjp` does, by the arguments that `argnums` names, or by all of them."""
    with Level() as level:
        if argnums is None:
            given, spec = tree_flatten(args)
        else:
            places = positions(argnums, len(args))
            given, spec = tree_flatten(chosen(args, places))
        leaves = [level.enter(leaf) for leaf in given]
        inner = tree_unflatten(leaves, spec)
        if argnums is None:
            output = func(*inner)
        else:
            level.admit(args)
            output = func(*replaced(args, places, inner))
        rest: tuple[Any, ...] = ()
        if has_aux:
            output, aux = _pair(output, "vjp(f, *primals)")
            rest = (level.leave(aux),)
        outputs, output_spec = tree_flatten(output)
        _check_outputs(outputs)
        result = level.leave(output)
        # What is pulled back through outlives the transform, and what the function let escape does not.
        outputs, leaves = [*map(_kept, outputs)], [*map(_kept, leaves)]

    def wrapper(cotangents: Any, retain_graph: bool = True, create_graph: bool | None = None) -> Any:
        weights, weights_spec = tree_flatten(cotangents)
        if weights_spec != output_spec:
            raise RuntimeError(
                "Expected pytree structure of cotangents to be the same as pytree structure of outputs to "
                f"the function. cotangents: {treespec_pprint(weights_spec)}, "
                f"primal output: {treespec_pprint(output_spec)}"
            )
        if create_graph is None:
            create_graph = is_grad_enabled() and (
                level.is_tracked(outputs)
                or any(_leads_out(weight, level.since) for weight in weights if isinstance(weight, Tensor))
            )
        found = gradients(
            outputs,
            leaves,
            weights,
            since=level.since,
            retain_graph=retain_graph,
            create_graph=create_graph,
        )
        return tree_unflatten([_outer(one, level.since, True) for one in found], spec)

    return result, wrapper, *rest


def _pair(output: Any, api: str) -> tuple[Any, Any]:
    if not isinstance(output, tuple) or len(output) != 2:
        raise RuntimeError(f"{api}: output of function f should be a tuple: (output, aux) if has_aux is True")
    return output


def _check_scalar(output: Any) -> None:
    expected = "grad_and_value(f)(*args): Expected f(*args) to return a"
    if not isinstance(output, Tensor):
        raise RuntimeError(f"{expected} Tensor, got {type(output)}")
    if output.ndim:
        raise RuntimeError(
            f"{expected} scalar Tensor, got tensor with {output.ndim} dims. Maybe you wanted to use the vjp "
            "or jacrev APIs instead?"
        )


def _check_outputs(outputs: list[Any]) -> None:
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(
            "vjp(f, *primals): Expected f to be a function that has non-empty output "
            f"(got output = {outputs})"
        )
    for output in outputs:
        if not isinstance(output, Tensor):
            raise RuntimeError(
                "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type "
                f"{type(output)}"
            )
    for output in outputs:
        if not (output.is_floating_point() or output.is_complex()):
            raise RuntimeError(
                "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with "
                f"dtype {output.dtype}"
            )

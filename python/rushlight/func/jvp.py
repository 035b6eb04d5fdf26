"""`jvp`: the value of a function and its derivative along a direction, in one pass forward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._rushlight import Tensor, _admit, _outer, zeros_like
from ..autograd.forward_ad import _check_types, _make_dual, _transform, _unpack_dual
from ..utils._pytree import tree_flatten, tree_map, tree_unflatten

_JVP = "jvp(f, primals, tangents)"


def jvp(
    func: Callable[..., Any], primals: Any, tangents: Any, *, strict: bool = False, has_aux: bool = False
) -> Any:
    """Return `func(*primals)` and the product of its Jacobian there with `tangents`.

    With `has_aux` the function returns a pair, whose second part is handed through and not
    differentiated. With `strict` it is an error if an output does not depend on the inputs.

    >>> import rushlight as torch
    >>> x = torch.tensor([1.0, 2.0])
    >>> torch.func.jvp(lambda x: x * x, (x,), (torch.ones(2),))
    (tensor([1., 4.]), tensor([2., 4.]))
    """
    if not isinstance(primals, tuple):
        raise RuntimeError(
            f"{_JVP}: Expected primals to be a tuple. E.g. it should be valid to call f(*primals)."
        )
    points, spec = tree_flatten(primals)
    directions, directions_spec = tree_flatten(tangents)
    if spec != directions_spec:
        raise RuntimeError(
            f"{_JVP}: Expected primals and tangents to have the same python structure. For example, if "
            f"primals is a tuple of 3 tensors, tangents also must be. Got primals with structure {spec} "
            f"and tangents with structure {directions_spec}"
        )
    _check_tensors(points, "primals")
    _check_tensors(directions, "tangents")
    with _transform() as since:
        points, directions = [*map(_recordable, points)], [*map(_recordable, directions)]
        for point, direction in zip(points, directions, strict=True):
            _check_types(point, direction)
            _admit(point)  # Whoever writes to a dual tensor writes to it.
        duals = [_make_dual(*pair) for pair in zip(points, directions, strict=True)]
        result = func(*tree_unflatten(duals, spec))
        aux: tuple[Any, ...] = ()
        if has_aux:
            if not (isinstance(result, tuple) and len(result) == 2):
                raise RuntimeError(
                    f"{_JVP}: output of function f should be a tuple: (output, aux) if has_aux is True"
                )
            result, aux = result[0], (tree_map(lambda part: _primal(part, since), result[1]),)
        outputs, result_spec = tree_flatten(result)
        _check_outputs(outputs)
        pairs = [_unpack(output, strict, since) for output in outputs]
    values, derivatives = zip(*pairs, strict=True)
    return (tree_unflatten(values, result_spec), tree_unflatten(derivatives, result_spec), *aux)


def _check_tensors(tensors: Sequence[Any], argument: str) -> None:
    if not tensors:
        raise RuntimeError(f"{_JVP}: Expected {argument} to contain at least one Tensor.")
    for tensor in tensors:
        if not isinstance(tensor, Tensor):
            raise RuntimeError(f"{_JVP}: Expected {argument} to only contain Tensors, got {type(tensor)}")


def _recordable(tensor: Tensor) -> Tensor:
    """Return the tensor, or a copy of one that was made while nothing was recorded."""
    return tensor.clone() if tensor.is_inference() else tensor


def _check_outputs(outputs: list[Any]) -> None:
    if not outputs or (len(outputs) == 1 and outputs[0] is None):
        raise RuntimeError(
            f"{_JVP}: Expected f to be a function that has non-empty output (got output = {outputs})"
        )
    for output in outputs:
        if not isinstance(output, Tensor):
            raise RuntimeError(
                f"{_JVP}: expected f(*primals) to return only tensors, got unsupported type {type(output)}"
            )


def _primal(part: Any, since: int) -> Tensor:
    if not isinstance(part, Tensor):
        raise RuntimeError(f"Expected tensors, got unsupported type {type(part)}")
    return _outer(_unpack_dual(part).primal, since, True)


def safe_unpack_dual(dual: Tensor, strict: bool) -> tuple[Tensor, Tensor]:
    """Take a dual tensor apart; a tangent that it has not is zeros, unless that is an error."""
    if not isinstance(dual, Tensor):
        raise RuntimeError(
            f"{_JVP}: expected f(*args) to return only tensors, got unsupported type {type(dual)}"
        )
    primal, tangent = _unpack_dual(dual)
    if tangent is None:
        if strict:
            raise RuntimeError(
                "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. "
                "This is not allowed with strict=True."
            )
        tangent = zeros_like(primal)
    return primal, tangent


def _unpack(dual: Tensor, strict: bool, since: int) -> tuple[Tensor, Tensor]:
    primal, tangent = safe_unpack_dual(dual, strict)
    return _outer(primal, since, True), _outer(tangent, since, True)

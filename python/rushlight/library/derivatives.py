"""How autograd and mappings see an operator: as a function whose derivative is what was registered."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._rushlight import Tensor
from ..autograd.function import Function, FunctionMeta
from ..utils._pytree import tree_flatten, tree_leaves, tree_unflatten

if TYPE_CHECKING:
    from .operator import CustomOpDef

__all__ = ["Arguments", "differentiable"]


class Arguments:
    """The arguments of a call in one row, as functions of autograd take them, and how they were given.
    Only lists of tensors are taken apart: other lists have no gradients."""

    def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        self.lengths = [len(value) if _holds_tensors(value) else None for value in args]
        self.flat = self._row(args)
        self.kwargs = kwargs
        self.result_spec: Any = None

    def _row(self, values: tuple[Any, ...]) -> list[Any]:
        row: list[Any] = []
        for value, length in zip(values, self.lengths, strict=True):
            row.extend([value] if length is None else value)
        return row

    def args(self, flat: tuple[Any, ...]) -> tuple[Any, ...]:
        """Put such a row together as the arguments were."""
        rest = iter(flat)
        return tuple(
            next(rest) if length is None else [next(rest) for _ in range(length)] for length in self.lengths
        )

    def gradients(self, answers: Any) -> tuple[Any, ...]:
        """Put what a backward answers in such a row. Whoever gets it checks how many there are."""
        answers = answers if isinstance(answers, tuple) else (answers,)
        return tuple(self._row(answers)) if len(answers) == len(self.lengths) else answers

    def results(self, flat: Any) -> Any:
        """Put the results together."""
        return tree_unflatten(list(flat), self.result_spec)


def differentiable(op: CustomOpDef) -> type[Function]:
    """Make the function by which autograd and mappings see an operator. Its last argument says how it was
    called."""

    class Generated(Function):
        @staticmethod
        def forward(*values: Any) -> Any:
            *flat, call = values
            results, call.result_spec = tree_flatten(op._shown(call.args(flat), call.kwargs))
            return tuple(results)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            *flat, call = inputs
            ctx._call = call
            if op._setup_context is None:
                return
            named = {"keyword_only_inputs": call.kwargs} if call.kwargs else {}
            op._setup_context(ctx=ctx, inputs=call.args(flat), output=call.results(output), **named)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            if op._backward is None:
                raise RuntimeError(
                    f"Trying to backward through {op._opoverload} but no autograd formula was registered. "
                    "Please use register_autograd to add one."
                )
            call, needed = ctx._call, ctx.needs_input_grad
            ctx.needs_input_grad = call.args(needed[:-1])
            try:
                gradients = call.results(gradients)
                given = gradients if isinstance(gradients, tuple) else (gradients,)
                answers = op._backward(ctx, *given)
            finally:
                ctx.needs_input_grad = needed
            return (*call.gradients(answers), None)

        @staticmethod
        def vmap(info: Any, in_dims: Any, *values: Any) -> Any:
            *flat, call = values
            args = call.args(flat)
            dims = tuple(
                [None] * len(value) if dim is None and isinstance(value, (list, tuple)) else dim
                for value, dim in zip(args, call.args(in_dims[:-1]), strict=True)
            )
            rule = op._vmap or (lambda info, in_dims, *args, **kwargs: _each(op, info, in_dims, args, kwargs))
            output, out_dims = rule(info, dims, *args, **call.kwargs)
            results, call.result_spec = tree_flatten(output)
            if isinstance(out_dims, int) or out_dims is None:
                return tuple(results), (out_dims,) * len(results)
            return tuple(results), tuple(tree_leaves(out_dims, is_leaf=lambda one: one is None))

    overload = op._opoverload
    named: Any = FunctionMeta(
        f"GeneratedBackwardFor_{op._namespace}_{overload.overloadpacket.__name__}_{overload._overloadname}",
        (Generated,),
        {},
    )
    function: type[Function] = named
    return function


def _holds_tensors(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and all(isinstance(one, Tensor) for one in value)


def _each(op: CustomOpDef, info: Any, in_dims: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Compute one sample after the other, where no rule was registered."""
    from .. import stack

    flat, spec = tree_flatten(args)
    dims = tree_leaves(in_dims, is_leaf=lambda one: one is None)

    def sample(index: int) -> Any:
        chosen = [
            value if dim is None else value.select(dim, index) for value, dim in zip(flat, dims, strict=True)
        ]
        return op(*tree_unflatten(chosen, spec), **kwargs)

    rows = [tree_flatten(sample(index)) for index in range(info.batch_size)]
    columns = [stack(list(column)) for column in zip(*(row for row, _ in rows), strict=True)]
    return tree_unflatten(columns, rows[0][1]), 0

"""Functions of one's own on tensors that stand for many samples, by the user's rule or one that is made."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _rushlight
from .._rushlight import Tensor
from .function import Function, FunctionCtx

__all__ = ["VmapInfo", "apply_batched"]

_MORE = "For more details, please see https://pytorch.org/docs/main/notes/extending.func.html"


class VmapInfo(NamedTuple):
    """What a function's `vmap` is told of the mapping: how many samples, and how they draw random numbers."""

    batch_size: int
    randomness: str


def apply_batched(function: type[Function], args: tuple[Any, ...]) -> Any:
    """Return the results of `function` for the samples of the innermost mapping among `args`."""
    level = max(_rushlight._maybe_get_level(arg) for arg in args if isinstance(arg, Tensor))
    pairs = [
        _rushlight._unwrap_batched(arg, level) if isinstance(arg, Tensor) else (arg, None) for arg in args
    ]
    values, dims = tuple(value for value, _ in pairs), tuple(dim for _, dim in pairs)
    written = function.vmap is not Function.vmap
    if function.generate_vmap_rule:
        if written:
            raise RuntimeError(
                f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an "
                "overriden vmap staticmethod. Please set generate_vmap_rule=False or delete the overriden "
                f"vmap staticmethod to avoid ambiguity. {_MORE}"
            )
        output, out_dims = _generated(function, dims).apply(*values), 0
    elif not written:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please override "
            f"and implement the vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )
    else:
        size = next(value.shape[dim] for value, dim in pairs if dim is not None)
        output, out_dims = _two(function.vmap(VmapInfo(size, "error"), dims, *values))
    return _wrapped(output, out_dims, level)


def _two(result: Any) -> tuple[Any, Any]:
    expected = (
        "Expected the vmap staticmethod to have two returns, an output and out_dims with pytree structure "
        "compatible with the output. "
    )
    if not isinstance(result, tuple):
        raise RuntimeError(f"{expected}Got a {type(result)} instead")
    if len(result) != 2:
        raise RuntimeError(f"{expected}Got {len(result)} returns instead")
    return result


def _wrapped(output: Any, dim: Any, level: int) -> Any:
    if isinstance(output, (tuple, list)):
        dims = dim if isinstance(dim, (tuple, list)) else [dim] * len(output)
        return type(output)(_wrapped(part, at, level) for part, at in zip(output, dims, strict=True))
    if dim is None or not isinstance(output, Tensor):
        return output
    return _rushlight._add_batch_dim(output, dim % output.ndim, level)


class _Context(FunctionCtx):
    """The context of one sample: what the user's methods put there is found there."""

    to_save: tuple[Any, ...] = ()

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        return self.to_save


def _generated(function: type[Function], dims: tuple[int | None, ...]) -> type[Function]:
    """Make the function of whole batches whose samples are those of `function`."""
    from ..func import vmap

    class Mapped(Function):
        @staticmethod
        def forward(*values: Any) -> Any:
            return vmap(function.forward, in_dims=dims)(*values)

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            outputs = output if isinstance(output, tuple) else (output,)
            ctx.numbers = tuple(None if isinstance(value, Tensor) else value for value in inputs)
            ctx.is_tuple = isinstance(output, tuple)
            tensors = [value if isinstance(value, Tensor) else None for value in (*inputs, *outputs)]
            ctx.save_for_backward(*tensors)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            count = len(ctx.numbers)
            saved = ctx.saved_tensors
            inputs = tuple(
                number if value is None else value
                for number, value in zip(ctx.numbers, saved[:count], strict=True)
            )

            def one(inputs: tuple[Any, ...], outputs: tuple[Any, ...], gradients: tuple[Any, ...]) -> Any:
                context: Any = _Context()
                context.needs_input_grad = ctx.needs_input_grad
                function.setup_context(context, inputs, outputs if ctx.is_tuple else outputs[0])
                answer = function.backward(context, *gradients)
                answers = answer if isinstance(answer, tuple) else (answer,)
                places = [place for place, part in enumerate(answers) if part is not None]
                found.append((len(answers), places))
                return tuple(answers[place] for place in places)

            found: list[tuple[int, list[int]]] = []
            parts = vmap(one, in_dims=(dims, 0, 0))(inputs, saved[count:], gradients)
            length, places = found[0]
            answers: list[Any] = [None] * length
            for place, part in zip(places, parts, strict=True):
                dim = dims[place]
                # What all samples share gets the sum of their gradients.
                answers[place] = part.sum(0) if dim is None else part.movedim(0, dim)
            return tuple(answers)

    return Mapped

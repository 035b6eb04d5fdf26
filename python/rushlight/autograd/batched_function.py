"""Functions of one's own on tensors that stand for many samples, by the user's rule or one that is made."""

from __future__ import annotations

from typing import Any, NamedTuple

from .. import _rushlight
from .._rushlight import Tensor
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_structure, tree_unflatten
from .function import Function, FunctionMeta

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
    arguments = {id(value): arg for value, arg in zip(values, args, strict=True)}
    size = next((value.shape[dim] for value, dim in pairs if dim is not None), None)
    check_support(function)
    if size is None:
        # One answer for all samples.
        return _wrapped(_rushlight._below(level, function.apply, values), None, level, arguments)
    info = VmapInfo(size, _rushlight._vmap_randomness(level))
    if function.generate_vmap_rule:
        rule = _Rule(function, dims, info)
        output = _rushlight._below(level, _mapped(rule).apply, values)
        out_dims = rule.out_dims
    else:
        output, out_dims = _two(_rushlight._below(level, function.vmap, (info, dims, *values)))
    return _wrapped(output, out_dims, level, arguments)


def check_support(function: type[Function]) -> None:
    """Refuse a function that has no rule for many samples, or two."""
    written = function.vmap is not Function.vmap
    if function.generate_vmap_rule and written:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it has both generate_vmap_rule=True and an "
            "overridden vmap staticmethod. Please set generate_vmap_rule=False or delete the overridden "
            f"vmap staticmethod to avoid ambiguity. {_MORE}"
        )
    if not function.generate_vmap_rule and not written:
        raise RuntimeError(
            f"You tried to vmap over {function.__name__}, but it does not have vmap support. Please override "
            f"and implement the vmap staticmethod or set generate_vmap_rule=True. {_MORE}"
        )


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


def _wrapped(output: Any, out_dims: Any, level: int, arguments: dict[int, Any]) -> Any:
    """Return the results as tensors of the mapping; an argument that was returned is that argument."""
    leaves, spec = tree_flatten(output)
    dims = _broadcast_to_and_flatten(out_dims, spec)
    if dims is None:
        raise RuntimeError(
            "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
            f"Expected out_dims={out_dims} to be compatible with the structure of `output`. out_dims has "
            f"structure {tree_structure(out_dims)} but output has structure {spec}. {_MORE}"
        )

    follows = any(isinstance(given, Tensor) and given.requires_grad for given in arguments.values())

    def one(leaf: Any, dim: Any) -> Any:
        if not isinstance(leaf, Tensor):
            return leaf
        if id(leaf) in arguments:
            return arguments[id(leaf)]
        if dim is None:
            # What has a history below the mapping gets that above it on a tensor of its own, and so does what
            # will have one above it only: it meets other tensors of the mapping.
            wraps = (leaf.requires_grad or follows) and level == _rushlight._vmap_nesting()
            return _rushlight._wrap_for_level(leaf) if wraps else leaf
        if not -leaf.ndim <= dim < leaf.ndim:
            allowed = f"[{-leaf.ndim}, {leaf.ndim - 1}]"
            raise IndexError(f"Dimension out of range (expected to be in range of {allowed}, but got {dim})")
        return _rushlight._add_batch_dim(leaf, dim % leaf.ndim, level)

    return tree_unflatten([one(leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)], spec)


class _Rule:
    """How `function` computes for whole batches: its methods, mapped over the samples."""

    def __init__(self, function: type[Function], dims: tuple[int | None, ...], info: VmapInfo) -> None:
        self.function = function
        self.dims = dims
        self.info = info
        # Where the samples lie in what it answers, and in what it keeps for each direction.
        self.out_dims: Any = None
        self.kept: dict[str, tuple[int | None, ...]] = {"backward": (), "forward": ()}

    def map(self, method: Any, dims: Any, *args: Any) -> tuple[Any, Any]:
        """What `method` answers for all samples, and where in that they lie."""
        from ..func.vmap import restore_vmap

        return restore_vmap(method, dims, *self.info)(*args)

    def differentiate(
        self, method: Any, direction: str, ctx: Any, given: Any, dims: Any, to: Any
    ) -> tuple[Any, ...]:
        """The derivatives that `method` answers, with the samples where they lie in what these belong to."""

        def one(saved: tuple[Any, ...], given: tuple[Any, ...]) -> tuple[Any, ...]:
            answer = method(_Context(self, ctx, saved), *given)
            return answer if isinstance(answer, tuple) else (answer,)

        dims = tuple(None if part is None else dim for part, dim in zip(given, dims, strict=True))
        saved = ctx.saved_tensors if self.kept[direction] else ()
        answers, found = self.map(one, (self.kept[direction], dims), saved, given)
        return tuple(
            self.moved(answer, dim, to[place] if place < len(to) else None)
            for place, (answer, dim) in enumerate(zip(answers, found, strict=True))
        )

    def moved(self, answer: Any, dim: int | None, to: int | None) -> Any:
        """One derivative. What all samples share gets the sum over them."""
        if not isinstance(answer, Tensor):
            return answer
        if to is None:
            return answer if dim is None else answer.sum(dim)
        if dim is None:
            shape = list(answer.shape)
            shape.insert(to, self.info.batch_size)
            return answer.unsqueeze(to).expand(shape)
        return answer.movedim(dim, to)


class _Context:
    """The context of one sample, in front of that of the whole batch."""

    def __init__(self, rule: _Rule, whole: Any, saved: tuple[Any, ...] = ()) -> None:
        self.__dict__.update(_rule=rule, _whole=whole, saved_tensors=saved)

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._whole, name)
        return value.again() if isinstance(value, _Attribute) else value

    def __setattr__(self, name: str, value: Any) -> None:
        values, dims = _unwrapped((value,)) if isinstance(value, Tensor) else ((value,), (None,))
        setattr(self._whole, name, value if dims == (None,) else _Attribute(*values, *dims))

    def save_for_backward(self, *tensors: Any) -> None:
        self._whole.save_for_backward(*self._apart("backward", tensors))

    def save_for_forward(self, *tensors: Any) -> None:
        self._whole.save_for_forward(*self._apart("forward", tensors))

    def _apart(self, direction: str, tensors: tuple[Any, ...]) -> tuple[Any, ...]:
        values: tuple[Any, ...]
        values, self._rule.kept[direction] = _unwrapped(tensors)
        return values


class _Attribute(NamedTuple):
    """What an attribute of a context is for all samples, and where in it they lie."""

    value: Tensor
    dim: int

    def again(self) -> Tensor:
        """What it is for one sample of the mapping that runs now."""
        return _rushlight._add_batch_dim(self.value, self.dim, _rushlight._vmap_nesting())


def _unwrapped(tensors: tuple[Any, ...]) -> tuple[Any, Any]:
    from ..func.vmap import unwrap_batched

    return unwrap_batched(tensors, _rushlight._vmap_nesting())


def _mapped(rule: _Rule) -> type[Function]:
    """Make the function of whole batches whose samples are those of the rule's function."""
    function = rule.function

    class Mapped(Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(*values: Any) -> Any:
            output, rule.out_dims = rule.map(function.forward, rule.dims, *values)
            return output

        @staticmethod
        def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
            def one(inputs: tuple[Any, ...], output: Any) -> None:
                function.setup_context(_Context(rule, ctx), inputs, output)

            rule.map(one, (rule.dims, rule.out_dims), inputs, output)

        @staticmethod
        def backward(ctx: Any, *gradients: Any) -> Any:
            dims = _several(rule.out_dims)
            return rule.differentiate(function.backward, "backward", ctx, gradients, dims, rule.dims)

        @staticmethod
        def jvp(ctx: Any, *tangents: Any) -> Any:
            answers = rule.differentiate(
                function.jvp, "forward", ctx, tangents, rule.dims, _several(rule.out_dims)
            )
            return answers if isinstance(rule.out_dims, tuple) else answers[0]

    named: Any = FunctionMeta(f"Vmapped{function.__name__}", (Mapped,), {})
    mapped: type[Function] = named
    return mapped


def _several(dims: Any) -> tuple[Any, ...]:
    several: tuple[Any, ...] = dims if isinstance(dims, tuple) else (dims,)
    return several

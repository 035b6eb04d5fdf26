"""Functions mapped over samples, all of which are computed at once."""

from __future__ import annotations

import functools
from collections.abc import Callable
from itertools import accumulate
from typing import TYPE_CHECKING, Any, NoReturn

from .._rushlight import (
    Tensor,
    _add_batch_dim,
    _is_batchedtensor,
    _remove_batch_dim,
    _unwrap_batched,
    _vmap_decrement_nesting,
    _vmap_increment_nesting,
    cat,
    default_generator,
    tensor_split,
)
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_map_, tree_structure, tree_unflatten

if TYPE_CHECKING:
    from ..utils._pytree import TreeSpec

Dims = Any

# Steps of a mapping that a library has functions of its own for, by torch's names: `tensordict` has, whose
# dictionaries of tensors are mapped as one.
replaced: dict[str, Callable[..., Any]] = {}


def vmap(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "error",
    *,
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return a function that maps `func` over a dimension of its arguments.

    `in_dims` says along which dimension the samples of an argument lie, `None` for one that all samples
    share; `out_dims` where they are to lie in the results. `randomness` says whether each sample gets random
    numbers of its own ('different'), all the same ('same'), or none ('error'). At most `chunk_size` samples
    are computed at a time.

    >>> import rushlight as torch
    >>> torch.func.vmap(torch.dot)(torch.eye(2), torch.tensor([[1.0, 2.0], [3.0, 4.0]]))
    tensor([1., 4.])
    """
    _check_randomness(randomness)
    if not (chunk_size is None or chunk_size > 0):
        raise ValueError(f"vmap: chunk_size should be None or greater than 0. (got {chunk_size})")
    return mapped(func, in_dims, out_dims, randomness, chunk_size)


def mapped(
    func: Callable[..., Any],
    in_dims: Dims = 0,
    out_dims: Dims = 0,
    randomness: str = "unasked",
    chunk_size: int | None = None,
) -> Callable[..., Any]:
    """Return what `vmap` does, also where the program did not ask for a mapping: 'unasked'."""

    @functools.wraps(func)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        _check_out_dims(func, out_dims)
        if "_process_batched_inputs" in replaced:
            size, dims, leaves, spec = replaced["_process_batched_inputs"](in_dims, args, func)
        else:
            leaves, dims, spec, size = _entering(func, in_dims, args)
        call = _Mapped(func, spec, out_dims, randomness, kwargs)
        if chunk_size is None:
            return call(leaves, dims, size)
        return call.in_chunks(leaves, dims, size, chunk_size)

    return wrapped


def _check_randomness(randomness: str) -> None:
    if randomness not in ("error", "different", "same"):
        raise RuntimeError(
            f"Only allowed values for randomness are 'error', 'different', or 'same'. Got {randomness}"
        )


class _Mapped:
    """A function with what is the same for all chunks of a call."""

    __slots__ = ("func", "kwargs", "out_dims", "randomness", "spec")

    def __init__(
        self,
        func: Callable[..., Any],
        spec: TreeSpec,
        out_dims: Dims,
        randomness: str,
        kwargs: dict[str, Any],
    ) -> None:
        self.func = func
        self.spec = spec
        self.out_dims = out_dims
        self.randomness = randomness
        self.kwargs = kwargs

    def __call__(self, leaves: list[Any], dims: list[int | None], size: int) -> Any:
        with level(size, self.randomness) as number:
            if "_create_batched_inputs" in replaced:
                args = replaced["_create_batched_inputs"](dims, leaves, number, self.spec)
            else:
                args = tree_unflatten(_entered(leaves, dims, number), self.spec)
            outputs = self.func(*args, **self.kwargs)
            if "_unwrap_batched" in replaced:
                return replaced["_unwrap_batched"](outputs, self.out_dims, number, size, self.func)
            return self._left(outputs, number)

    def in_chunks(self, leaves: list[Any], dims: list[int | None], size: int, chunk_size: int) -> Any:
        """Return the results of the chunks, joined."""
        state = default_generator.get_state() if self.randomness == "same" else None
        sizes = [chunk_size] * (size // chunk_size) + ([size % chunk_size] if size % chunk_size else [])
        if not sizes:
            # torch has no result then that could tell the structure.
            raise AssertionError("arg_spec must not be None")
        starts = list(accumulate(sizes))[:-1]
        parts = [
            [leaf] * len(sizes) if dim is None else tensor_split(leaf, starts, dim)
            for leaf, dim in zip(leaves, dims, strict=True)
        ]
        results: list[list[Any]] = []
        spec = self.spec
        for chunk, count in zip(zip(*parts, strict=True), sizes, strict=True):
            if state is not None:
                default_generator.set_state(state)
            result, spec = tree_flatten(self(list(chunk), dims, count))
            results.append(result)
        out_dims = _broadcast_to_and_flatten(self.out_dims, spec)
        if out_dims is None:
            raise AssertionError("flat_out_dims must not be None")
        joined = [
            cat(list(parts), dim=dim) for parts, dim in zip(zip(*results, strict=True), out_dims, strict=True)
        ]
        return tree_unflatten(joined, spec)

    def _left(self, outputs: Any, number: int) -> Any:
        leaves, spec = tree_flatten(outputs)
        if isinstance(outputs, Tensor):
            dims = self._dims_of_one(spec)
        else:
            found = _broadcast_to_and_flatten(self.out_dims, spec)
            dims = self._refuse(spec) if found is None else found
        return tree_unflatten(
            [self._one_left(leaf, dim, number) for leaf, dim in zip(leaves, dims, strict=True)], spec
        )

    def _dims_of_one(self, spec: TreeSpec) -> list[int | None]:
        if isinstance(self.out_dims, tuple) and len(self.out_dims) == 1:
            return list(self.out_dims)
        if self.out_dims is None or isinstance(self.out_dims, int):
            return [self.out_dims]
        return self._refuse(spec)

    def _refuse(self, spec: TreeSpec) -> NoReturn:
        raise ValueError(
            f"vmap({_name(self.func)}, ..., out_dims={self.out_dims})(<inputs>): "
            f"out_dims is not compatible with the structure of `outputs`. "
            f"out_dims has structure {tree_structure(self.out_dims)} but outputs has structure {spec}."
        )

    def _one_left(self, output: Any, dim: int | None, number: int) -> Any:
        name = _name(self.func)
        if dim is None:
            if _is_batchedtensor(output):
                raise ValueError(
                    f"vmap({name}, ...): `{name}` can not return a BatchedTensor when out_dim is None"
                )
            return output
        if not isinstance(output, Tensor):
            raise ValueError(
                f"vmap({name}, ...): `{name}` must only return Tensors, got type {type(output)}. "
                "Did you mean to set out_dims= to None for output?"
            )
        return _remove_batch_dim(output, number, dim)


class level:
    """Map over so many samples as long as the block runs, which gets the number of the mapping."""

    __slots__ = ("randomness", "size")

    def __init__(self, size: int, randomness: str) -> None:
        self.size = size
        self.randomness = randomness

    def __enter__(self) -> int:
        return _vmap_increment_nesting(self.size, self.randomness)

    def __exit__(self, *_: object) -> None:
        _vmap_decrement_nesting()


def _entered(leaves: list[Any], dims: list[int | None], number: int) -> list[Any]:
    return [
        leaf if dim is None else _add_batch_dim(leaf, dim, number)
        for leaf, dim in zip(leaves, dims, strict=True)
    ]


def _name(func: Callable[..., Any]) -> str:
    name = getattr(func, "__name__", None)
    if name is not None:
        return str(name)
    if isinstance(func, functools.partial):
        return f"functools.partial({_name(func.func)}, ...)"
    return repr(func)


def _check_out_dims(func: Callable[..., Any], out_dims: Dims) -> None:
    if type(out_dims) is int:
        return

    def check(dim: Any) -> None:
        if dim is not None and not isinstance(dim, int):
            raise ValueError(
                f"vmap({_name(func)}, ..., out_dims={out_dims}): `out_dims` must be an int, None or a python "
                "collection of ints representing where in the outputs the vmapped dimension should appear."
            )

    tree_map_(check, out_dims)


def _entering(
    func: Callable[..., Any], in_dims: Dims, args: tuple[Any, ...]
) -> tuple[list[Any], list[int | None], TreeSpec, int]:
    """Return the leaves of the arguments, the dimension of each, their structure, and how many samples."""
    if not isinstance(in_dims, _DIMS):
        raise ValueError(
            f"{_call(func, in_dims)}expected `in_dims` to be int or a (potentially nested) tuple matching "
            f"the structure of inputs, got: {type(in_dims)}."
        )
    if not args:
        raise ValueError(
            f"vmap({_name(func)})(<inputs>): got no inputs. Maybe you forgot to add inputs, or you are "
            "trying to vmap over a function with no inputs. The latter is unsupported."
        )
    leaves, spec = tree_flatten(args)
    dims = _broadcast_to_and_flatten(in_dims, spec)
    if dims is None:
        raise ValueError(
            f"{_call(func, in_dims)}in_dims is not compatible with the structure of `inputs`. in_dims has "
            f"structure {tree_structure(in_dims)} but inputs has structure {spec}."
        )
    dims = [_in_dim(func, in_dims, leaf, dim) for leaf, dim in zip(leaves, dims, strict=True)]
    sizes = [leaf.size(dim) for leaf, dim in zip(leaves, dims, strict=True) if dim is not None]
    if not sizes:
        raise ValueError("vmap: Expected at least one Tensor to vmap over")
    if any(size != sizes[0] for size in sizes):
        raise ValueError(
            "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes "
            f"{sizes} for the mapped dimension"
        )
    return leaves, dims, spec, sizes[0]


# What `in_dims` may be.
_DIMS = (int, tuple)


def _call(func: Callable[..., Any], in_dims: Dims) -> str:
    """Return what errors begin with."""
    return f"vmap({_name(func)}, in_dims={in_dims}, ...)(<inputs>): "


def _in_dim(func: Callable[..., Any], in_dims: Dims, leaf: Any, dim: Any) -> int | None:
    """Return the dimension, counted from the first."""
    if dim is None:
        return None
    if not isinstance(dim, int):
        raise ValueError(
            f"{_call(func, in_dims)}Got in_dim={dim} for an input but in_dim must be either an integer "
            "dimension or None."
        )
    if not isinstance(leaf, Tensor):
        raise ValueError(
            f"{_call(func, in_dims)}Got in_dim={dim} for an input but the input is of type {type(leaf)}. We "
            "cannot vmap over non-Tensor arguments, please use None as the respective in_dim"
        )
    ndim = leaf.dim()
    if not -ndim <= dim < ndim:
        raise ValueError(
            f"{_call(func, in_dims)}Got in_dim={dim} for some input, but that input is a Tensor of "
            f"dimensionality {ndim} so expected in_dim to satisfy -{ndim} <= in_dim < {ndim}."
        )
    return dim % ndim if dim < 0 else dim


def restore_vmap(
    func: Callable[..., Any], in_dims: Dims, batch_size: int, randomness: str
) -> Callable[..., tuple[Any, Any]]:
    """Return a function that maps `func` over samples and also answers where these lie in the results.

    That is `None` for what all samples share. Nothing need be a tensor, and nothing need be mapped.
    """

    def inner(*args: Any, **kwargs: Any) -> tuple[Any, Any]:
        leaves, spec = tree_flatten(args)
        dims = _broadcast_to_and_flatten(in_dims, spec)
        if dims is None:
            raise AssertionError("flat_bdims must not be None")
        with level(batch_size, randomness) as number:
            outputs = func(*tree_unflatten(_entered(leaves, dims, number), spec), **kwargs)
            return unwrap_batched(outputs, number)

    return inner


def unwrap_batched(tree: Any, number: int) -> tuple[Any, Any]:
    """Return the values of batched tensors, and where in them the samples lie."""
    leaves, spec = tree_flatten(tree)
    if not leaves:
        return tree, ()
    pairs = [_unwrap_batched(leaf, number) if isinstance(leaf, Tensor) else (leaf, None) for leaf in leaves]
    values, dims = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    return tree_unflatten(values, spec), tree_unflatten(dims, spec)

"""Rows of a table by their numbers, added up, averaged or compared in bags."""

from __future__ import annotations

import warnings
from math import inf
from typing import TYPE_CHECKING, Any

from ... import _rushlight as native
from ..._calls.showing import shown
from ..._tensors.typename import scalar_name
from .lookups import _shorten

if TYPE_CHECKING:
    from ..._rushlight import Tensor

__all__ = ["embedding_bag"]

_OLD_ORDER = (
    "Argument order of nn.functional.embedding_bag was changed. Usage `embedding_bag(weight, input, ...)` is "
    "deprecated, and should now be `embedding_bag(input, weight, ...)`."
)
# As torch numbers them.
_MODES = ("sum", "mean", "max")


@shown
def embedding_bag(
    input: Tensor,
    weight: Tensor,
    offsets: Tensor | None = None,
    max_norm: float | None = None,
    norm_type: float = 2,
    scale_grad_by_freq: bool = False,
    mode: str = "mean",
    sparse: bool = False,
    per_sample_weights: Tensor | None = None,
    include_last_offset: bool = False,
    padding_idx: int | None = None,
) -> Tensor:
    """Return what the rows of `weight` that `input` names come to in each bag.

    >>> import rushlight as torch
    >>> table = torch.tensor([[1.0], [2.0], [3.0]])
    >>> torch.nn.functional.embedding_bag(torch.tensor([[0, 1], [2, 2]]), table, mode="sum")
    tensor([[3.],
            [6.]])
    """
    if weight.dtype == native.int64 and input.is_floating_point():
        warnings.warn(_OLD_ORDER, UserWarning, stacklevel=3)
        weight, input = input, weight
    if weight.dim() != 2:
        raise ValueError(f"weight has to be a 2D Tensor, but got Tensor of dimension {weight.dim()}")
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must "
            f"have the same shape as the input ({input.shape})"
        )
    offsets, bags = _offsets(input, offsets, include_last_offset)
    _check_mode(mode, scale_grad_by_freq, sparse, per_sample_weights)
    padding = _padding(padding_idx, weight.shape[0])
    _check_indices(input, offsets, input.dim() == 1)
    _check_shares(weight, per_sample_weights)
    if max_norm is not None:
        _shorten(weight, input, max_norm, norm_type)
    options = {"mode": _MODES.index(mode), "scale_grad_by_freq": scale_grad_by_freq, "sparse": sparse}
    each = input.shape[1] if input.dim() == 2 else 0
    return in_bags(weight, input, offsets, bags, padding, per_sample_weights, options, each)[0]


def in_bags(
    weight: Tensor,
    input: Tensor,
    offsets: Tensor,
    bags: int,
    padding: int,
    per_sample_weights: Tensor | None,
    options: dict[str, Any],
    each: int = 0,
) -> tuple[Tensor, ...]:
    """Return what rows come to in each bag, in which bag every number is, and what backward keeps besides.

    `each` says how many numbers there are in every bag, if these are as many.

    Sums without padding need none of that; where torch does not list the bags for them, they are not listed.
    """
    mode, scale_grad_by_freq = _MODES[options["mode"]], options["scale_grad_by_freq"]
    # What torch has a library for.
    is_quick = mode != "max" and padding < 0 and weight.dtype != native.float64
    is_plain = is_quick and mode == "sum" and weight.stride(1) == 1
    every_number = input.flatten().long()
    weighed = per_sample_weights is not None
    # As many of them count.
    each = each if padding < 0 else 0
    looked_up: Any = native.embedding
    if options["sparse"]:
        from ...sparse import embedding as with_sparse_gradient

        looked_up = with_sparse_gradient

    def bagged(weight: Tensor, weights: Tensor, every_number: Tensor, offsets: Tensor) -> tuple[Tensor, ...]:
        # All is made of what is given: it may be others when this is computed again.
        numbers = every_number
        if each > 0:
            of_bag = offsets[:0] if is_plain else native.arange(bags).repeat_interleave(each)
        else:
            of_bag = _bags_of(numbers, offsets[:bags])
        every_bag = of_bag
        kept = None if padding < 0 else numbers != padding
        if kept is not None:
            numbers, of_bag = numbers[kept], of_bag[kept]
        try:
            found = looked_up(weight, numbers, -1, scale_grad_by_freq)
        except IndexError:
            raise RuntimeError(_outside(every_number, weight.shape[0], is_quick)) from None
        if weighed:
            shares = weights.flatten()
            found = found * (shares if kept is None else shares[kept]).unsqueeze(1)
        if each > 0:
            side_by_side = found.view(bags, each, weight.shape[1])
            counts = offsets if mode == "sum" else native.full_like(offsets, each)
            if mode != "max":
                result = side_by_side.sum(1)
        else:
            counts = native.zeros(bags, dtype=native.int64).index_add(0, of_bag, native.ones_like(of_bag))
            empty = weight.new_zeros((bags, weight.shape[1]))
        if mode == "max":
            # The first of those that are equally great has all of the gradient.
            if each > 0:
                starts = native.arange(0, bags * each, each).unsqueeze(1)
                first = side_by_side.detach().max(1)[1] + starts
                return found.gather(0, first), every_bag, counts, numbers[first]
            first = _greatest(found.detach(), of_bag, bags)
            result = found.gather(0, first) if len(numbers) else empty
            result = native.where((counts > 0).unsqueeze(1), result, 0.0)
            return result, every_bag, counts, numbers[first] if len(numbers) else first
        if each == 0:
            result = empty.index_add(0, of_bag, found)
        if mode == "sum":
            listed = every_bag[:0] if is_plain else every_bag
            return result, listed, native.zeros_like(offsets), native.zeros_like(offsets)
        return result / counts.clamp(min=1).unsqueeze(1), every_bag, counts, counts

    kept_names = "weight per_sample_weights" if weighed else "- -"
    return native._as_one(
        bagged,
        (
            "_embedding_bag",
            "EmbeddingBagBackward0",
            f"{kept_names} indices offsets - result1 result2 result3",
        ),
        (2, 0 if weighed else 2 if mode == "max" else 3, 0),
        {
            **options,
            "padding_idx": padding,
            "weight_sym_argsize_0": weight.shape[0],
            **({} if weighed else {"weight": ..., "per_sample_weights": ...}),
        },
        weight,
        # torch counts an input more, whether or not it is there.
        native.zeros(0, dtype=weight.dtype) if per_sample_weights is None else per_sample_weights,
        every_number,
        offsets,
    )


def _offsets(input: Tensor, offsets: Tensor | None, ends: bool) -> tuple[Tensor, int]:
    """Return where bags begin, and how many there are: `ends` says that the last place is an end."""
    if input.dim() == 2:
        if offsets is not None:
            raise ValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed "
                f"length sequences. However, found offsets of type {type(offsets)}".replace(
                    "rushlight", "torch"
                )
            )
        return native.arange(input.shape[0]) * input.shape[1], input.shape[0]
    if input.dim() != 1:
        raise ValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ValueError("offsets has to be a 1D Tensor")
    return offsets, len(offsets) - ends


def _padding(index: int | None, rows: int) -> int:
    """Return the row that does not count, or -1."""
    if index is None:
        return -1
    if not -rows <= index < rows:
        raise RuntimeError(
            f"padding_idx must be within the number of embeddings, {-rows} through {rows - 1}, but got "
            f"{index}"
        )
    return index % rows


def _bags_of(numbers: Tensor, starts: Tensor) -> Tensor:
    """Return for each number in which bag it is."""
    places = native.arange(len(numbers))
    return native._nn.places_among(starts.long(), places, True, None, False) - 1


def _greatest(found: Tensor, of_bag: Tensor, bags: int) -> Tensor:
    """Return where the first of the greatest elements of bags are, or 0 if there is none."""
    size = (bags, found.shape[1])
    inside = of_bag.unsqueeze(1).expand(found.shape)
    greatest = native.full(size, -inf, dtype=found.dtype).scatter_reduce(
        0, inside, found, "amax", include_self=False
    )
    places = native.arange(len(found)).unsqueeze(1).expand(found.shape)
    # What is no number is the greatest of all.
    is_greatest = (found == greatest[of_bag]) | found.isnan()
    places = native.where(is_greatest, places, len(found) - 1)
    first = native.zeros(size, dtype=native.int64)
    return first.scatter_reduce(0, inside, places, "amin", include_self=False)


def _outside(numbers: Tensor, rows: int, is_quick: bool) -> str:
    """Return the words for the first number that there is no row of."""
    place = int(((numbers < 0) | (numbers >= rows)).nonzero()[0])
    number = int(numbers[place])
    if not is_quick:
        return f"embedding_bag: Expected idx >= 0 && idx < num_embeddings but found idx to be {number}"
    return f"Index {place} of input takes value {number} which is not in the valid range [0, {rows})"


def _check_mode(mode: str, scale_grad_by_freq: bool, sparse: bool, per_sample_weights: Tensor | None) -> None:
    if mode not in _MODES:
        raise ValueError("mode has to be one of sum, mean or max")
    if mode == "max" and scale_grad_by_freq:
        raise ValueError("max mode does not support scaling the gradient by the frequency")
    if mode == "max" and sparse:
        raise ValueError("max mode does not support sparse weights")
    if per_sample_weights is not None and mode != "sum":
        raise NotImplementedError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for "
            f"mode='sum' (got mode='{mode}'). Please open a feature request on GitHub."
        )


def _check_shares(weight: Tensor, per_sample_weights: Tensor | None) -> None:
    if per_sample_weights is not None and per_sample_weights.dtype != weight.dtype:
        kinds = [scalar_name(tensor) for tensor in (weight, per_sample_weights)]
        raise RuntimeError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 "
            f"'per_sample_weights'; but type torch.{kinds[0]}Tensor does not equal torch.{kinds[1]}Tensor "
            "(while checking arguments for embedding_bag)"
        )


def _check_indices(input: Tensor, offsets: Tensor, are_given: bool = True) -> None:
    for number, (name, given) in enumerate((("indices", input), ("offsets", offsets)), 1):
        if given.dtype not in (native.int64, native.int32):
            raise RuntimeError(
                f"Expected tensor for argument #{number} '{name}' to have one of the following scalar "
                f"types: Long, Int; but got torch.{scalar_name(given)}Tensor instead (while checking "
                "arguments for embedding_bag)"
            )
    if len(offsets) == 0 or not are_given:
        return
    if offsets[0] != 0:
        raise RuntimeError(
            "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position "
            f"0. However, got {int(offsets[0])}\n[ torch.{scalar_name(offsets)}Tensor{{}} ]"
        )
    if offsets[-1] > input.numel():
        raise RuntimeError(
            f"offsets[-1] can not be greater than input's length {input.numel()} but got offsets[-1] of "
            f"{int(offsets[-1])}"
        )
    if bool(((offsets < 0) | (offsets > input.numel())).any()):
        raise IndexError("index out of range in self")
    if bool((offsets[1:] < offsets[:-1]).any()):
        raise RuntimeError(
            "Expected i < index_size to be true, but got false.  (Could this error message be improved?  If "
            "so, please report an enhancement request to PyTorch.)"
        )

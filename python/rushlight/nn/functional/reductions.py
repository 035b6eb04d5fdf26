"""What becomes of the losses of single elements, as losses take it."""

from __future__ import annotations

import warnings

from ..._rushlight import Tensor

# The engine takes a reduction as a number, as torch's does.
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}


def reduction_number(name: str) -> int:
    """Return the number by which the engine knows a reduction."""
    number = _REDUCTIONS.get(name)
    if number is not None:
        return number
    if name == "elementwise_mean":
        warnings.warn(
            "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead.", stacklevel=3
        )
        return 1
    raise ValueError(f"{name} is not a valid value for reduction")


def checked_reduction(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """Return `chosen_reduction`, which is refused before anything else is looked at."""
    reduction = chosen_reduction(reduction, size_average, reduce)
    if reduction not in (*_REDUCTIONS, "elementwise_mean"):
        raise ValueError(f"{reduction} is not a valid value for reduction")
    return reduction


def chosen_reduction(reduction: str, size_average: bool | None, reduce: bool | None) -> str:
    """Return `reduction`, or what the two flags that it has replaced say if one of them is given."""
    if size_average is None and reduce is None:
        return reduction
    return legacy_get_string(size_average, reduce, stacklevel=4)


def legacy_get_string(
    size_average: bool | None, reduce: bool | None, emit_warning: bool = True, *, stacklevel: int = 3
) -> str:
    """Return the reduction that the two flags say, which it has replaced.

    >>> legacy_get_string(False, None, emit_warning=False)
    'sum'
    """
    averages = size_average is None or size_average
    name = "none" if reduce is not None and not reduce else "mean" if averages else "sum"
    if emit_warning:
        warnings.warn(
            f"size_average and reduce args will be deprecated, please use reduction='{name}' instead.",
            stacklevel=stacklevel,
        )
    return name


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """Return the number of the reduction that the two flags say."""
    return reduction_number(legacy_get_string(size_average, reduce, emit_warning, stacklevel=4))


def reduced(losses: Tensor, reduction: str) -> Tensor:
    """Average losses, add them up, or leave them as they are."""
    number = reduction_number(reduction)
    return losses if number == 0 else losses.mean() if number == 1 else losses.sum()


def weighed(losses: Tensor, weight: Tensor, reduction: str) -> Tensor:
    """Reduce losses of which each has a weight, by which they are averaged too."""
    if weight.shape != losses.shape:
        raise ValueError("Weights and input must have the same size.")
    losses = losses * weight
    if reduction == "none":
        return losses
    if reduction == "sum":
        return losses.sum()
    if reduction == "mean":
        return losses.sum() / weight.sum()
    raise ValueError(f"Invalid reduction mode: {reduction}. Expected one of 'none', 'mean', 'sum'.")

"""Filling the weights of layers: constants, and draws scaled to the size of the layer."""

from __future__ import annotations

import warnings
from math import ceil, erf, prod, sqrt
from typing import TYPE_CHECKING

from .. import _rushlight as native
from .._rushlight import (
    Generator,
    Tensor,
    _handle_torch_function,
    _has_torch_function,
    _nn,
    empty_like,
    randperm,
    where,
)
from ..autograd.grad_mode import no_grad

if TYPE_CHECKING:
    from typing import Any


__all__ = [
    "calculate_gain",
    "constant_",
    "dirac_",
    "eye_",
    "kaiming_normal_",
    "kaiming_uniform_",
    "normal_",
    "ones_",
    "orthogonal_",
    "sparse_",
    "trunc_normal_",
    "uniform_",
    "xavier_normal_",
    "xavier_uniform_",
    "zeros_",
]

_GAINS = {"sigmoid": 1, "tanh": 5.0 / 3, "relu": sqrt(2.0), "selu": 3.0 / 4}
_LINEAR = ("linear", *(f"{kind}{n}d" for kind in ("conv", "conv_transpose") for n in (1, 2, 3)))


def calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """Return the factor that keeps the variance through `nonlinearity`.

    >>> import rushlight as torch
    >>> torch.nn.init.calculate_gain("leaky_relu", 1.0)
    1.0
    """
    if nonlinearity in _LINEAR:
        return 1
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(f"negative_slope {param} not a valid number")
        return sqrt(2.0 / (1 + slope**2))
    if nonlinearity not in _GAINS:
        raise ValueError(f"Unsupported nonlinearity {nonlinearity}")
    return _GAINS[nonlinearity]


def uniform_(tensor: Tensor, a: float = 0.0, b: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw every element between `a` and `b`.

    >>> import rushlight as torch
    >>> x = torch.nn.init.uniform_(torch.empty(100), 2.0, 3.0)
    >>> bool(((x >= 2) & (x <= 3)).all())
    True
    """
    if _has_torch_function((tensor,)):
        return _shown(uniform_, tensor=tensor, a=a, b=b, generator=generator)
    return _no_grad_uniform_(tensor, a, b, generator)


def normal_(
    tensor: Tensor, mean: float = 0.0, std: float = 1.0, generator: Generator | None = None
) -> Tensor:
    """Draw every element from a normal distribution.

    >>> import rushlight as torch
    >>> x = torch.nn.init.normal_(torch.empty(100), mean=50.0)
    >>> bool(((x > 30) & (x < 70)).all())
    True
    """
    if _has_torch_function((tensor,)):
        return _shown(normal_, tensor=tensor, mean=mean, std=std, generator=generator)
    return _no_grad_normal_(tensor, mean, std, generator)


def constant_(tensor: Tensor, val: float) -> Tensor:
    """Set every element to `val`.

    >>> import rushlight as torch
    >>> torch.nn.init.constant_(torch.empty(2), 3.0)
    tensor([3., 3.])
    """
    if _has_torch_function((tensor,)):
        return _shown(constant_, tensor=tensor, val=val)
    return _no_grad_fill_(tensor, val)


def ones_(tensor: Tensor) -> Tensor:
    """Set every element to one.

    >>> import rushlight as torch
    >>> torch.nn.init.ones_(torch.empty(2))
    tensor([1., 1.])
    """
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor: Tensor) -> Tensor:
    """Set every element to zero.

    >>> import rushlight as torch
    >>> torch.nn.init.zeros_(torch.empty(2))
    tensor([0., 0.])
    """
    with no_grad():
        return tensor.zero_()


def eye_(tensor: Tensor) -> Tensor:
    """Make a matrix the identity, as far as it goes.

    >>> import rushlight as torch
    >>> torch.nn.init.eye_(torch.empty(2, 3)).tolist()
    [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    with no_grad():
        tensor.copy_(native.eye(*tensor.shape))
    return tensor


def xavier_uniform_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw uniformly with the variance `2 gain² / (fan_in + fan_out)`.

    >>> import rushlight as torch
    >>> weight = torch.nn.init.xavier_uniform_(torch.empty(3, 3))
    >>> bool((weight.abs() <= 1).all())
    True
    """
    bound = sqrt(3.0) * _xavier_deviation(tensor, gain)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Tensor, gain: float = 1.0, generator: Generator | None = None) -> Tensor:
    """Draw normally with the variance `2 gain² / (fan_in + fan_out)`.

    >>> import rushlight as torch
    >>> weight = torch.nn.init.xavier_normal_(torch.empty(300, 500))
    >>> 0.045 < weight.std().item() < 0.055
    True
    """
    return _no_grad_normal_(tensor, 0.0, _xavier_deviation(tensor, gain), generator)


def kaiming_uniform_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw uniformly with the variance `gain² / fan`, the gain being that of a leaky ReLU of slope `a`.

    >>> import rushlight as torch
    >>> weight = torch.nn.init.kaiming_uniform_(torch.empty(2, 600), a=1.0)
    >>> bool((weight.abs() <= (3 / 600) ** 0.5).all())
    True
    """
    if _has_torch_function((tensor,)):
        how = {"mode": mode, "nonlinearity": nonlinearity, "generator": generator}
        return _shown(kaiming_uniform_, tensor=tensor, a=a, **how)
    if 0 in tensor.shape:
        return _unfilled(tensor)
    bound = sqrt(3.0) * _kaiming_deviation(tensor, a, mode, nonlinearity)
    return _no_grad_uniform_(tensor, -bound, bound, generator)


def kaiming_normal_(
    tensor: Tensor,
    a: float = 0,
    mode: str = "fan_in",
    nonlinearity: str = "leaky_relu",
    generator: Generator | None = None,
) -> Tensor:
    """Draw normally with the variance `gain² / fan`, the gain being that of a leaky ReLU of slope `a`.

    >>> import rushlight as torch
    >>> weight = torch.nn.init.kaiming_normal_(torch.empty(300, 200))
    >>> 0.09 < weight.std().item() < 0.11
    True
    """
    if 0 in tensor.shape:
        return _unfilled(tensor)
    return _no_grad_normal_(tensor, 0.0, _kaiming_deviation(tensor, a, mode, nonlinearity), generator)


def orthogonal_(tensor: Tensor, gain: float = 1, generator: Generator | None = None) -> Tensor:
    """Make a matrix, of the first dimension by all others, orthogonal at random.

    >>> import rushlight as torch
    >>> weight = torch.nn.init.orthogonal_(torch.empty(2, 3))
    >>> torch.allclose(weight @ weight.T, torch.eye(2), atol=1e-6)
    True
    """
    if tensor.ndim < 2:
        raise ValueError("Only tensors with 2 or more dimensions are supported")
    if tensor.numel() == 0:
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        drawn = tensor.new_empty((rows, columns)).normal_(0, 1, generator=generator)
        q, r = _nn.linalg_qr(drawn.t() if rows < columns else drawn)
        q = q * r.diagonal().sign()
        tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape)).mul_(gain)
    return tensor


def sparse_(tensor: Tensor, sparsity: float, std: float = 0.01, generator: Generator | None = None) -> Tensor:
    """Draw every element of a matrix normally, and set a share of each column to zero.

    >>> import rushlight as torch
    >>> (torch.nn.init.sparse_(torch.empty(4, 2), sparsity=0.5) == 0).sum(0)
    tensor([2, 2])
    """
    if tensor.ndim != 2:
        raise ValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[randperm(rows)[:zeros], column] = 0
    return tensor


def dirac_(tensor: Tensor, groups: int = 1) -> Tensor:
    """Make the weight of a convolution pass its input channels on, as many as there are outputs.

    >>> import rushlight as torch
    >>> torch.nn.init.dirac_(torch.empty(1, 1, 3)).tolist()
    [[[0.0, 1.0, 0.0]]]
    """
    if tensor.ndim not in (3, 4, 5):
        raise ValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    outputs, inputs, *field = tensor.shape
    if outputs % groups != 0:
        raise ValueError("dim 0 must be divisible by groups")
    each = outputs // groups
    middle = tuple(size // 2 for size in field)
    with no_grad():
        tensor.zero_()
        for group in range(groups):
            for channel in range(min(each, inputs)):
                place = (group * each + channel, channel, *middle)
                tensor[place] = 1
    return tensor


def trunc_normal_(
    tensor: Tensor,
    mean: float = 0.0,
    std: float = 1.0,
    a: float = -2.0,
    b: float = 2.0,
    generator: Generator | None = None,
) -> Tensor:
    """Draw every element normally, again and again until it lies between `a` and `b`.

    >>> import rushlight as torch
    >>> bool((torch.nn.init.trunc_normal_(torch.empty(100)).abs() <= 2).all())
    True
    """
    if mean < a - 2 * std or mean > b + 2 * std:
        warnings.warn(
            "mean is more than 2 std from [a, b] in nn.init.trunc_normal_. "
            "The distribution of values may be incorrect.",
            stacklevel=2,
        )

    def below(x: float) -> float:
        return (1.0 + erf((x - mean) / std / sqrt(2.0))) / 2.0

    with no_grad():
        if below(b) - below(a) > 0.3:
            result = tensor.normal_(mean, std, generator=generator)
            outside = (result < a) | (result > b)
            while bool(outside.any()):
                drawn = empty_like(result).normal_(mean, std, generator=generator)
                result = where(outside, drawn, result)
                outside = (result < a) | (result > b)
        else:
            # Few would lie inside: uniform ones are kept as often as they are likely.
            peak = -0.5 * ((max(a, min(mean, b)) - mean) / std) ** 2
            result = tensor.uniform_(a, b, generator=generator)
            drawn = result
            pending = result == result
            while True:
                likely = ((drawn - mean) / std) ** 2 * -0.5 - peak
                chance = empty_like(tensor).uniform_(0, 1, generator=generator)
                pending = pending & (chance.log() > likely)
                if not bool(pending.any()):
                    break
                drawn = empty_like(tensor).uniform_(a, b, generator=generator)
                result = where(pending, drawn, result)
        if result is not tensor:
            tensor.copy_(result)
    return tensor


def _no_grad_uniform_(tensor: Tensor, a: float, b: float, generator: Generator | None = None) -> Tensor:
    with no_grad():
        return tensor.uniform_(a, b, generator=generator)


def _no_grad_normal_(tensor: Tensor, mean: float, std: float, generator: Generator | None = None) -> Tensor:
    with no_grad():
        return tensor.normal_(mean, std, generator=generator)


def _no_grad_fill_(tensor: Tensor, val: float) -> Tensor:
    with no_grad():
        return tensor.fill_(val)


def _no_grad_zero_(tensor: Tensor) -> Tensor:
    with no_grad():
        return tensor.zero_()


def _shown(function: Any, **given: Any) -> Tensor:
    """Show a call to the class of its tensor, or to the modes that see calls, which answer it."""
    name = f"{__name__}.{function.__name__}"
    answer: Tensor = _handle_torch_function(function, name, (given["tensor"],), (), given)
    return answer


def _calculate_fan_in_and_fan_out(tensor: Tensor) -> tuple[int, int]:
    """Count the inputs of an output, and the outputs of an input."""
    if tensor.ndim < 2:
        raise ValueError("Fan in and fan out can not be computed for tensor with fewer than 2 dimensions")
    outputs, inputs, *field = tensor.shape
    return inputs * prod(field), outputs * prod(field)


def _calculate_correct_fan(tensor: Tensor, mode: str) -> int:
    """Return how many numbers come to an output, or go from an input."""
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def _xavier_deviation(tensor: Tensor, gain: float) -> float:
    return gain * sqrt(2.0 / float(sum(_calculate_fan_in_and_fan_out(tensor))))


def _kaiming_deviation(tensor: Tensor, a: float, mode: str, nonlinearity: str) -> float:
    if mode.lower() not in ("fan_in", "fan_out"):
        raise ValueError(f"Mode {mode.lower()} not supported, please use one of ['fan_in', 'fan_out']")
    fan_in, fan_out = _calculate_fan_in_and_fan_out(tensor)
    return calculate_gain(nonlinearity, a) / sqrt(fan_in if mode.lower() == "fan_in" else fan_out)


def _unfilled(tensor: Tensor) -> Tensor:
    warnings.warn("Initializing zero-element tensors is a no-op", stacklevel=3)
    return tensor


def _deprecated(function: Any) -> Any:
    """Return a function under the name that it had before names of in-place functions ended so."""
    old = function.__name__[:-1]

    def renamed(*args: Any, **kwargs: Any) -> Any:
        warnings.warn(
            f"`nn.init.{old}` is now deprecated in favor of `nn.init.{old}_`.", FutureWarning, stacklevel=2
        )
        return function(*args, **kwargs)

    renamed.__name__ = renamed.__qualname__ = old
    renamed.__doc__ = f"Call `{old}_`, which this was before."
    return renamed


uniform = _deprecated(uniform_)
normal = _deprecated(normal_)
constant = _deprecated(constant_)
eye = _deprecated(eye_)
dirac = _deprecated(dirac_)
xavier_uniform = _deprecated(xavier_uniform_)
xavier_normal = _deprecated(xavier_normal_)
kaiming_uniform = _deprecated(kaiming_uniform_)
kaiming_normal = _deprecated(kaiming_normal_)
orthogonal = _deprecated(orthogonal_)
sparse = _deprecated(sparse_)

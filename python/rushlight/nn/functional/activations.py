"""Activations as functions. Those that take `inplace` overwrite their input when it is true."""

from __future__ import annotations

import warnings

from ... import _rushlight as native
from ..._calls.showing import shown
from ..._rushlight import Tensor, dtype

__all__ = [
    "celu",
    "celu_",
    "elu",
    "elu_",
    "gelu",
    "glu",
    "gumbel_softmax",
    "hardshrink",
    "hardsigmoid",
    "hardswish",
    "hardtanh",
    "hardtanh_",
    "leaky_relu",
    "leaky_relu_",
    "log_softmax",
    "logsigmoid",
    "mish",
    "prelu",
    "relu",
    "relu6",
    "relu_",
    "rrelu",
    "rrelu_",
    "selu",
    "selu_",
    "sigmoid",
    "silu",
    "softmax",
    "softmin",
    "softplus",
    "softshrink",
    "softsign",
    "tanh",
    "tanhshrink",
    "threshold",
    "threshold_",
]

_nn = native._nn

celu_ = native.celu_
elu_ = _nn.elu_
gelu = _nn.gelu
hardshrink = native.hardshrink
hardtanh_ = _nn.hardtanh_
leaky_relu_ = _nn.leaky_relu_
logsigmoid = _nn.log_sigmoid
prelu = native.prelu
relu_ = native.relu_
rrelu_ = native.rrelu_
selu_ = native.selu_
softplus = _nn.softplus
softshrink = _nn.softshrink
threshold_ = native.threshold_


@shown
def relu(input: Tensor, inplace: bool = False) -> Tensor:
    """Replace negative elements by zero.

    >>> import rushlight as torch
    >>> torch.nn.functional.relu(torch.tensor([-1.0, 2.0]))
    tensor([0., 2.])
    """
    return native.relu_(input) if inplace else native.relu(input)


@shown
def relu6(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the elements, moved to 0 and 6 where they lie beyond.

    >>> import rushlight as torch
    >>> torch.nn.functional.relu6(torch.tensor([-1.0, 3.0, 9.0]))
    tensor([0., 3., 6.])
    """
    return _nn.hardtanh_(input, 0, 6) if inplace else _nn.hardtanh(input, 0, 6)


@shown
def elu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return the elements, `alpha * (exp(x) - 1)` for negative ones.

    >>> import rushlight as torch
    >>> torch.nn.functional.elu(torch.tensor([-1.0, 2.0]))
    tensor([-0.6321,  2.0000])
    """
    return _nn.elu_(input, alpha) if inplace else _nn.elu(input, alpha)


@shown
def celu(input: Tensor, alpha: float = 1.0, inplace: bool = False) -> Tensor:
    """Return the elements, `alpha * (exp(x / alpha) - 1)` for negative ones.

    >>> import rushlight as torch
    >>> torch.nn.functional.celu(torch.tensor([-1.0, 2.0]), alpha=2.0)
    tensor([-0.7869,  2.0000])
    """
    return native.celu_(input, alpha) if inplace else native.celu(input, alpha)


@shown
def selu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `elu` with the factors that keep mean and variance.

    >>> import rushlight as torch
    >>> torch.nn.functional.selu(torch.tensor([-1.0, 1.0]))
    tensor([-1.1113,  1.0507])
    """
    return native.selu_(input) if inplace else native.selu(input)


@shown
def leaky_relu(input: Tensor, negative_slope: float = 0.01, inplace: bool = False) -> Tensor:
    """Return the elements, negative ones times `negative_slope`.

    >>> import rushlight as torch
    >>> torch.nn.functional.leaky_relu(torch.tensor([-2.0, 3.0]), 0.5)
    tensor([-1.,  3.])
    """
    return _nn.leaky_relu_(input, negative_slope) if inplace else _nn.leaky_relu(input, negative_slope)


@shown
def rrelu(
    input: Tensor,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
) -> Tensor:
    """Return the elements, negative ones times a number between the bounds, drawn in training.

    >>> import rushlight as torch
    >>> torch.nn.functional.rrelu(torch.tensor([-8.0, 1.0]), lower=0.25, upper=0.25)
    tensor([-2.,  1.])
    """
    function = native.rrelu_ if inplace else native.rrelu
    return function(input, lower, upper, training)


@shown
def hardtanh(input: Tensor, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Tensor:
    """Return the elements, moved to the bounds where they lie beyond.

    >>> import rushlight as torch
    >>> torch.nn.functional.hardtanh(torch.tensor([-3.0, 0.5]))
    tensor([-1.0000,  0.5000])
    """
    if min_val > max_val:
        raise ValueError("min_val cannot be greater than max_val")
    return _nn.hardtanh_(input, min_val, max_val) if inplace else _nn.hardtanh(input, min_val, max_val)


@shown
def hardsigmoid(input: Tensor, inplace: bool = False) -> Tensor:
    """Return `(x + 3) / 6` within 0 and 1.

    >>> import rushlight as torch
    >>> torch.nn.functional.hardsigmoid(torch.tensor([-3.0, 0.0, 3.0]))
    tensor([0.0000, 0.5000, 1.0000])
    """
    return _nn.hardsigmoid_(input) if inplace else _nn.hardsigmoid(input)


@shown
def hardswish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the elements times `hardsigmoid` of them.

    >>> import rushlight as torch
    >>> torch.nn.functional.hardswish(torch.tensor([-3.0, 3.0]))
    tensor([-0., 3.])
    """
    return _nn.hardswish_(input) if inplace else _nn.hardswish(input)


@shown
def silu(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the elements times `sigmoid` of them.

    >>> import rushlight as torch
    >>> torch.nn.functional.silu(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.7311])
    """
    return _nn.silu_(input) if inplace else _nn.silu(input)


@shown
def mish(input: Tensor, inplace: bool = False) -> Tensor:
    """Return the elements times the hyperbolic tangent of `softplus` of them.

    >>> import rushlight as torch
    >>> torch.nn.functional.mish(torch.tensor([0.0, 1.0]))
    tensor([0.0000, 0.8651])
    """
    return _nn.mish_(input) if inplace else _nn.mish(input)


@shown
def threshold(input: Tensor, threshold: float, value: float, inplace: bool = False) -> Tensor:
    """Return the elements above `threshold`, and `value` for the others.

    >>> import rushlight as torch
    >>> torch.nn.functional.threshold(torch.tensor([1.0, 3.0]), 2.0, 0.0)
    tensor([0., 3.])
    """
    function = native.threshold_ if inplace else native.threshold
    return function(input, threshold, value)


@shown
def glu(input: Tensor, dim: int = -1) -> Tensor:
    """Return the first half of `dim` times `sigmoid` of the second.

    >>> import rushlight as torch
    >>> torch.nn.functional.glu(torch.tensor([2.0, 0.0]))
    tensor([1.])
    """
    if input.dim() == 0:
        raise RuntimeError("glu does not support scalars because halving size must be even")
    return _nn.glu(input, dim)


@shown
def softsign(input: Tensor) -> Tensor:
    """Return `x / (1 + |x|)`.

    >>> import rushlight as torch
    >>> torch.nn.functional.softsign(torch.tensor([-1.0, 3.0]))
    tensor([-0.5000,  0.7500])
    """
    return input / (input.abs() + 1)


@shown
def tanhshrink(input: Tensor) -> Tensor:
    """Return `x - tanh(x)`.

    >>> import rushlight as torch
    >>> torch.nn.functional.tanhshrink(torch.tensor([1.0]))
    tensor([0.2384])
    """
    return input - input.tanh()


@shown
def softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Return `exp(input)`, scaled to add up to one along `dim`.

    >>> import rushlight as torch
    >>> torch.nn.functional.softmax(torch.zeros(4), dim=0)
    tensor([0.2500, 0.2500, 0.2500, 0.2500])
    """
    if dim is None:
        dim = implicit_dim("softmax", input.ndim, _stacklevel)
    return input.softmax(dim) if dtype is None else input.softmax(dim, dtype=dtype)


@shown
def log_softmax(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Return the logarithm of `softmax`, without its loss of precision.

    >>> import rushlight as torch
    >>> torch.nn.functional.log_softmax(torch.zeros(2), dim=0)
    tensor([-0.6931, -0.6931])
    """
    if dim is None:
        dim = implicit_dim("log_softmax", input.ndim, _stacklevel)
    return input.log_softmax(dim) if dtype is None else input.log_softmax(dim, dtype=dtype)


@shown
def softmin(
    input: Tensor, dim: int | None = None, _stacklevel: int = 3, dtype: dtype | None = None
) -> Tensor:
    """Return `exp(-input)`, scaled to add up to one along `dim`.

    >>> import rushlight as torch
    >>> torch.nn.functional.softmin(torch.tensor([0.0, 1.0]), dim=0)
    tensor([0.7311, 0.2689])
    """
    if dim is None:
        dim = implicit_dim("softmin", input.ndim, _stacklevel)
    return (-input).softmax(dim) if dtype is None else (-input).softmax(dim, dtype=dtype)


def implicit_dim(function: str, ndim: int, stacklevel: int) -> int:
    """Warn that `dim` was left out, and choose it."""
    warnings.warn(
        f"Implicit dimension choice for {function} has been deprecated. Change the call to include "
        "dim=X as an argument.",
        stacklevel=stacklevel,
    )
    return 0 if ndim in (0, 1, 3) else 1


@shown
def gumbel_softmax(
    logits: Tensor, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1
) -> Tensor:
    """Draw from the Gumbel-softmax distribution; one-hot with `hard`, with the gradient of the soft one.

    >>> import rushlight as torch
    >>> torch.nn.functional.gumbel_softmax(torch.tensor([0.0, 100.0]), hard=True)
    tensor([0., 1.])
    """
    if eps != 1e-10:
        warnings.warn("`eps` parameter is deprecated and has no effect.", stacklevel=2)
    gumbels = -native.empty_like(logits).exponential_().log()
    soft = ((logits + gumbels) / tau).softmax(dim)
    if not hard:
        return soft
    index = soft.max(dim, keepdim=True)[1]
    chosen = native.zeros_like(logits).scatter_(dim, index, 1.0)
    return chosen - soft.detach() + soft


def sigmoid(input: Tensor) -> Tensor:
    """Return `Tensor.sigmoid`; a function of Python, that programs may put attributes on.

    >>> import rushlight as torch
    >>> torch.nn.functional.sigmoid(torch.zeros(1))
    tensor([0.5000])
    """
    return input.sigmoid()


def tanh(input: Tensor) -> Tensor:
    """Return `Tensor.tanh`; a function of Python, too.

    >>> import rushlight as torch
    >>> torch.nn.functional.tanh(torch.zeros(1))
    tensor([0.])
    """
    return input.tanh()

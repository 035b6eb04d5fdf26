"""What Adam and its relations share: running means of gradients and of their sizes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor, zeros_like
from .adaptive import Adaptive, checked


def advance(parameter: Tensor, mean: Tensor, spread: Tensor, length: Any) -> None:
    """Take a step of `length` along `mean / spread`; a length that is a tensor has a gradient."""
    if isinstance(length, Tensor):
        parameter.sub_(length * mean / spread)
    else:
        parameter.addcdiv_(mean, spread, value=-length)


class Moments(Adaptive):
    """An optimiser that keeps a running mean of gradients, and one of their sizes under the name `second`."""

    second = "exp_avg_sq"

    def __init__(self, params: Iterable[Any], **options: Any) -> None:
        self._check(options)
        super().__init__(params, options)

    def _check(self, options: dict[str, Any]) -> None:
        """Refuse options that make no sense."""
        checked(lr=options["lr"], eps=options["eps"])
        for index in range(2):
            beta = options["betas"][index]
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        checked(weight_decay=options["weight_decay"])

    def _begin(self, parameter: Tensor, group: dict[str, Any], state: dict[str, Any]) -> None:
        state["exp_avg"] = zeros_like(parameter)
        state[self.second] = zeros_like(parameter)

    def _means(self, gradient: Tensor, betas: Iterable[Any], state: dict[str, Any]) -> tuple[Tensor, Tensor]:
        """Return the running means of the gradient and of its square, moved on by this gradient."""
        first, second = betas
        mean, square = state["exp_avg"], state[self.second]
        mean.lerp_(gradient, 1 - first)
        if isinstance(second, Tensor):
            square.lerp_(gradient.square(), 1 - second)
        else:
            square.mul_(second).addcmul_(gradient, gradient, value=1 - second)
        return mean, square

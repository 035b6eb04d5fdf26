"""Adam for sparse gradients: rows that a gradient does not name stay as they are, and so do their moments."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .._rushlight import Tensor, zeros_like
from .parameterwise import Parameterwise, number

__all__ = ["SparseAdam"]


class SparseAdam(Parameterwise):
    """Adam whose moments move only where the gradient has values.

    >>> import rushlight as torch
    >>> table = torch.nn.Embedding(3, 1, sparse=True)
    >>> optimizer = torch.optim.SparseAdam(table.parameters())
    >>> table(torch.tensor([1])).sum().backward()
    >>> optimizer.step()
    """

    _instead_of_sparse = None

    def __init__(
        self,
        params: Iterable[Any],
        lr: float | Tensor = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        maximize: bool = False,
    ) -> None:
        if isinstance(lr, Tensor) and lr.numel() != 1:
            raise ValueError("Tensor lr must be 1-element")
        if not 0.0 < lr:  # noqa: SIM300 (errors show the order)
            raise ValueError(f"Invalid learning rate: {lr}")
        if not 0.0 < eps:  # noqa: SIM300 (errors show the order)
            raise ValueError(f"Invalid epsilon value: {eps}")
        for index in range(2):
            beta = betas[index]
            if not 0.0 <= beta < 1.0:
                raise ValueError(f"Invalid beta parameter at index {index}: {beta}")
        super().__init__(params, {"lr": lr, "betas": betas, "eps": eps, "maximize": maximize})
        sparse = [
            [place, inner]
            for place, group in enumerate(self.param_groups)
            for inner, parameter in enumerate(group["params"])
            if parameter.is_sparse
        ]
        if sparse:
            raise ValueError(
                f"Sparse params at indices {sparse}: SparseAdam requires dense parameter tensors"
            )

    def _update(self, parameter: Tensor, gradient: Tensor, group: dict[str, Any]) -> None:
        if not gradient.is_sparse:
            raise RuntimeError("SparseAdam does not support dense gradients, please consider Adam instead")
        state = self.state[parameter]
        if not state:
            state["step"] = 0
            state["exp_avg"], state["exp_avg_sq"] = zeros_like(parameter), zeros_like(parameter)
        state["step"] += 1
        gradient = gradient.coalesce()
        values, places = gradient.values(), tuple(gradient.indices())
        if not len(values):
            return
        first, second = group["betas"]
        change = values.sub(state["exp_avg"][places]).mul(1 - first)
        change_of_squares = values.square().sub(state["exp_avg_sq"][places]).mul(1 - second)
        mean = state["exp_avg"].index_put_(places, change, accumulate=True)[places]
        squares = state["exp_avg_sq"].index_put_(places, change_of_squares, accumulate=True)[places]
        correction = 1 - first ** state["step"], (1 - second ** state["step"]) ** 0.5
        rate = number(group["lr"]) * correction[1] / correction[0]
        steps = mean.div(squares.sqrt().add(group["eps"])).mul(-rate)
        parameter.index_put_(places, steps, accumulate=True)

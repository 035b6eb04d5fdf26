"""Models whose parameters are averages over training, and a schedule for the time of averaging."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from copy import deepcopy
from itertools import chain
from typing import Any

from .. import _rushlight as native
from .._rushlight import Tensor
from ..autograd.grad_mode import no_grad
from ..nn import Module
from ..nn.modules.normalised import _BatchNorm
from .lr_scheduler import LRScheduler
from .lr_scheduler.cycles import _each
from .optimizer import Optimizer

__all__ = [
    "SWALR",
    "AveragedModel",
    "get_ema_avg_fn",
    "get_ema_multi_avg_fn",
    "get_swa_avg_fn",
    "get_swa_multi_avg_fn",
    "update_bn",
]


def _expect_decay(decay: float) -> None:
    if not 0.0 <= decay <= 1.0:
        raise ValueError(f"Invalid decay value {decay} provided. Please provide a value in [0,1] range.")


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Tensor]:
    """Return the function that moves an average by a share of one minus `decay` to a parameter.

    >>> import rushlight as torch
    >>> average = torch.optim.swa_utils.get_ema_avg_fn(0.75)
    >>> average(torch.tensor(0.0), torch.tensor(4.0), 1)
    tensor(1.)
    """
    _expect_decay(decay)

    @no_grad()
    def ema_update(ema_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """Return `get_ema_avg_fn`'s function for lists of parameters, which writes to the averages."""
    _expect_decay(decay)

    @no_grad()
    def ema_update(ema_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], _: Any) -> None:
        for average, current in zip(ema_param_list, current_param_list, strict=True):
            if average.is_floating_point() or average.is_complex():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(average * decay + current * (1 - decay))

    return ema_update


def get_swa_avg_fn() -> Callable[..., Tensor]:
    """Return the function that makes the mean of one parameter more."""

    @no_grad()
    def swa_update(averaged_param: Tensor, current_param: Tensor, num_averaged: Any) -> Tensor:
        mean: Tensor = averaged_param + (current_param - averaged_param) / (num_averaged + 1)
        return mean

    return swa_update


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """Return `get_swa_avg_fn`'s function for lists of parameters, which writes to the averages."""

    @no_grad()
    def swa_update(
        averaged_param_list: Sequence[Tensor], current_param_list: Sequence[Tensor], num_averaged: Any
    ) -> None:
        share = 1 / (num_averaged + 1)
        for average, current in zip(averaged_param_list, current_param_list, strict=True):
            if average.dtype in (native.float32, native.float64):
                average.lerp_(current, share)
            elif average.is_floating_point() or average.is_complex():
                average.lerp_(current, share.item() if isinstance(share, Tensor) else share)
            else:
                average.copy_(average + (current - average) * share)

    return swa_update


class AveragedModel(Module):
    """A copy of a model, whose parameters become averages of those that the model has had.

    >>> import rushlight as torch
    >>> model = torch.nn.Linear(1, 1, bias=False)
    >>> average = torch.optim.swa_utils.AveragedModel(model)
    >>> for value in (1.0, 2.0, 6.0):
    ...     model.weight.data.fill_(value)
    ...     average.update_parameters(model)
    tensor([[1.]])
    tensor([[2.]])
    tensor([[6.]])
    >>> average.module.weight.item(), average.n_averaged
    (3.0, tensor(3))
    """

    n_averaged: Tensor

    def __init__(
        self,
        model: Module,
        device: Any = None,
        avg_fn: Callable[..., Tensor] | None = None,
        multi_avg_fn: Callable[..., None] | None = None,
        use_buffers: bool = False,
    ) -> None:
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("Only one of avg_fn and multi_avg_fn should be provided")
        self.module = deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", native.tensor(0, dtype=native.int64, device=device))
        self.avg_fn = avg_fn
        self.multi_avg_fn = multi_avg_fn
        self.use_buffers = use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Call the copy."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take what the parameters of the model are now into the averages."""

        def averaged(one: Module) -> list[Tensor]:
            found: Iterable[Tensor] = one.parameters()
            if self.use_buffers:
                found = chain(found, one.buffers())
            return [tensor.detach() for tensor in found]

        averages, current = averaged(self.module), averaged(model)
        if self.n_averaged == 0:
            for average, now in zip(averages, current, strict=False):
                average.copy_(now)
        elif self.avg_fn is None:
            self._average_together(averages, current)
        else:
            for average, now in zip(averages, current, strict=True):
                average.copy_(self.avg_fn(average, now, self.n_averaged))
        if not self.use_buffers:
            for average, now in zip(self.module.buffers(), model.buffers(), strict=True):
                average.detach().copy_(now.detach())
        self.n_averaged += 1

    def _average_together(self, averages: list[Tensor], current: list[Tensor]) -> None:
        """Give those of one type at a time to the function for lists."""
        average_all = self.multi_avg_fn or get_swa_multi_avg_fn()
        groups: dict[Any, list[tuple[Tensor, Tensor]]] = {}
        for average, now in zip(averages, current, strict=True):
            groups.setdefault(average.dtype, []).append((average, now))
        for group in groups.values():
            average_all(*map(list, zip(*group, strict=True)), self.n_averaged)


@no_grad()
def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute anew, from data, what the layers of batch normalisation know of their inputs."""
    momenta = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    was_training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    for batch in loader:
        data = batch[0] if isinstance(batch, (list, tuple)) else batch
        model(data if device is None else data.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(was_training)


class SWALR(LRScheduler):
    """Goes to a constant rate in some epochs, and stays there.

    >>> import rushlight as torch
    >>> optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    >>> schedule = torch.optim.swa_utils.SWALR(optimizer, 0.5, anneal_epochs=2, anneal_strategy="linear")
    >>> for _ in range(3):
    ...     optimizer.step()
    ...     schedule.step()
    ...     print(schedule.get_last_lr())
    [0.75]
    [0.5]
    [0.5]
    """

    def __init__(
        self,
        optimizer: Optimizer,
        swa_lr: float | Sequence[float],
        anneal_epochs: int = 10,
        anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:
        for group, rate in zip(optimizer.param_groups, _each("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = rate
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}"
            )
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        self._anneal_strategy = anneal_strategy
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """Return how much of the constant rate there is after some steps."""
        done = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return done if self._anneal_strategy == "linear" else (1 - math.cos(math.pi * done)) / 2

    def get_lr(self) -> list[Any]:
        """Return the rates of the groups for the step that has just begun."""
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        rates = []
        for group in self.optimizer.param_groups:
            constant, rate = group["swa_lr"], group["lr"]
            first = constant if before == 1 else (rate - before * constant) / (1 - before)
            rates.append(constant * now + first * (1 - now))
        return rates

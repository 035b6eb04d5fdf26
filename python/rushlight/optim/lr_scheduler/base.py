"""What schedulers share: they count epochs, and set the rates of an optimiser's groups."""

from __future__ import annotations

import warnings
from typing import Any

from ..._rushlight import Tensor
from ..optimizer import Optimizer

_ORDER = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`. In PyTorch 1.1.0 and later, you "
    "should call them in the opposite order: `optimizer.step()` before `lr_scheduler.step()`.  Failure to "
    "do this will result in PyTorch skipping the first value of the learning rate schedule. See more "
    "details at https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
_OVERRIDDEN = (
    "Seems like `optimizer.step()` has been overridden after learning rate scheduler initialization. Please, "
    "make sure to call `optimizer.step()` before `lr_scheduler.step()`. See more details at "
    "https://pytorch.org/docs/stable/optim.html#how-to-adjust-learning-rate"
)
EPOCH = (
    "The epoch parameter in `scheduler.step()` was not necessary and is being deprecated where possible. "
    "Please use `scheduler.step()` to step the scheduler. During the deprecation, if epoch is different "
    "from None, the closed form is used instead of the new chainable form, where available. Please open an "
    "issue if you are unable to replicate your use case: "
    "https://github.com/pytorch/pytorch/issues/new/choose."
)
_RESUMING = (
    "param 'initial_lr' is not specified in param_groups[{}] when resuming scheduler with last_epoch >= 0.\n"
    "This typically happens when:\n1. You're trying to resume training from a checkpoint but haven't "
    "properly loaded the optimizer state\n2. You're using last_epoch >= 0 for a fresh training run (not "
    "recommended)"
)


def _follow(optimizer: Any) -> None:
    """Have an optimiser remember which step it has, and whether it took one."""
    optimizer._make_hooks()  # Of a wrapper of optimisers, `__init__` has not run.
    optimizer._followed_step = vars(optimizer).get("step")
    if not hasattr(optimizer, "_opt_called"):
        optimizer._opt_called = False
        optimizer.register_step_post_hook(_note_step)


def _note_step(optimizer: Any, *_: Any) -> None:
    optimizer._opt_called = True


def _check_order(optimizer: Any) -> None:
    """Warn if an optimiser has taken no step before its scheduler, or if it cannot be known."""
    if vars(optimizer).get("step") is not getattr(optimizer, "_followed_step", None):
        warnings.warn(_OVERRIDDEN, UserWarning, stacklevel=3)
    elif not getattr(optimizer, "_opt_called", False):
        warnings.warn(_ORDER, UserWarning, stacklevel=3)


class LRScheduler:
    """Base class: a subclass says in `get_lr` what the rates of the groups become."""

    # Schedulers of others ask in `get_lr` whether an epoch begins, and whether it is the first.
    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(f"{type(optimizer).__name__} is not an Optimizer")
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                rate = group["lr"]
                group.setdefault("initial_lr", rate.clone() if isinstance(rate, Tensor) else rate)
            elif "initial_lr" not in group:
                raise KeyError(_RESUMING.format(number))
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        self._step_count = 0
        self._is_initial = True
        _follow(optimizer)
        self.step()
        self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Return everything but the optimiser."""
        return {name: value for name, value in self.__dict__.items() if name != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` returned."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """Return the rates of the groups since the last step."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """Return the rates of the groups for `last_epoch`, which has just begun."""
        raise NotImplementedError

    def step(self, epoch: int | None = None) -> None:
        """Begin the next epoch."""
        if self._step_count == 1:
            _check_order(self.optimizer)
        self._step_count += 1
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                self._apply(self.get_lr())
            else:
                warnings.warn(EPOCH, UserWarning, stacklevel=2)
                self._jump(epoch)
        finally:
            self._get_lr_called_within_step = False

    def _jump(self, epoch: int) -> None:
        """Go to an epoch, whatever was before."""
        self.last_epoch = epoch
        closed: Any = getattr(self, "_get_closed_form_lr", self.get_lr)
        self._apply(closed())

    def _apply(self, rates: list[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            set_rate(group, rate)
        self._last_lr = self._rates()

    def _rates(self) -> list[Any]:
        rates = (group["lr"] for group in self.optimizer.param_groups)
        return [rate.clone() if isinstance(rate, Tensor) else rate for rate in rates]

    def _times(self, factor: float) -> list[Any]:
        return [group["lr"] * factor for group in self.optimizer.param_groups]


def set_rate(group: dict[str, Any], rate: Any) -> None:
    """Give a group this rate, in the tensor that holds it if one does."""
    if isinstance(group["lr"], Tensor):
        group["lr"].fill_(rate)
    else:
        group["lr"] = rate

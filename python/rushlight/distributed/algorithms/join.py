"""`Join`: processes of unequal numbers of inputs; who has none left goes along with the others."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, NamedTuple

from ..._rushlight import ones, zeros

if TYPE_CHECKING:
    from types import TracebackType

    from .._process_group import ProcessGroup
    from .._work import Work

__all__ = ["Join", "JoinHook", "Joinable"]

_MANY = 1000


class JoinHook:
    """What something does while others have inputs left, and when nobody has."""

    def main_hook(self) -> None:
        """Go along with one step of the others."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """End, when all have."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


class Joinable(ABC):
    """Something whose steps processes do together."""

    @abstractmethod
    def __init__(self) -> None:
        super().__init__()
        self._join_config = _JoinConfig(False, False, False)

    @abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """Return what it does while others have inputs left."""

    @property
    @abstractmethod
    def join_device(self) -> Any:
        """The device of its tensors."""

    @property
    @abstractmethod
    def join_process_group(self) -> ProcessGroup:
        """The processes."""


class Join:
    """A block in which processes do unequal numbers of steps."""

    def __init__(
        self,
        joinables: list[Joinable],
        enable: bool = True,
        throw_on_early_termination: bool = False,
        **kwargs: Any,
    ) -> None:
        if len(joinables) == 0:
            raise ValueError("The join context manager requires at least one joinable")
        self._joinables = joinables
        self._hooks = [one.join_hook(**kwargs) for one in joinables]
        self._enable = enable
        self._throws = throw_on_early_termination
        for place, one in enumerate(joinables):
            one._join_config = _JoinConfig(enable, throw_on_early_termination, place == 0)
        self._group = joinables[0].join_process_group
        if any(one.join_process_group is not self._group for one in joinables):
            raise ValueError("Using join context manager with multiple process groups")

    def __enter__(self) -> None:
        pass

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if not self._enable or kind is not None:
            return
        steps, is_last = 0, True
        while self._count_others():
            if self._throws:
                self._group.allreduce([ones(1)]).wait()
                raise RuntimeError(f"Rank {self._group.rank()} exhausted all inputs.")
            if steps == _MANY + 1:
                warnings.warn(
                    f"Detected uneven input skew of greater than {_MANY}. This means that rank "
                    f"{self._group.rank()} has at least {_MANY} fewer inputs than other currently-active "
                    "ranks. This level of skew could lead to performance degradation during training.",
                    stacklevel=2,
                )
            for hook in self._hooks:
                hook.main_hook()
            steps, is_last = steps + 1, False
        for hook in self._hooks:
            hook.post_hook(is_last)
        for one in self._joinables:
            one._join_config = _JoinConfig(False, False, False)

    def _count_others(self) -> int:
        """Return how many processes have begun another step."""
        count = zeros(1)
        self._group.allreduce([count]).wait()
        return int(count.item())

    @staticmethod
    def notify_join_context(joinable: Joinable) -> Work | None:
        """Tell those who have no inputs left that a step begins."""
        if not hasattr(joinable, "_join_config"):
            raise AssertionError(
                f"Check that the {type(joinable)} constructor calls the ``Joinable`` constructor"
            )
        config = joinable._join_config
        if not config.is_first_joinable or not config.enable:
            return None
        group = joinable.join_process_group
        work = group.allreduce([ones(1)])
        if config.throw_on_early_termination:
            ended = zeros(1)
            group.allreduce([ended]).wait()
            if ended.item():
                raise RuntimeError(
                    "Detected at least one rank that exhausted inputs. Throwing across all ranks."
                )
        return work

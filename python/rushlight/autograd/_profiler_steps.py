"""The step that a program is at, of those who count steps: the furthest of them."""

from __future__ import annotations

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from typing import ClassVar


class KinetoStepTracker:
    """Counts steps for several who count them, each by a name.

    >>> from rushlight.autograd.profiler import KinetoStepTracker
    >>> KinetoStepTracker.init_step_count("mine")
    >>> KinetoStepTracker.increment_step("mine") == KinetoStepTracker.current_step()
    True
    >>> KinetoStepTracker.erase_step_count("mine")
    True
    """

    _current_step = 0
    _steps: ClassVar[dict[str, int]] = {}

    @classmethod
    def init_step_count(cls, requester: str) -> None:
        """Begin to count for somebody, from the current step on."""
        cls._steps[requester] = cls._current_step

    @classmethod
    def erase_step_count(cls, requester: str) -> bool:
        """Forget what was counted for somebody; tell whether it was known."""
        return cls._steps.pop(requester, None) is not None

    @classmethod
    def increment_step(cls, requester: str) -> int:
        """Count a step for somebody and return the current one: the furthest of all."""
        if requester not in cls._steps:
            cls.init_step_count(requester)
        cls._steps[requester] += 1
        cls._current_step = max(cls._current_step, *cls._steps.values())
        return cls._current_step

    @classmethod
    def current_step(cls) -> int:
        """Return the current step."""
        return cls._current_step


# It prints as it does in torch.
KinetoStepTracker.__module__ = "rushlight.autograd.profiler"

"""How long a statement takes."""

from .timer import Measurement, Timer, timer

__all__ = ["Measurement", "Timer", "timer"]

"""Mixed precision on the CPU by the names that it once had; `rushlight.amp` has today's."""

from .autocast_mode import autocast
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast"]

"""Automatic mixed precision: what is quick in a half type is computed in one, the rest as it was.

>>> import rushlight as torch
>>> with torch.amp.autocast("cpu", dtype=torch.bfloat16):
...     (torch.ones(2, 2) @ torch.ones(2, 2)).dtype
torch.bfloat16
"""

from ._state import is_autocast_available
from .autocast_mode import autocast, custom_bwd, custom_fwd
from .grad_scaler import GradScaler

__all__ = ["GradScaler", "autocast", "custom_bwd", "custom_fwd", "is_autocast_available"]

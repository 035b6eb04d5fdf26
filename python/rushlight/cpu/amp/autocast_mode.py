"""`autocast` for the CPU, as it was once called."""

from ..._rushlight import bfloat16
from ...amp._former import FormerAutocast

__all__ = ["autocast"]


class autocast(FormerAutocast):
    """`amp.autocast("cpu", …)`."""

    _kind = "cpu"
    _half = bfloat16

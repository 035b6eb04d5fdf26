"""`GradScaler` for the CPU, as it was once called."""

from ...amp._former import FormerGradScaler
from ...amp.grad_scaler import OptState

__all__ = ["GradScaler", "OptState"]


class GradScaler(FormerGradScaler):
    """`amp.GradScaler("cpu", …)`."""

    _kind = "cpu"

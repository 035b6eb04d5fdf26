"""`GradScaler` for CUDA, as it was once called."""

from ...amp._former import FormerGradScaler
from ...amp.grad_scaler import OptState

__all__ = ["GradScaler", "OptState"]


class GradScaler(FormerGradScaler):
    """`amp.GradScaler("cuda", …)`."""

    _kind = "cuda"

"""Optimisers whose state processes share out among them."""

from ..._lazy import on_first_use

__all__ = ["ZeroRedundancyOptimizer"]

__getattr__, __dir__ = on_first_use(
    globals(),
    rooms={"zero_redundancy_optimizer"},
    places={".zero_redundancy_optimizer": "ZeroRedundancyOptimizer"},
)

"""Which kinds of devices the compiler behind torch's compiler knows beside the processor."""

__all__ = ["GPU_TYPES"]

GPU_TYPES = ["cuda", "mps", "xpu", "mtia"]

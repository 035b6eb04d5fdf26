"""Models on several devices: there is one, so that models run as they are."""

from .data_parallel import DataParallel

__all__ = ["DataParallel"]

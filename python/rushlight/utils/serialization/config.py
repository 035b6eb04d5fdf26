"""Settings of `save` and `load`.

>>> import rushlight as torch
>>> torch.utils.serialization.config.save.storage_alignment
64
"""

from ..._files.options import load, save

__all__ = ["load", "save"]

"""Libraries beneath, as programs ask for them and set them: what is not there says so, and ignores settings.

>>> import rushlight as torch
>>> torch.backends.cudnn.benchmark = False
>>> torch.backends.cudnn.is_available(), torch.backends.mps.is_available()
(False, False)
"""

from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp

__all__ = ["cpu", "cuda", "cudnn", "mha", "mkl", "mkldnn", "mps", "openmp"]

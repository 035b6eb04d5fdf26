"""Libraries beneath, as programs ask for them and set them: what is not there says so, and ignores settings.

>>> import rushlight as torch
>>> torch.backends.cudnn.benchmark = False
>>> torch.backends.cudnn.is_available(), torch.backends.mps.is_available()
(False, False)
"""

from .._lazy import on_first_use
from .._module_aliases import add_module_aliases
from . import cpu, cuda, cudnn, mha, mkl, mkldnn, mps, openmp

__all__ = [
    "cpu",
    "cuda",
    "cudnn",
    "disable_global_flags",
    "flags_frozen",
    "mha",
    "mkl",
    "mkldnn",
    "mps",
    "openmp",
]

_UNUSED = ("cusparselt", "kleidiai", "miopen", "nnpack", "xeon", "xnnpack")

__getattr__, __dir__ = on_first_use(globals(), rooms=("opt_einsum", "python_native", "quantized"))
add_module_aliases(globals(), {name: {"._unused": "is_available enabled"} for name in _UNUSED})

fp32_precision = "none"
_are_frozen = False


def disable_global_flags() -> None:
    """Say that settings are no longer meant for everything, but for blocks. None changes what is computed."""
    global _are_frozen
    _are_frozen = True


def flags_frozen() -> bool:
    """Tell whether that was said."""
    return _are_frozen

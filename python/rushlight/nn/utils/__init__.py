"""Gradients clipped, parameters as one vector, and modules called with parameters of others."""

from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases
from . import parametrize, rnn, stateless
from .gradients import (
    clip_grad_norm,
    clip_grad_norm_,
    clip_grad_value_,
    clip_grads_with_norm_,
    get_total_norm,
)
from .init import skip_init
from .spectral_norm import remove_spectral_norm, spectral_norm
from .vectors import parameters_to_vector, vector_to_parameters
from .weight_norm import remove_weight_norm, weight_norm

TYPE_CHECKING = False  # `typing` would be loaded for it.
if TYPE_CHECKING:
    from . import fusion as fusion
    from . import memory_format as memory_format
    from . import parametrizations as parametrizations
    from . import prune as prune
    from .fusion import fuse_conv_bn_eval as fuse_conv_bn_eval
    from .fusion import fuse_conv_bn_weights as fuse_conv_bn_weights
    from .fusion import fuse_linear_bn_eval as fuse_linear_bn_eval
    from .fusion import fuse_linear_bn_weights as fuse_linear_bn_weights
    from .memory_format import convert_conv2d_weight_memory_format as convert_conv2d_weight_memory_format
    from .memory_format import convert_conv3d_weight_memory_format as convert_conv3d_weight_memory_format

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
    "convert_conv2d_weight_memory_format",
    "convert_conv3d_weight_memory_format",
    "fuse_conv_bn_eval",
    "fuse_conv_bn_weights",
    "fuse_linear_bn_eval",
    "fuse_linear_bn_weights",
    "get_total_norm",
    "parameters_to_vector",
    "parametrizations",
    "parametrize",
    "remove_spectral_norm",
    "remove_weight_norm",
    "rnn",
    "skip_init",
    "spectral_norm",
    "stateless",
    "vector_to_parameters",
    "weight_norm",
]

add_module_aliases(
    globals(),
    {
        "clip_grad": {
            ".gradients": "clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ "
            "get_total_norm"
        },
        "convert_parameters": {".vectors": "parameters_to_vector vector_to_parameters"},
    },
)
__getattr__, __dir__ = on_first_use(
    globals(),
    rooms={"fusion", "memory_format", "parametrizations", "prune"},
    places={
        ".fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval fuse_linear_bn_weights",
        ".memory_format": "convert_conv2d_weight_memory_format convert_conv3d_weight_memory_format",
    },
)

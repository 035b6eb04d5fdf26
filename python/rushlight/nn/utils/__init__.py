"""Gradients clipped, parameters as one vector, and modules called with parameters of others."""

from ..._lazy import on_first_use
from ..._places import open_places
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
    from . import parametrizations as parametrizations
    from . import prune as prune

__all__ = [
    "clip_grad_norm",
    "clip_grad_norm_",
    "clip_grad_value_",
    "clip_grads_with_norm_",
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

open_places(
    globals(),
    {
        "clip_grad": {
            ".gradients": "clip_grad_norm clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ "
            "get_total_norm"
        },
        "convert_parameters": {".vectors": "parameters_to_vector vector_to_parameters"},
    },
)
__getattr__, __dir__ = on_first_use(globals(), rooms={"parametrizations", "prune"})

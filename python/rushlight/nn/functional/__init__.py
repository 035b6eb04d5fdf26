"""Layers and losses as functions: torch's arguments, checked in the families, computed by the engine."""

from ... import _rushlight as native
from ..._functions.distances import pdist
from ..._lazy import on_first_use
from . import (
    activations,
    attention,
    bags,
    convolutions,
    distances,
    dropouts,
    forms,
    fractional,
    grids,
    heads,
    likelihoods,
    lookups,
    margins,
    normalisation,
    paddings,
    pools,
    resampling,
    sequences,
    unpooling,
)
from .activations import *  # noqa: F403 - each family says what it has
from .attention import *  # noqa: F403
from .bags import *  # noqa: F403
from .convolutions import *  # noqa: F403
from .distances import *  # noqa: F403
from .dropouts import *  # noqa: F403
from .forms import *  # noqa: F403
from .fractional import *  # noqa: F403
from .grids import *  # noqa: F403
from .heads import *  # noqa: F403
from .likelihoods import *  # noqa: F403
from .lookups import *  # noqa: F403
from .margins import *  # noqa: F403
from .normalisation import *  # noqa: F403
from .paddings import *  # noqa: F403
from .pools import *  # noqa: F403
from .resampling import *  # noqa: F403
from .sequences import *  # noqa: F403
from .unpooling import *  # noqa: F403

__all__ = [
    *activations.__all__,
    *attention.__all__,
    *bags.__all__,
    *convolutions.__all__,
    *distances.__all__,
    *dropouts.__all__,
    *forms.__all__,
    *fractional.__all__,
    *grids.__all__,
    *heads.__all__,
    *likelihoods.__all__,
    *lookups.__all__,
    *margins.__all__,
    *normalisation.__all__,
    *paddings.__all__,
    *pools.__all__,
    *resampling.__all__,
    *sequences.__all__,
    *unpooling.__all__,
    "linear",
    "pdist",
]

linear = native._nn.linear
# What is rarely called loads on first use.
__getattr__, __dir__ = on_first_use(
    globals(),
    places={
        "...": "native_channel_shuffle",
        ".grids": "GRID_SAMPLE_INTERPOLATION_MODES GRID_SAMPLE_PADDING_MODES",
        ".heads": "_in_projection _in_projection_packed",
        ".grouped": "ScalingType SwizzleType grouped_mm scaled_grouped_mm scaled_mm",
        ".heads_with_losses": "linear_cross_entropy",
        ".masks": "_canonical_mask _none_or_dtype",
        "..modules.utils": "_list_with_default _pair _single _triple",
        "..": "grad",
        "..._compat._jit_internal": "BroadcastingList1 BroadcastingList2 BroadcastingList3 boolean_dispatch",
        "..._compat.functional_names": "_Reduction _check_key_padding_mask _get_softmax_dim "
        "_mha_shape_check _threshold _unpool_output_size _verify_batch_size _verify_spatial_size "
        "assert_int_or_pair",
        "...overrides": "handle_torch_function has_torch_function has_torch_function_unary "
        "has_torch_function_variadic",
    },
)

"""Where `rushlight.ao.nn.intrinsic` was found once."""

from .._module_aliases import stand_for

stand_for(__name__, "rushlight.ao.nn.intrinsic")

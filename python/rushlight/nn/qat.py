"""Where `rushlight.ao.nn.qat` was found once."""

from .._module_aliases import stand_for

stand_for(__name__, "rushlight.ao.nn.qat")

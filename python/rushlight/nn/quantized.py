"""Where `rushlight.ao.nn.quantized` was found once."""

from .._module_aliases import stand_for

stand_for(__name__, "rushlight.ao.nn.quantized")

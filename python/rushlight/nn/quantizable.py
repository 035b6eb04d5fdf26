"""Where `rushlight.ao.nn.quantizable` was found once."""

from .._module_aliases import stand_for

stand_for(__name__, "rushlight.ao.nn.quantizable")

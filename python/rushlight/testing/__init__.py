"""Comparing results in tests, and making what they begin with."""

from .._module_aliases import add_module_aliases
from .comparison import assert_allclose, assert_close
from .making import make_tensor

add_module_aliases(
    globals(),
    {
        "_comparison": {".comparison": "assert_allclose assert_close default_tolerances get_tolerances"},
        "_creation": {".making": "make_tensor"},
    },
)

__all__ = ["assert_allclose", "assert_close", "make_tensor"]

"""Comparing results in tests, and making what they begin with."""

from .._lazy import on_first_use
from .._module_aliases import add_module_aliases
from .comparison import assert_allclose, assert_close
from .making import make_tensor

add_module_aliases(
    globals(),
    {
        "_comparison": {
            ".comparison": "assert_allclose assert_close",
            "._mismatches": "ErrorMeta default_tolerances get_tolerances make_scalar_mismatch_msg "
            "make_tensor_mismatch_msg",
            "._pairs": "BooleanPair NonePair NumberPair ObjectPair Pair UnsupportedInputs "
            "not_close_error_metas originate_pairs",
            "._tensor_pair": "TensorLikePair",
        },
        "_creation": {".making": "make_tensor"},
    },
)

__getattr__, __dir__ = on_first_use(globals(), rooms={"_utils"}, places={"._file_check": "FileCheck"})

__all__ = ["FileCheck", "assert_allclose", "assert_close", "make_tensor"]

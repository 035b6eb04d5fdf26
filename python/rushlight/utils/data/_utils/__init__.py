"""Parts of which loaders are made, by the names under which loaders of other libraries look for them."""

import atexit
import sys

from ...._module_aliases import add_module_aliases

IS_WINDOWS = sys.platform == "win32"
HAS_NUMPY = True
MP_STATUS_CHECK_INTERVAL = 5.0  # In which worker processes are to end, or are looked for, in seconds.
python_exit_status = False


def _set_python_exit_flag() -> None:
    """Say that the interpreter ends, so that iterators do not wait for their workers any longer."""
    global python_exit_status
    python_exit_status = True


atexit.register(_set_python_exit_flag)
add_module_aliases(
    globals(),
    {
        "collate": {
            "..collate": "collate collate_float_fn collate_int_fn collate_numpy_array_fn "
            "collate_numpy_scalar_fn collate_str_fn collate_tensor_fn default_collate "
            "default_collate_err_msg_format default_collate_fn_map default_convert np_str_obj_array_pattern"
        },
        "pin_memory": {"..collate": "pin_memory"},
    },
)

from . import fetch, signal_handling, worker  # noqa: E402 - they ask for the settings above

__all__ = ["fetch", "signal_handling", "worker"]

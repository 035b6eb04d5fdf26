"""What is useful around tensors and is not about tensors."""

from __future__ import annotations

from .._lazy import on_first_use

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import _device as _device
    from . import _python_dispatch as _python_dispatch
    from . import _pytree as _pytree
    from . import benchmark as benchmark
    from . import checkpoint as checkpoint
    from . import collect_env as collect_env
    from . import cpp_extension as cpp_extension
    from . import data as data
    from . import deterministic as deterministic
    from . import dlpack as dlpack
    from . import flop_counter as flop_counter
    from . import hooks as hooks
    from . import model_zoo as model_zoo
    from . import module_tracker as module_tracker
    from . import serialization as serialization
    from . import weak as weak
    from ._swapping import swap_tensors as swap_tensors
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        rooms={
            "_device",
            "_python_dispatch",
            "_pytree",
            "_traceback",
            "_foreach_utils",
            "benchmark",
            "collect_env",
            "checkpoint",
            "cpp_extension",
            "data",
            "deterministic",
            "dlpack",
            "flop_counter",
            "hooks",
            "model_zoo",
            "module_tracker",
            "serialization",
            "weak",
        },
        places={
            "._modules": "cmake_prefix_path set_module",
            "._swapping": "swap_tensors",
        },
    )

__all__ = ["checkpoint", "data", "hooks", "swap_tensors"]

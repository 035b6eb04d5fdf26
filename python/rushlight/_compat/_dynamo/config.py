"""Settings of the compiler of torch. They are kept, and change nothing."""

from __future__ import annotations

from typing import Any

from ..._patching import patching

accumulated_cache_size_limit = 256
accumulated_recompile_limit = 256
allow_unspec_int_on_nn_module = False
assume_static_by_default = True
automatic_dynamic_shapes = True
cache_size_limit = 8
capture_dynamic_output_shape_ops = False
capture_scalar_outputs = False
compiled_autograd = False
disable = False
dynamic_shapes = True
error_on_recompile = False
force_parameter_static_shapes = True
guard_nn_modules = True
inline_inbuilt_nn_modules = True
optimize_ddp = True
raise_on_ctx_manager_usage = True
recompile_limit = 8
reorderable_logging_functions: set[Any] = set()
specialize_float = False
specialize_int = False
suppress_errors = False
verbose = False


patch = patching(globals())

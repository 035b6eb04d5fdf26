"""Settings of the compiler of gradients behind torch's compiler. They are kept, and change nothing."""

from __future__ import annotations

from ..._patching import patching

activation_memory_budget = 1.0
activation_memory_budget_runtime_estimator = "flops"
check_custom_op_aliasing = True
donated_buffer = True
enable_autograd_cache = True
fake_tensor_allow_meta = True
fake_tensor_allow_unsafe_data_ptr_access = True
fake_tensor_crossref = False
fake_tensor_prefer_device_type = None
fake_tensor_propagate_real_tensors = False
functionalize_rng_ops = False
guess_tangent_strides_as_outputs = False
recompute_views = False
treat_parameters_as_free_to_save = True
view_replay_for_aliased_outputs = True

patch = patching(globals())

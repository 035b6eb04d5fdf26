"""Settings of torch's compiler that programs read and set. They are kept, and change nothing."""

from __future__ import annotations

job_id: str | None = None
cache_key_tag = ""
force_disable_caches = False
dynamic_sources = ""
unbacked_sources = ""
dynamic_shapes = True
assume_static_by_default = True
automatic_dynamic_shapes = True
recompile_limit = 8
accumulated_recompile_limit = 256
verbose = False
capture_scalar_outputs = False
capture_dynamic_output_shape_ops = False
fail_on_recompile_limit_hit = False

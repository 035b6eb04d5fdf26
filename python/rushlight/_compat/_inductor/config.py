"""Settings of the compiler behind torch's compiler. They are kept, and change nothing."""

from __future__ import annotations

from types import SimpleNamespace

from ..._patching import patching

conv_1x1_as_mm = False
coordinate_descent_check_all_directions = False
coordinate_descent_tuning = False
epilogue_fusion = True
force_fuse_int_mm_with_mul = False
freezing = False
fx_graph_cache = True
graph_partition = True
max_autotune = False
max_autotune_gemm = False
max_autotune_gemm_backends = "ATEN,TRITON,CPP"
shape_padding = True
use_mixed_mm = False
triton = SimpleNamespace(cudagraphs=False, cudagraph_trees=True, unique_kernel_names=True)
cpp = SimpleNamespace(threads=-1, simdlen=None)

patch = patching(globals())

"""What programs tell a compiler of scripts and traces. Functions and modules run as the Python that they are.

>>> import rushlight as torch
>>> @torch.jit.script
... def double(x: torch.Tensor) -> torch.Tensor:
...     return 2 * x
>>> double(torch.ones(2))
tensor([2., 2.])

Scripts cannot be written to files or read from them, since there is no language but Python to write them in;
`save` and `load` say so. Save what `state_dict` gives.
"""

from __future__ import annotations

from .._compat._jit_internal import (
    Final as Final,
)
from .._compat._jit_internal import (
    Future,
    annotate,
    export,
    ignore,
    unused,
)
from .._compat._jit_internal import (
    _drop as _drop,
)
from .._compat._jit_internal import (
    _overload as _overload,
)
from .._compat._jit_internal import (
    _overload_method as _overload_method,
)
from .._compat._jit_internal import (
    is_scripting as is_scripting,
)
from .._compat._jit_internal import (
    is_tracing as is_tracing,
)
from .._module_aliases import add_module_aliases
from ._isinstance import isinstance
from ._scripts import (
    Attribute,
    CompilationUnit,
    Error,
    ScriptFunction,
    ScriptModule,
    freeze,
    interface,
    optimize_for_inference,
    script,
    script_if_tracing,
)
from ._scripts import (
    RecursiveScriptClass as RecursiveScriptClass,
)
from ._scripts import (
    RecursiveScriptModule as RecursiveScriptModule,
)
from ._scripts import (
    ScriptWarning as ScriptWarning,
)
from ._scripts import (
    run_frozen_optimizations as run_frozen_optimizations,
)
from ._scripts import (
    script_method as script_method,
)
from ._settings import (
    enable_onednn_fusion,
    export_opnames,
    onednn_fusion_enabled,
    set_fusion_strategy,
    strict_fusion,
)
from ._settings import (
    last_executed_optimized_graph as last_executed_optimized_graph,
)
from ._settings import (
    optimized_execution as optimized_execution,
)
from ._storing import (
    jit_module_from_flatbuffer as jit_module_from_flatbuffer,
)
from ._storing import (
    load,
    save,
)
from ._storing import (
    save_jit_module_to_flatbuffer as save_jit_module_to_flatbuffer,
)
from ._tasks import fork, wait
from ._traces import (
    ONNXTracedModule as ONNXTracedModule,
)
from ._traces import (
    TopLevelTracedModule as TopLevelTracedModule,
)
from ._traces import (
    TracedModule as TracedModule,
)
from ._traces import (
    TracerWarning as TracerWarning,
)
from ._traces import (
    TracingCheckError as TracingCheckError,
)
from ._traces import (
    _flatten as _flatten,
)
from ._traces import (
    _get_trace_graph as _get_trace_graph,
)
from ._traces import (
    _unique_state_dict as _unique_state_dict,
)
from ._traces import (
    trace,
    trace_module,
)

_fork, _wait, _script_if_tracing = fork, wait, script_if_tracing

__all__ = [
    "Attribute",
    "CompilationUnit",
    "Error",
    "Future",
    "ScriptFunction",
    "ScriptModule",
    "annotate",
    "enable_onednn_fusion",
    "export",
    "export_opnames",
    "fork",
    "freeze",
    "ignore",
    "interface",
    "isinstance",
    "load",
    "onednn_fusion_enabled",
    "optimize_for_inference",
    "save",
    "script",
    "script_if_tracing",
    "set_fusion_strategy",
    "strict_fusion",
    "trace",
    "trace_module",
    "unused",
    "wait",
]

add_module_aliases(
    globals(),
    {
        "_script": {
            "._scripts": "Attribute CompilationUnit RecursiveScriptClass RecursiveScriptModule "
            "ScriptFunction ScriptModule ScriptWarning interface script script_method"
        },
        "_trace": {
            "._traces": "_get_trace_graph ONNXTracedModule TopLevelTracedModule TracedModule TracerWarning "
            "TracingCheckError _flatten _unique_state_dict trace trace_module",
            ".._compat._jit_internal": "is_tracing",
        },
        "_freeze": {"._scripts": "freeze optimize_for_inference run_frozen_optimizations"},
        "_serialization": {"._storing": "load save"},
        "mobile": {"._storing": "_load_for_lite_interpreter=load"},
        "_async": {"._tasks": "fork wait"},
        "_state": {"._settings": "_clear_class_state _enabled disable enable"},
        "_recursive": {"._scripts": "ConcreteTypeStore concrete_type_store"},
    },
)

del annotations  # The feature of Python that has the name of a module.
from . import annotations as annotations  # type: ignore[assignment]  # noqa: E402

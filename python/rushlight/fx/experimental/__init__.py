"""Graphs made otherwise than by tracing."""

from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases

__all__ = ["proxy_tensor"]

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import proxy_tensor as proxy_tensor
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        rooms={
            "_config",
            "const_fold",
            "graph_gradual_typechecker",
            "proxy_tensor",
            "rewriter",
            "unification",
            "unify_refinements",
        },
    )

add_module_aliases(globals(), {"refinement_types": {".unification": "Equality"}})

"""Graphs made otherwise than by tracing."""

from ..._lazy import on_first_use

__all__ = ["proxy_tensor"]

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import proxy_tensor as proxy_tensor
else:
    __getattr__, __dir__ = on_first_use(
        globals(), rooms={"_config", "const_fold", "proxy_tensor", "rewriter"}
    )

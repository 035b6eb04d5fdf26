"""What is done with graphs."""

from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases

__all__ = ["shape_prop", "split_module", "tools_common"]

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import shape_prop as shape_prop
    from . import split_module as split_module
    from . import tools_common as tools_common
else:
    __getattr__, __dir__ = on_first_use(
        globals(),
        rooms={"cse", "infra", "operator_support", "shape_prop", "split_module", "tools_common", "utils"},
    )

add_module_aliases(globals(), {"dialect": {}})
add_module_aliases(vars(globals()["dialect"]), {"common": {}})
add_module_aliases(
    vars(vars(globals()["dialect"])["common"]), {"cse_pass": {".cse": "CSEPass get_CSE_banned_ops"}}
)

"""What is done with graphs."""

from ..._lazy import on_first_use

__all__ = ["shape_prop", "tools_common"]

TYPE_CHECKING = False  # `typing`, which has it too, is slow to import.
if TYPE_CHECKING:
    from . import shape_prop as shape_prop
    from . import tools_common as tools_common
else:
    __getattr__, __dir__ = on_first_use(globals(), rooms={"shape_prop", "tools_common"})

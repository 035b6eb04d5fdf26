"""Layers that train as if their numbers were few: none can be made."""

from ..._module_aliases import add_module_aliases
from ._absent import absent

absent(globals(), "Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear")
add_module_aliases(
    globals(),
    {
        "modules": {".qat": "Conv1d Conv2d Conv3d Embedding EmbeddingBag Linear"},
        "dynamic": {".qat": "Linear"},
    },
)

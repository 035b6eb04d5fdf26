"""Where programs that look inside of `library` find its parts."""

from ..._lazy import on_first_use
from ..._module_aliases import add_module_aliases

__all__: list[str] = []

add_module_aliases(
    globals(),
    {
        "custom_ops": {"...library": "CustomOpDef custom_op"},
        "infer_schema": {
            "...library": "infer_schema",
            ".supported_types": "SUPPORTED_PARAM_TYPES SUPPORTED_RETURN_TYPES",
        },
        "fake_impl": {"...library": "get_ctx"},
    },
)

__getattr__, __dir__ = on_first_use(globals(), rooms=("utils",))

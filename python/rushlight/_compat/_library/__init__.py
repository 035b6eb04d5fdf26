"""Where programs that look inside of `library` find its parts."""

from ..._module_aliases import add_module_aliases

__all__: list[str] = []

add_module_aliases(
    globals(),
    {
        "custom_ops": {"...library": "CustomOpDef custom_op"},
        "infer_schema": {"...library": "infer_schema"},
        "fake_impl": {"...library": "get_ctx"},
    },
)

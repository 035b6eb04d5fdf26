"""Where programs find operators of their own, by the name that was before `library`."""

from ..._module_aliases import add_module_aliases

add_module_aliases(
    globals(),
    {
        "impl": {
            "...library": "custom_op get_ctx infer_schema CustomOp=CustomOpDef",
            "...library.operator": "get_op=find global_registry=_KNOWN",
            ".._custom_ops": "RESERVED_NS SUPPORTED_DEVICE_TYPE_TO_KEY",
        }
    },
)

"""Where programs that look inside of `nested` find its parts."""

from ..._module_aliases import add_module_aliases

__all__: list[str] = []

add_module_aliases(
    globals(),
    {
        "nested_tensor": {
            ".._tensor": "NestedTensor _rebuild_njt=_rebuilt",
            "._jagged": "buffer_from_jagged jagged_from_list jagged_from_tensor_and_lengths "
            "nested_from_padded nested_view_from_values_offsets nested_view_from_values_offsets_lengths",
        },
        "ops": {"._jagged": "extract_kwargs"},
    },
)

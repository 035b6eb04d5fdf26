"""Switches of attention by the names that programs for other devices use."""

import pytest
import rushlight as torch
from rushlight.backends import cuda, mha
from rushlight.nn import common_types
from support import raises

SWITCHES = ["flash", "math", "mem_efficient", "cudnn"]


@pytest.mark.parametrize("name", SWITCHES)
def test_a_way_is_allowed_until_it_is_forbidden(name):
    is_enabled = getattr(cuda, f"{name}_sdp_enabled")
    assert is_enabled()
    getattr(cuda, f"enable_{name}_sdp")(False)
    try:
        assert not is_enabled()
        assert all(getattr(cuda, f"{other}_sdp_enabled")() for other in SWITCHES if other != name)
    finally:
        getattr(cuda, f"enable_{name}_sdp")(True)
    assert is_enabled()


def test_attention_is_computed_in_the_way_that_is_left():
    x = torch.randn(1, 2, 4, 8, requires_grad=True)
    attend = torch.nn.functional.scaled_dot_product_attention
    wanted = attend(x, x, x)
    with (
        pytest.warns(FutureWarning, match=r"sdp_kernel\(\)` is deprecated"),
        cuda.sdp_kernel(enable_flash=False),
    ):
        assert not cuda.flash_sdp_enabled() and cuda.math_sdp_enabled()
        torch.testing.assert_close(attend(x, x, x), wanted)
    with (
        pytest.warns(FutureWarning),
        cuda.sdp_kernel(enable_flash=False, enable_math=False, enable_mem_efficient=False),
        raises(
            RuntimeError,
            "No viable backend for scaled_dot_product_attention was found. "
            "This is likely due to turning off both the math kernel and the fused kernels.",
        ),
    ):
        attend(x, x, x)
    assert cuda.flash_sdp_enabled()


def test_no_kernel_of_another_device_is_there():
    assert not cuda.is_flash_attention_available() and not cuda.is_ck_sdpa_available()


def test_the_faster_way_through_encoders_can_be_forbidden():
    assert mha.get_fastpath_enabled()
    mha.set_fastpath_enabled(False)
    try:
        assert not mha.get_fastpath_enabled()
    finally:
        mha.set_fastpath_enabled(True)


def test_hints_of_sizes_are_there():
    assert common_types._size_2_t == int | tuple[int, int]
    assert common_types._size_any_t == int | tuple[int, ...]
    assert common_types._scalar_or_tuple_2_t[float] == common_types._ratio_2_t
    assert common_types._maybe_indices_t == torch.Tensor | tuple[torch.Tensor, torch.Tensor]

"""What libraries ask of torch's compiled module: how it was built, and how it is set."""

import pytest
import rushlight as torch
from support import raises, run_script


def test_the_former_order_in_memory_has_a_name():
    assert torch.legacy_contiguous_format is torch.contiguous_format
    assert torch.zeros(2, 2).clone(memory_format=torch.legacy_contiguous_format).is_contiguous()


@pytest.mark.parametrize("name", ["_has_mps", "_has_xpu", "_has_kleidiai", "_has_eigen_sparse"])
def test_other_devices_and_libraries_were_not_built_in(name):
    assert getattr(torch._C, name) is False


def test_settings_are_those_of_the_modules_that_have_them():
    before = torch._C._get_cudnn_benchmark()
    try:
        torch._C._set_cudnn_benchmark(True)
        assert torch.backends.cudnn.benchmark is True
        torch.backends.cudnn.benchmark = False
        assert torch._C._get_cudnn_benchmark() is False
    finally:
        torch.backends.cudnn.benchmark = before
    assert torch._C._get_deterministic_algorithms() is False
    assert torch._C._get_float32_matmul_precision() == "highest"
    assert torch._C._get_qengine() == 4
    assert torch._C._supported_qengines() == [2, 3, 4, 1]


def test_ways_of_attention_are_allowed_by_both_names():
    torch._C._set_sdp_use_math(False)
    try:
        assert torch.backends.cuda.math_sdp_enabled() is False
        assert torch._C._get_math_sdp_enabled() is False
    finally:
        torch._C._set_sdp_use_math(True)
    assert torch._C._get_flash_sdp_enabled() is True


def test_mixed_precision_can_be_left_for_a_block():
    assert torch._C._is_any_autocast_enabled() is False
    with torch.autocast("cpu"):
        assert torch._C._is_any_autocast_enabled() is True
        with torch._C._DisableAutocast():
            assert torch._C._is_any_autocast_enabled() is False
            assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.float32
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype is torch.bfloat16
    assert "privateuseone" in torch._C._autocast_supported_devices()


def test_objects_have_the_names_of_the_package():
    assert torch._C.default_generator is torch.default_generator
    assert torch._C.Stream is torch.Stream
    assert torch._C.get_default_dtype() is torch.float32
    assert torch._C.FileCheck is torch.testing.FileCheck


def test_steps_of_a_mapping_can_be_replaced():
    # As the library of dictionaries of tensors does, which maps those as one.
    program = """
import rushlight as torch
from support import raises, run_script
from rushlight._functorch import vmap as steps

own = {name: getattr(steps, name) for name in ("_create_batched_inputs", "_unwrap_batched")}
seen = []

def create(dims, leaves, level, spec):
    seen.append((dims, len(leaves)))
    return own["_create_batched_inputs"](dims, leaves, level, spec)

def unwrap(outputs, out_dims, level, size, func):
    seen.append((out_dims, size))
    return own["_unwrap_batched"](outputs, out_dims, level, size, func)

steps._create_batched_inputs, steps._unwrap_batched = create, unwrap
print(torch.vmap(torch.dot)(torch.eye(2), torch.ones(2, 2)), seen)
"""
    assert run_script(program) == "tensor([1., 1.]) [([0, 0], 2), (0, 2)]\n"


def test_functions_by_their_inner_names_are_operators_too():
    functions = torch._C._VariableFunctions
    assert functions.add is torch.add
    assert functions._linalg_det(torch.eye(2))[0].item() == 1.0
    assert not hasattr(functions, "no_such_function")


def test_the_type_of_a_dictionary_of_states_has_a_name():
    assert torch.nn.Module.T_destination.__name__ == "T_destination"


def test_groups_of_processes_are_found_by_the_compiled_name():
    # Older versions of pytorch_lightning import it from there.
    program = """
from rushlight._C._distributed_c10d import ProcessGroup, Reducer, ReduceOp
import rushlight.distributed
print(ProcessGroup is rushlight.distributed.ProcessGroup, ReduceOp is rushlight.distributed.ReduceOp)
"""
    assert run_script(program) == "True True\n"


def test_inner_names_of_the_functions_of_networks():
    functional = torch.nn.functional
    x = torch.zeros(2, 3, 4)
    assert functional._mha_shape_check(x, x, x, None, None, 2) is True
    with raises(AssertionError, "Expected key_padded_mask.shape[0] to be 2, but got 3"):
        functional._check_key_padding_mask(torch.zeros(3, 2), 3, 2)
    told = "Expected more than 1 value per channel when training, got input size [1, 3]"
    with raises(ValueError, told):
        functional._verify_batch_size([1, 3])
    functional._verify_batch_size([2, 3])
    with raises(ValueError, "Expected more than 1 spatial element when training, got input size [1, 3, 1]"):
        functional._verify_spatial_size([1, 3, 1])
    with pytest.warns(UserWarning, match="Implicit dimension choice for softmax has been deprecated"):
        assert functional._get_softmax_dim("softmax", 3, 3) == 0
    assert functional._threshold(torch.tensor([0.0, 2.0]), 1.0, 5.0).tolist() == [5.0, 2.0]
    assert functional._unpool_output_size(torch.zeros(1, 1, 2, 2), [2, 2], [2, 2], [0, 0], None) == [4, 4]
    assert functional._Reduction.get_enum("mean") == 1
    assert functional.grad is torch.nn.grad
    with raises(AssertionError, "a pair"):
        functional.assert_int_or_pair([1, 2, 3], "pair", "a {}")

"""Where tensors are made, and switches that are meant for other machines."""

import warnings

import pytest
import rushlight as torch
from support import raises


def test_tensors_are_made_on_the_cpu_by_default():
    assert torch.get_default_device() == torch.device("cpu")
    assert torch.zeros(1).device == torch.device("cpu")


def test_a_device_is_a_block():
    with torch.device("cpu") as device:
        assert device == torch.device("cpu") and torch.get_default_device() == device
        with torch.device("cpu:0"):
            assert torch.get_default_device() == torch.device("cpu:0")
        assert torch.tensor(1.0).device == device


def test_the_default_device_can_be_set_and_taken_back():
    torch.set_default_device("cpu:0")
    try:
        assert torch.get_default_device() == torch.device("cpu:0")
        torch.set_default_device("cpu")
        assert torch.get_default_device() == torch.device("cpu")
    finally:
        torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")
    with raises(RuntimeError, "Expected one of cpu, cuda, ipu, xpu,"):
        torch.set_default_device("elsewhere")


@pytest.mark.own
def test_nothing_can_be_made_on_another_device():
    with torch.device("cuda"):
        with raises(AssertionError, "Torch not compiled with CUDA enabled"):
            torch.zeros(2)
        with torch.device("cpu"):
            assert torch.zeros(2).tolist() == [0.0, 0.0]
        assert torch.zeros(2, device="cpu").tolist() == [0.0, 0.0]
        with raises(AssertionError, "Torch not compiled with CUDA enabled"):
            torch.get_default_device()
    assert torch.zeros(2).tolist() == [0.0, 0.0]


def test_functions_that_follow_their_argument_do_not_ask_for_the_device():
    x = torch.zeros(2)
    with torch.device("meta"):
        assert torch.zeros_like(x).device == torch.device("cpu")
        assert (x + 1).tolist() == [1.0, 1.0]


@pytest.mark.own
def test_there_is_no_memory_to_pin():
    with raises(RuntimeError, "Cannot access accelerator device when none is available."):
        torch.zeros(1).pin_memory()


def test_programs_for_any_device_run_on_the_cpu():
    assert torch.cpu.is_available() and torch.cpu.is_initialized() and torch.cpu.device_count() == 1
    assert torch.cpu.current_device() == "cpu" and torch.cpu.synchronize() is None
    torch.cpu.set_device(0)


@pytest.mark.own
def test_there_is_nothing_of_another_device():
    torch.cuda.manual_seed(1)
    torch.cuda.manual_seed_all(1)
    torch.cuda.empty_cache()
    assert not torch.cuda.is_initialized() and not torch.cuda.is_bf16_supported()
    found = torch.cuda.memory_allocated(), torch.cuda.max_memory_allocated(), torch.cuda.memory_reserved()
    assert found == (0, 0, 0)
    for call in (torch.cuda.current_device, torch.cuda.synchronize, torch.cuda.get_device_name):
        with raises(AssertionError, "Torch not compiled with CUDA enabled"):
            call()


def test_results_may_be_asked_to_repeat():
    assert not torch.are_deterministic_algorithms_enabled() and torch.get_deterministic_debug_mode() == 0
    torch.use_deterministic_algorithms(True)
    assert torch.are_deterministic_algorithms_enabled() and torch.get_deterministic_debug_mode() == 2
    assert not torch.is_deterministic_algorithms_warn_only_enabled()
    torch.use_deterministic_algorithms(True, warn_only=True)
    assert torch.is_deterministic_algorithms_warn_only_enabled() and torch.get_deterministic_debug_mode() == 1
    torch.set_deterministic_debug_mode("error")
    assert torch.get_deterministic_debug_mode() == 2
    torch.set_deterministic_debug_mode(0)
    assert not torch.are_deterministic_algorithms_enabled()
    with raises(
        TypeError, "_set_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not int"
    ):
        torch.use_deterministic_algorithms(1)
    with raises(RuntimeError, "invalid value of debug_mode, expected 0, 1, or 2, but got 5"):
        torch.set_deterministic_debug_mode(5)
    text = "invalid value of debug_mode, expected one of `default`, `warn`, `error`, but got x"
    with raises(RuntimeError, text):
        torch.set_deterministic_debug_mode("x")


def test_the_precision_of_products_can_be_set():
    assert torch.get_float32_matmul_precision() == "highest"
    torch.set_float32_matmul_precision("medium")
    assert torch.get_float32_matmul_precision() == "medium"
    torch.set_float32_matmul_precision("highest")
    with raises(RuntimeError, "set_float32_matmul_precision expects a str, but got int"):
        torch.set_float32_matmul_precision(3)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        torch.set_float32_matmul_precision("low")
    assert str(caught[0].message).startswith("low is not one of 'highest', 'high', or 'medium'; the current")
    assert torch.get_float32_matmul_precision() == "highest"

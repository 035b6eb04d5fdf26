"""Modules on the device `meta`, and fake tensors: forms are found, numbers come later."""

import io

import pytest
import rushlight as torch
from rushlight._subclasses.fake_tensor import DataDependentOutputException, FakeTensor, FakeTensorMode
from support import raises


def test_a_module_that_is_made_there_takes_numbers_in_later():
    with torch.device("meta"):
        net = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    assert all(parameter.is_meta for parameter in net.parameters())
    whole = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 2))
    net.load_state_dict(whole.state_dict(), assign=True)
    x = torch.ones(2, 3)
    assert not any(parameter.is_meta for parameter in net.parameters())
    assert torch.equal(net(x), whole(x))


def test_memory_is_given_to_a_module_that_had_none():
    net = torch.nn.Linear(3, 4, device="meta").to_empty(device="cpu")
    assert type(net.weight) is torch.nn.Parameter and net.weight.requires_grad and not net.weight.is_meta
    torch.nn.init.ones_(net.weight)
    torch.nn.init.zeros_(net.bias)
    assert net(torch.ones(3)).tolist() == [3.0] * 4


def test_a_module_does_not_find_numbers_by_itself():
    text = (
        "Cannot copy out of meta tensor; no data! Please use torch.nn.Module.to_empty() instead of "
        "torch.nn.Module.to() when moving module from meta to a different device."
    )
    with raises(NotImplementedError, text):
        torch.nn.Linear(2, 2, device="meta").to("cpu")


def test_a_parameter_of_its_class_may_have_numbers():
    weight = torch.nn.Linear(2, 2, device="meta").weight
    made = type(weight)(torch.ones(2, 2), requires_grad=False)
    assert isinstance(made, torch.nn.Parameter) and not made.is_meta and not made.requires_grad


def test_a_step_of_training_has_a_form():
    net = torch.nn.Linear(3, 2, device="meta")
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    net(torch.empty(5, 3, device="meta")).sum().backward()
    optimizer.step()
    assert net.weight.grad.is_meta and net.weight.grad.shape == (2, 3) and net.weight.is_meta


def test_what_no_memory_would_hold_has_a_form():
    x = torch.empty(10**6, 10**6, device="meta")
    assert (x + 1).shape == x.shape and (x @ x).shape == x.shape and x.t()[0].shape == (10**6,)
    assert x.stride() == (10**6, 1) and x.is_contiguous()


OF_ONE = "exp floor round sign digamma erfinv tan square sigmoid relu neg bitwise_not isnan isinf logit"
OF_TWO = "copysign hypot fmod atan2 fmax add eq bitwise_xor logical_and pow xlogy nextafter"


def check_large(function, dtype=torch.float32, result=None):
    """Check the form of what a function makes of a large tensor and of a row that is broadcast."""
    x = torch.empty(1 << 30, 1 << 12, device="meta", dtype=dtype)
    found = function(x, torch.empty(1 << 12, device="meta", dtype=dtype))
    assert found.is_meta and found.shape == x.shape and found.stride() == x.stride()
    assert found.dtype == (result or dtype)


@pytest.mark.parametrize("name", OF_ONE.split())
def test_a_function_of_elements_has_a_form_that_no_memory_would_hold(name):
    function = getattr(torch, name)
    dtype = torch.int64 if name == "bitwise_not" else torch.float32
    check_large(lambda x, _: function(x), dtype, torch.bool if name in ("isnan", "isinf") else None)


@pytest.mark.parametrize("name", OF_TWO.split())
def test_a_function_of_pairs_has_a_form_that_no_memory_would_hold(name):
    dtype = torch.int64 if name == "bitwise_xor" else torch.float32
    check_large(getattr(torch, name), dtype, torch.bool if name in ("eq", "logical_and") else None)


def test_a_choice_and_a_blend_have_a_form_that_no_memory_would_hold():
    mask = torch.empty(1 << 30, 1, device="meta", dtype=torch.bool)
    check_large(lambda x, row: torch.where(mask, x, row))
    check_large(lambda x, row: torch.lerp(x, row, 0.5))


def test_files_keep_forms():
    file = io.BytesIO()
    torch.save({"x": torch.empty(2, 3, device="meta")}, file)
    file.seek(0)
    assert torch.load(file)["x"].is_meta


def test_fake_tensors_have_no_numbers_either():
    with FakeTensorMode():
        x = torch.ones(2, 3)
        net = torch.nn.Linear(3, 4)
        y = net(x)
        y.sum().backward()
        with pytest.raises(DataDependentOutputException):
            y.sum().item()
    assert isinstance(y, FakeTensor) and y.shape == (2, 4) and y.device.type == "cpu"
    assert repr(net.weight.grad) == "FakeTensor(..., size=(4, 3))"


def test_fake_tensors_are_not_mixed_with_others():
    x = FakeTensorMode().from_tensor(torch.ones(4))
    with pytest.raises(AssertionError, match="Please convert all Tensors to FakeTensors first"):
        x + torch.ones(4)

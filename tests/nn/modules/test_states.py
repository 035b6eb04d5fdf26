"""States of modules: those that older modules saved, the order of hooks, and arguments by position."""

import gc
from collections import OrderedDict, UserDict

import pytest
import rushlight as torch
from rushlight import nn


def plain(module):
    """A state without the numbers of versions."""
    return dict(module.state_dict())


def test_norms_by_batch_tell_the_second_version_of_their_state():
    states = nn.Sequential(nn.Linear(1, 1), nn.BatchNorm1d(1), nn.InstanceNorm1d(1)).state_dict()
    versions = {name: metadata["version"] for name, metadata in states._metadata.items()}
    assert versions == {"": 1, "0": 1, "1": 2, "2": 2}


def test_a_state_from_before_batches_were_counted_leaves_the_count():
    norm = nn.BatchNorm1d(2)
    norm(torch.ones(3, 2))
    state = plain(norm)
    del state["num_batches_tracked"]
    assert not norm.load_state_dict(state).missing_keys
    assert norm.num_batches_tracked == 1


def test_a_state_of_the_second_version_needs_its_count():
    norm = nn.BatchNorm1d(2)
    state = norm.state_dict()
    del state["num_batches_tracked"]
    with pytest.raises(RuntimeError, match=r'Missing key.*"num_batches_tracked"'):
        norm.load_state_dict(state)


def test_statistics_that_a_norm_does_not_keep_are_told():
    state = plain(nn.InstanceNorm1d(1, track_running_stats=True))
    del state["num_batches_tracked"]
    with pytest.raises(
        RuntimeError, match=r'buffer.s. "running_mean" and "running_var" for InstanceNorm1d with'
    ):
        nn.InstanceNorm1d(1).load_state_dict(state)


@pytest.mark.parametrize(
    ("args", "kwargs", "names"),
    [
        (({}, "p."), {}, ["p.weight", "p.bias"]),
        (({}, "p."), {"prefix": "q."}, ["q.weight", "q.bias"]),
        ((OrderedDict(),), {}, ["weight", "bias"]),
    ],
)
def test_arguments_by_position_are_deprecated(args, kwargs, names):
    with pytest.warns(FutureWarning, match="Positional args are being deprecated, use kwargs instead"):
        state = nn.Linear(1, 1).state_dict(*args, **kwargs)
    assert state is args[0]
    assert list(state) == names


def test_whether_tensors_keep_their_history_can_be_said_by_position():
    module = nn.Linear(1, 1)
    with pytest.warns(FutureWarning):
        state = module.state_dict({}, "", True)
    assert state["weight"] is module.weight


def test_a_state_is_any_mapping_but_nothing_that_looks_like_one():
    module = nn.Linear(1, 1)
    module.load_state_dict(UserDict(module.state_dict()))

    class Keys:
        def keys(self):
            return []

    with pytest.raises(TypeError, match="Expected state_dict to be dict-like, got <class"):
        module.load_state_dict(Keys())


def test_hooks_after_loading_are_called_child_by_child():
    module = nn.Sequential(nn.Sequential(nn.Linear(1, 1)), nn.Linear(1, 1))
    seen = []
    for name, part in module.named_modules():
        part.register_load_state_dict_post_hook(lambda *_, name=name: seen.append(name))
        part.register_load_state_dict_pre_hook(lambda *_, name=name: seen.append(f"to {name}"))
    module.load_state_dict(module.state_dict())
    assert seen == ["to ", "to 0", "to 0.0", "0.0", "0", "to 1", "1", ""]


def test_what_is_assigned_is_told_only_then():
    module, seen = nn.Linear(1, 1), []
    module.register_load_state_dict_pre_hook(lambda *args: seen.append(args[3]))
    module.load_state_dict(plain(module))
    module.load_state_dict(plain(module), assign=True)
    assert seen == [{}, {"assign_to_params_buffers": True}]


def test_keys_that_are_no_text_are_refused():
    with pytest.raises(AttributeError, match="'int' object has no attribute 'startswith'"):
        nn.Linear(1, 1).load_state_dict({3: torch.ones(1)})


def test_a_module_that_was_pickled_before_there_were_all_hooks_has_them():
    module = nn.Module.__new__(nn.Module)
    old = ("_parameters", "_buffers", "_modules", "_forward_hooks", "_backward_hooks")
    module.__setstate__({"training": False, **{name: OrderedDict() for name in old}})
    assert not module.training
    assert module.state_dict() == {}
    module.register_full_backward_pre_hook(lambda *_: None).remove()
    module.register_load_state_dict_post_hook(lambda *_: None).remove()
    assert module._non_persistent_buffers_set == set()


def test_errors_of_methods_tell_the_module():
    module = nn.Linear(1, 1)
    for name in ("register_forward_hook", "register_state_dict_pre_hook", "register_full_backward_hook"):
        with pytest.raises(
            TypeError, match=rf"^Module.{name}\(\) missing 1 required positional argument: 'hook'"
        ):
            getattr(module, name)()
    with pytest.raises(TypeError, match=r"^Module.to_empty\(\) missing 1 required keyword-only argument"):
        module.to_empty()
    with pytest.raises(TypeError, match=r"_forward_unimplemented\(\) got an unexpected keyword argument 'a'"):
        nn.Module()(1, a=2)


@pytest.mark.parametrize("path", ["0..weight", ".0", "0."])
def test_a_path_with_an_empty_part_leads_nowhere(path):
    with pytest.raises(AttributeError, match="has no attribute ``"):
        nn.Sequential(nn.Linear(1, 1)).get_submodule(path)


def test_gradients_that_are_filled_with_zeros_stay_the_same_tensors():
    module = nn.Linear(2, 1)
    module(torch.ones(2)).sum().backward()
    before = module.weight.grad
    module.zero_grad(set_to_none=False)
    assert module.weight.grad is before
    assert before.tolist() == [[0.0, 0.0]]


def test_channels_lie_last_in_images_and_nowhere_else():
    module = nn.Sequential(nn.Conv2d(2, 2, 1), nn.BatchNorm2d(2), nn.Linear(2, 3))
    module.register_buffer("numbers", torch.ones(1, 2, 3, 3, dtype=torch.int64))
    module.to(memory_format=torch.channels_last)
    assert module[0].weight.stride() == (2, 1, 2, 2)
    assert module.numbers.stride() == (18, 1, 6, 2)
    assert module[2].weight.stride() == (2, 1)


@pytest.mark.parametrize("args", [("cpu", torch.float64, False, True), (torch.float64, False, True)])
def test_a_module_is_never_copied(args):
    with pytest.raises(RuntimeError, match=r"^\.to\(\) does not accept copy argument$"):
        nn.Linear(1, 1).to(*args)


def test_a_module_is_converted_like_a_tensor():
    module = nn.BatchNorm1d(2).to(torch.ones(1, dtype=torch.float64))
    assert module.weight.dtype == torch.float64
    assert module.num_batches_tracked.dtype == torch.int64


class Calls(torch.overrides.TorchFunctionMode):
    """Notes which functions are called, with what."""

    def __init__(self):
        self.calls = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.calls.append((func, args, sorted(kwargs or {})))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("name", "names"),
    [
        ("uniform_", ["a", "b", "generator", "tensor"]),
        ("normal_", ["generator", "mean", "std", "tensor"]),
        ("kaiming_uniform_", ["a", "generator", "mode", "nonlinearity", "tensor"]),
    ],
)
def test_modes_see_what_fills_weights(name, names):
    function = getattr(nn.init, name)
    with Calls() as mode:
        function(torch.empty(2, 2))
    assert (function, (), names) in mode.calls


def test_a_mode_can_leave_weights_as_they_are():
    class Skip(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            if getattr(func, "__module__", "").endswith("nn.init"):
                return kwargs["tensor"]
            return func(*args, **(kwargs or {}))

    state = torch.get_rng_state()
    with Skip():
        nn.Linear(2, 3)
    assert torch.equal(state, torch.get_rng_state())


@pytest.mark.filterwarnings("error")
def test_orthogonal_weights_are_made_without_a_warning_in_a_mode():
    with Calls():
        nn.init.orthogonal_(torch.empty(2, 2))


def test_that_numbers_for_a_tensor_without_numbers_are_a_warning():
    with torch.device("meta"):
        layer = torch.nn.Linear(3, 5)
    state = layer.state_dict()
    state["weight"] = torch.zeros(5, 3, device="cpu")
    with pytest.warns(UserWarning, match="for weight: copying from a non-meta parameter in the checkpoint"):
        layer.load_state_dict(state)


def test_that_loading_leaves_nothing_for_the_collector():
    layer = torch.nn.LSTM(2, 2, bidirectional=True)
    state = layer.state_dict()
    gc.collect()
    layer.load_state_dict(state)
    assert gc.collect() == 0

"""Parts of modules by their paths, what else belongs to a state, and bases besides `Module`."""

import pytest
import rushlight as torch
from support import raises

nn = torch.nn


def test_a_buffer_is_found_by_its_path():
    model = nn.Sequential(nn.BatchNorm1d(2))
    assert model.get_buffer("0.running_mean") is model[0].running_mean
    with raises(AttributeError, "BatchNorm1d has no attribute `nothing`"):
        model.get_buffer("0.nothing")
    with raises(AttributeError, "`weight` is not a buffer"):
        model.get_buffer("0.weight")


def test_a_module_is_put_at_a_path():
    model = nn.Sequential(nn.Sequential(nn.Linear(2, 2)), nn.ReLU())
    model.set_submodule("0.0", nn.Tanh())
    model.set_submodule("1", nn.Identity())
    model.set_submodule("0.new", nn.ReLU())
    assert repr(model[0][0]) == "Tanh()" and repr(model[1]) == "Identity()" and len(model[0]) == 2
    for target, strict, kind, text in [
        ("", False, ValueError, "Cannot set the submodule without a target name!"),
        ("0.other", True, AttributeError, "Sequential has no attribute `other`"),
        ("2.x", False, AttributeError, "Sequential has no attribute `2`"),
        ("0.training", False, AttributeError, "`training` is not an nn.Module"),
    ]:
        with raises(kind, text):
            model.set_submodule(target, nn.ReLU(), strict)
    with raises(ValueError, "`module` is not an nn.Module, found <class 'int'>"):
        model.set_submodule("0", 3)


class Counting(nn.Module):
    def __init__(self):
        super().__init__()
        self.count = 0

    def get_extra_state(self):
        return {"count": self.count}

    def set_extra_state(self, state):
        self.count = state["count"]


def test_more_than_tensors_may_belong_to_a_state():
    model = nn.Sequential(Counting(), nn.ReLU())
    model[0].count = 5
    state = model.state_dict()
    assert dict(state) == {"0._extra_state": {"count": 5}}
    other = nn.Sequential(Counting(), nn.ReLU())
    other.load_state_dict(state)
    assert other[0].count == 5
    with raises(
        RuntimeError, 'Error(s) in loading state_dict for Sequential:\n\tMissing key(s) in state_dict: "0._e'
    ):
        other.load_state_dict({})
    text = 'Error(s) in loading state_dict for Sequential:\n\tUnexpected key(s) in state_dict: "1._extra_state". '
    with raises(RuntimeError, text):
        other.load_state_dict({**state, "1._extra_state": 0})
    for call in (nn.ReLU().get_extra_state, lambda: nn.ReLU().set_extra_state(0)):
        with raises(RuntimeError, "Reached a code path in Module."):
            call()


def test_a_number_is_loaded_from_a_vector_of_one():
    model = nn.Module()
    model.register_buffer("number", torch.tensor(1.0))
    model.load_state_dict({"number": torch.tensor([3.0])})
    assert model.number.item() == 3.0


class Other:
    def __init__(self, size=0):
        self.size = size


@pytest.mark.parametrize("calls", [False, True])
def test_what_a_module_is_given_reaches_its_other_bases_if_it_says_so(calls):
    class Both(nn.Module, Other):
        call_super_init = calls

    if calls:
        assert Both(size=3).size == 3
        return
    assert not hasattr(Both(), "size")
    with raises(TypeError, "Both.__init__() got an unexpected keyword argument 'size'"):
        Both(size=3)
    with raises(TypeError, "Both.__init__() takes 1 positional argument but 3 were given"):
        Both(3, 4)

"""Modules in other types and other memory: what their parameters become."""

import weakref

import pytest
import rushlight as torch
from support import raises

nn = torch.nn


@pytest.fixture
def swapping():
    torch.__future__.set_swap_module_params_on_conversion(True)
    yield
    torch.__future__.set_swap_module_params_on_conversion(False)


def test_parameters_stay_the_same_objects():
    layer = nn.Linear(2, 1)
    weight, layer.weight.grad = layer.weight, torch.ones(1, 2)
    gradient = weight.grad
    layer.double()
    assert layer.weight is weight and weight.dtype is torch.float64
    assert weight.grad is gradient and gradient.dtype is torch.float64


def test_parameters_can_be_new_objects():
    assert not torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        layer = nn.Linear(2, 1)
        weight, layer.weight.grad = layer.weight, torch.ones(1, 2)
        layer.double()
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(False)
    assert layer.weight is not weight and weight.dtype is torch.float32 and weight.grad.dtype is torch.float32
    assert layer.weight.dtype is torch.float64 and layer.weight.requires_grad
    assert layer.weight.grad.tolist() == [[1.0, 1.0]] and layer.weight.grad.dtype is torch.float64


def test_parameters_can_be_exchanged(swapping):
    assert torch.__future__.get_swap_module_params_on_conversion()
    layer = nn.Linear(2, 1)
    layer.weight.grad = torch.ones(1, 2)
    known = [id(one) for one in layer.parameters()]
    layer.double()
    assert [id(one) for one in layer.parameters()] == known
    assert layer.weight.dtype is torch.float64 and layer.weight.requires_grad
    assert layer.weight.grad.tolist() == [[1.0, 1.0]] and layer.weight.grad.dtype is torch.float64


def test_what_somebody_watches_is_not_exchanged(swapping):
    layer = nn.Linear(2, 1)
    watch = weakref.ref(layer.weight)
    with raises(RuntimeError, "_apply(): Couldn't swap Linear.weight") as caught:
        layer.double()
    assert str(caught.value.__cause__) == "Cannot swap t1 because it has weakref associated with it"
    with raises(RuntimeError, "Error(s) in loading state_dict for Linear:") as caught:
        layer.load_state_dict(nn.Linear(2, 1).state_dict())
    assert str(caught.value).endswith(
        'While swapping the parameter named "weight", whose dimensions in the model are torch.Size([1, 2]) and '
        "whose dimensions in the checkpoint are torch.Size([1, 2]), an exception occurred : "
        "('Cannot swap t1 because it has weakref associated with it',)."
    )
    assert watch() is layer.weight


def test_a_state_is_loaded_by_exchange(swapping):
    layer, other = nn.Linear(2, 1).double(), nn.Linear(2, 1)
    weight = layer.weight
    del weight
    layer.load_state_dict(other.state_dict())
    assert layer.weight.dtype is torch.float64 and torch.equal(layer.weight.float(), other.weight)
    layer.load_state_dict(other.state_dict(), assign=True)
    assert layer.weight.dtype is torch.float32 and isinstance(layer.weight, nn.Parameter)


def test_two_tensors_exchange_everything():
    a, b = torch.ones(2), torch.tensor([1, 2, 3])
    a.word, b.number = "a", 5
    torch.utils.swap_tensors(a, b)
    assert a.tolist() == [1, 2, 3] and b.tolist() == [1.0, 1.0] and a.number == 5 and b.word == "a"
    assert not hasattr(a, "word")
    number, other = a._cdata, b._cdata
    a.data = torch.ones(3)
    assert number != other and a._cdata == number
    torch.utils.swap_tensors(a, b)
    torch.utils.swap_tensors(b, c := torch.ones(1))
    assert a._cdata == other and c._cdata == number and b._cdata not in (number, other)
    with pytest.raises(AttributeError):
        a._cdata = number
    leaf, plain = nn.Parameter(torch.ones(1)), torch.zeros(2)
    leaf.grad = torch.full((1,), 7.0)
    torch.utils.swap_tensors(leaf, plain)
    assert type(leaf) is torch.Tensor and not leaf.requires_grad and leaf.grad is None
    assert type(plain) is nn.Parameter and plain.requires_grad and plain.grad.tolist() == [7.0]


def test_tensors_of_different_slots_are_not_exchanged():
    class Slotted(torch.Tensor):
        __slots__ = ["mark"]

    a, b = (torch.ones(2).as_subclass(Slotted) for _ in range(2))
    a.mark = 3
    torch.utils.swap_tensors(a, b)
    assert b.mark == 3 and not hasattr(a, "mark")
    with raises(RuntimeError, "Cannot swap t1 and t2 if they have different slots"):
        torch.utils.swap_tensors(a, torch.ones(2))
    watch = weakref.ref(a)
    with raises(RuntimeError, "Cannot swap t2 because it has weakref associated with it"):
        torch.utils.swap_tensors(b, a)
    assert watch() is a


@pytest.mark.own
def test_what_was_computed_with_history_is_not_exchanged():
    with raises(RuntimeError, "Cannot swap t2 because it was computed with history"):
        torch.utils.swap_tensors(torch.ones(1), torch.ones(1, requires_grad=True) * 2)


def test_a_module_gets_memory_that_nothing_was_written_to():
    model = nn.Sequential(nn.Linear(2, 1), nn.BatchNorm1d(1))
    weight, memory = model[0].weight, model[0].weight.data_ptr()
    kept = weight.data
    assert model.to_empty(device="cpu") is model
    assert model[0].weight is weight and weight.data_ptr() != memory and weight.shape == kept.shape
    assert model[1].num_batches_tracked.dtype is torch.int64
    memory = weight.data_ptr()
    model.to_empty(device="cpu", recurse=False)
    assert weight.data_ptr() == memory


def test_all_types_can_be_set():
    model = nn.BatchNorm1d(1)
    assert model.type(torch.float64) is model
    assert model.weight.dtype is torch.float64 and model.num_batches_tracked.dtype is torch.float64
    model.type("torch.FloatTensor")
    assert model.weight.dtype is torch.float32
    assert model.half().cpu().running_mean.dtype is torch.float16
    with torch.no_grad():
        complex_layer = nn.Module()
        complex_layer.register_buffer("b", torch.ones(1) * 1j)
    assert complex_layer.half().b.dtype is torch.complex64


def test_a_module_can_be_moved_to_shared_memory():
    layer = nn.Linear(2, 1)
    before = layer.weight.tolist()
    assert layer.share_memory() is layer and layer.weight.is_shared() and layer.bias.is_shared()
    assert layer.weight.tolist() == before and layer.weight.requires_grad
    layer(torch.ones(1, 2)).sum().backward()
    assert layer.weight.grad.tolist() == [[1.0, 1.0]]


def test_modules_convert_their_children_through_them():
    class Own(nn.Module):
        converted = 0

        def _apply(self, fn, recurse=True):
            self.converted += 1
            return super()._apply(fn, recurse)

    model = nn.Sequential(Own(), Own())
    model.double()
    assert [one.converted for one in model] == [1, 1]


def test_a_module_is_made_without_the_numbers_that_it_begins_with():
    state = torch.get_rng_state()
    layer = torch.nn.utils.skip_init(torch.nn.Linear, 5, out_features=1)
    assert layer.weight.shape == (1, 5)
    assert torch.equal(torch.get_rng_state(), state)
    with pytest.raises(RuntimeError, match=r"^Module must support a 'device' arg to skip initialization$"):
        torch.nn.utils.skip_init(torch.nn.ReLU)


def test_that_a_parameter_in_another_layout_is_another_parameter():
    layer = torch.nn.Linear(2, 2, bias=False)
    layer.weight.grad = torch.ones(2, 2)
    before = layer.weight
    layer._apply(lambda x: x.detach().to_sparse())
    assert before.layout == torch.strided
    assert layer.weight.layout == layer.weight.grad.layout == torch.sparse_coo

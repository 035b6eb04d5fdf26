"""`func.functional_call`, `func.stack_module_state` and `nn.utils.stateless`."""

import copy

import pytest
import rushlight as torch
from support import assert_tensor, raises

functional_call, stack_module_state = torch.func.functional_call, torch.func.stack_module_state
nn = torch.nn


class Scale(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(1, 1)
        self.register_buffer("offset", torch.tensor([1.0]))

    def forward(self, x, factor=1.0):
        return self.inner(x) * factor + self.offset


class Tied(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(1, 1, bias=False)
        self.second = nn.Linear(1, 1, bias=False)
        self.second.weight = self.first.weight
        self.register_buffer("shift", torch.tensor([0.0]))

    def forward(self, x):
        return self.first(x) + self.second(x) * 10 + self.shift


STATE = {
    "inner.weight": torch.tensor([[2.0]]),
    "inner.bias": torch.tensor([3.0]),
    "offset": torch.tensor([5.0]),
}


def test_the_given_tensors_take_the_place_of_the_modules_own():
    module = Scale()
    before = {name: tensor.clone() for name, tensor in module.state_dict().items()}
    assert_tensor(functional_call(module, STATE, torch.tensor([10.0])), [28.0])
    for name, tensor in module.state_dict().items():
        assert_tensor(tensor, before[name].numpy())
    assert isinstance(module.inner.weight, nn.Parameter)


def test_what_is_not_given_is_the_modules_own():
    module = Scale()
    with torch.no_grad():
        module.inner.weight.fill_(4.0)
        module.inner.bias.fill_(0.0)
    assert_tensor(functional_call(module, {"offset": torch.tensor([0.5])}, (torch.tensor([2.0]),)), [8.5])
    assert_tensor(functional_call(module, {}, (torch.tensor([2.0]),)), [9.0])


def test_arguments_may_have_names():
    assert_tensor(functional_call(Scale(), STATE, torch.tensor([10.0]), {"factor": 2.0}), [51.0])
    assert_tensor(functional_call(Scale(), STATE, kwargs={"x": torch.tensor([10.0])}), [28.0])


def test_several_dictionaries_are_one():
    parameters = {name: tensor for name, tensor in STATE.items() if name != "offset"}
    found = functional_call(Scale(), (parameters, {"offset": torch.tensor([5.0])}), torch.tensor([10.0]))
    assert_tensor(found, [28.0])
    with raises(
        ValueError, "['offset'] appeared in multiple dictionaries; behavior of functional call is ambiguous"
    ):
        functional_call(Scale(), [STATE, {"offset": torch.zeros(1)}], torch.tensor([1.0]))
    with raises(ValueError, "Expected all elements of parameter_and_buffer_dicts to be dictionaries"):
        functional_call(Scale(), [STATE, 3], torch.tensor([1.0]))
    with raises(
        ValueError,
        "Expected parameter_and_buffer_dicts to be a dict, or a list/tuple of dicts, but got <class 'int'>",
    ):
        functional_call(Scale(), 3, torch.tensor([1.0]))


def test_gradients_go_to_the_given_tensors():
    weight = torch.tensor([[2.0]], requires_grad=True)
    module = Scale()
    functional_call(module, {**STATE, "inner.weight": weight}, torch.tensor([10.0])).sum().backward()
    assert_tensor(weight.grad, [[10.0]])
    assert module.inner.weight.grad is None


def test_grad_is_taken_by_the_parameters_of_a_module():
    def loss(parameters, x):
        return functional_call(Scale(), parameters, x).sum()

    found = torch.func.grad(loss)(STATE, torch.tensor([10.0]))
    assert sorted(found) == ["inner.bias", "inner.weight", "offset"]
    assert_tensor(found["inner.weight"], [[10.0]])
    assert_tensor(found["offset"], [1.0])


def test_tied_weights_are_replaced_together():
    x = torch.tensor([1.0])
    for name in ("first.weight", "second.weight"):
        assert_tensor(functional_call(Tied(), {name: torch.tensor([[2.0]])}, x), [22.0])
    same = torch.tensor([[3.0]])
    assert_tensor(functional_call(Tied(), {"first.weight": same, "second.weight": same}, x), [33.0])
    with raises(
        ValueError,
        "functional_call got multiple values for keys ['first.weight', 'second.weight'], which are tied. Consider using tie_weights=False",
    ):
        functional_call(Tied(), {"first.weight": torch.ones(1, 1), "second.weight": torch.zeros(1, 1)}, x)


def test_tied_weights_can_be_replaced_one_by_one():
    module = Tied()
    given = {"first.weight": torch.tensor([[1.0]]), "second.weight": torch.tensor([[2.0]])}
    assert_tensor(functional_call(module, given, torch.tensor([1.0]), tie_weights=False), [21.0])
    assert module.first.weight is module.second.weight


def test_strict_wants_exactly_the_names_of_the_module():
    x = torch.tensor([1.0])
    functional_call(Scale(), STATE, x, strict=True)
    with raises(
        RuntimeError, "Error(s) in reparametrizing for Scale:\n\tMissing key(s): 'inner.bias', 'offset'."
    ):
        functional_call(Scale(), {"inner.weight": torch.ones(1, 1)}, x, strict=True)
    with raises(RuntimeError, "Error(s) in reparametrizing for Scale:\n\tUnexpected key(s): 'extra'."):
        functional_call(Scale(), {**STATE, "extra": torch.ones(1)}, x, strict=True)
    with raises(
        RuntimeError,
        "Error(s) in reparametrizing for Scale:\n\tUnexpected key(s): 'extra'.\n\tMissing key(s): 'inner.bias', 'inner.weight', 'offset'.",
    ):
        functional_call(Scale(), {"extra": torch.ones(1)}, x, strict=True)
    functional_call(Tied(), {"first.weight": torch.ones(1, 1), "shift": torch.ones(1)}, x, strict=True)


def test_an_unknown_name_becomes_an_attribute_for_the_call():
    module = Scale()
    functional_call(module, {"extra": torch.ones(1)}, torch.tensor([1.0]))
    assert not hasattr(module, "extra")
    with raises(AttributeError, "Scale has no attribute `nowhere`"):
        functional_call(module, {"nowhere.weight": torch.ones(1)}, torch.tensor([1.0]))


def test_what_the_module_assigns_to_itself_is_in_the_dictionary():
    class Counter(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", torch.tensor(0.0))

        def forward(self):
            self.count = self.count + 1
            return self.count

    module, state = Counter(), {"count": torch.tensor(41.0)}
    assert_tensor(functional_call(module, state), 42.0)
    assert_tensor(state["count"], 42.0)
    assert_tensor(module.count, 0.0)


def test_an_error_in_the_module_puts_everything_back():
    module = Scale()
    weight = module.inner.weight
    with pytest.raises(TypeError):
        functional_call(module, STATE, "no tensor")
    assert module.inner.weight is weight


def test_only_tensors_take_the_place_of_tensors():
    with raises(TypeError, "3 is not an instance of torch.Tensor"):
        functional_call(Scale(), {"offset": 3}, torch.tensor([1.0]))


def test_stateless_is_deprecated():
    from rushlight.nn.utils import stateless

    with pytest.warns(
        FutureWarning,
        match=r"^`torch.nn.utils.stateless.functional_call` is deprecated as of PyTorch 2.0 and will be removed",
    ):
        assert_tensor(stateless.functional_call(Scale(), STATE, torch.tensor([10.0])), [28.0])


def test_states_of_modules_are_stacked():
    models = [Scale() for _ in range(3)]
    parameters, buffers = stack_module_state(models)
    assert list(parameters) == ["inner.weight", "inner.bias"] and list(buffers) == ["offset"]
    assert parameters["inner.weight"].shape == (3, 1, 1)
    assert parameters["inner.weight"].is_leaf and parameters["inner.weight"].requires_grad
    assert not buffers["offset"].requires_grad
    assert_tensor(parameters["inner.weight"][1], models[1].inner.weight.detach().numpy())


def test_stacked_modules_are_alike():
    with raises(RuntimeError, "stack_module_state: Expected at least one model, got 0."):
        stack_module_state([])
    with raises(RuntimeError, "stack_module_state: Expected all models to have the same training/eval mode."):
        stack_module_state([Scale(), Scale().eval()])
    with raises(RuntimeError, "stack_module_state: Expected all models to be of the same class."):
        stack_module_state([Scale(), Tied()])
    frozen = Scale()
    frozen.inner.bias.requires_grad_(False)
    with raises(RuntimeError, "Expected inner.bias from each model to have the same .requires_grad"):
        stack_module_state([Scale(), frozen])


def test_functionalize_gives_what_the_function_gives():
    def f(x):
        y = x.clone()
        y.add_(1)
        return y.view(-1)

    for remove in ("mutations", "mutations_and_views"):
        assert_tensor(torch.func.functionalize(f, remove=remove)(torch.zeros(2)), [1.0, 1.0])
    with raises(
        RuntimeError,
        "functionalize(f, remove='mutations'): received invalid argument for remove=all. Valid options are:",
    ):
        torch.func.functionalize(f, remove="all")


def test_batch_normalisation_is_left_without_statistics():
    net = nn.Sequential(nn.BatchNorm1d(2), nn.InstanceNorm1d(2, track_running_stats=True))
    assert torch.func.replace_all_batch_norm_modules_(net) is net
    first = net[0]
    assert (first.running_mean, first.running_var, first.num_batches_tracked) == (None, None, None)
    assert not first.track_running_stats
    assert net[1].track_running_stats


def test_a_look_at_numbers_takes_every_layer_off():
    seen = []

    def look(x):
        seen.append(torch.func.debug_unwrap(x))
        seen.append(torch.func.debug_unwrap(x, recurse=False))
        return x.sum()

    torch.vmap(torch.func.grad(look))(torch.tensor([[1.0, 2.0]]))
    assert str(seen[0]) == "tensor([[1., 2.]])"
    assert seen[1].shape == (2,)
    plain = torch.ones(2, requires_grad=True)
    assert torch.func.debug_unwrap(plain) is plain


def test_a_model_without_memory_serves_an_ensemble():
    models = [torch.nn.Linear(2, 3) for _ in range(3)]
    parameters, buffers = torch.func.stack_module_state(models)
    base = copy.deepcopy(models[0]).to("meta")

    def call(parameters, buffers, x):
        return torch.func.functional_call(base, (parameters, buffers), (x,))

    x = torch.arange(8.0).reshape(4, 2)
    found = torch.func.vmap(call, in_dims=(0, 0, None))(parameters, buffers, x)
    torch.testing.assert_close(found, torch.stack([model(x) for model in models]))

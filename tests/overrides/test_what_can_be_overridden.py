"""The lists of functions that `__torch_function__` sees, and calling one as it is."""

import inspect

import pytest
import rushlight as torch
from rushlight import overrides


def test_functions_methods_and_attributes_can_be_overridden():
    found = overrides.get_overridable_functions()
    assert torch.add in found[torch]
    assert torch.Tensor.add in found[torch.Tensor]
    assert torch.nn.functional.relu in found[torch.nn.functional]
    assert torch.Tensor.shape.__get__ in found[torch.Tensor.shape]


def test_what_makes_tensors_cannot():
    ignored = overrides.get_ignored_functions()
    for function in (
        torch.tensor,
        torch.zeros,
        torch.manual_seed,
        torch.Tensor.as_subclass,
        torch.Tensor.__new__,
    ):
        assert function in ignored
    assert torch.add not in ignored
    assert not ignored & set(overrides.get_overridable_functions()[torch])


def test_each_has_a_stand_in_that_is_called_alike():
    stand_ins = overrides.get_testing_overrides()
    assert {torch.add, torch.Tensor.add, torch.Tensor.shape.__get__, torch.nn.functional.relu} <= set(
        stand_ins
    )
    assert torch.tensor not in stand_ins
    assert stand_ins[torch.add](torch.ones(2), 1) == -1
    assert list(inspect.signature(stand_ins[torch.add]).parameters)[:2] == ["input", "other"]
    assert next(iter(inspect.signature(stand_ins[torch.Tensor.view]).parameters)) == "self"


def test_names_are_those_of_the_package():
    assert overrides.resolve_name(torch.add) == "torch.add"
    assert overrides.resolve_name(torch.Tensor.add) == "torch.Tensor.add"
    assert overrides.resolve_name(torch.Tensor.grad.__get__) == "torch.Tensor.grad.__get__"
    assert overrides.resolve_name(torch.nn.functional.relu) == "torch.nn.functional.relu"
    assert overrides.resolve_name(torch.ops.aten.add.Tensor) == "aten.add.Tensor"
    assert overrides.resolve_name(lambda x: x) is None


def test_methods_and_attributes_are_told_from_functions():
    assert overrides.is_tensor_method_or_property(torch.Tensor.add)
    assert overrides.is_tensor_method_or_property(torch.Tensor.grad.__get__)
    assert not overrides.is_tensor_method_or_property(torch.add)


class Log(torch.Tensor):
    log: list = []  # noqa: RUF012

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        cls.log.append(func.__name__)
        return overrides.redispatch_function(func, types, args, kwargs)


def test_a_function_that_is_called_as_it_is_shows_what_it_calls():
    def scaled(a, b):
        if overrides.has_torch_function((a, b)):
            return overrides.handle_torch_function(scaled, (a, b), a, b)
        return a * b + 1

    x = torch.tensor([3.0]).as_subclass(Log)
    Log.log.clear()
    y = scaled(x, x)
    assert (Log.log, type(y), y.tolist()) == (["scaled", "mul"], torch.Tensor, [10.0])


def test_a_method_that_is_called_as_it_is_is_shown_once():
    x = torch.tensor([3.0]).as_subclass(Log)
    Log.log.clear()
    y = x.detach()
    assert (Log.log, type(y), y.tolist()) == (["detach"], torch.Tensor, [3.0])


class Noted(overrides.TorchFunctionMode):
    def __init__(self):
        super().__init__()
        self.log: list = []

    def __torch_function__(self, func, types, args=(), kwargs=None):
        self.log.append(func.__name__)
        with self:
            return overrides.redispatch_function(func, types, args, kwargs)


def test_a_mode_that_calls_a_function_as_it_is_sees_what_that_calls():
    def scaled(a, b):
        if overrides.has_torch_function((a, b)):
            return overrides.handle_torch_function(scaled, (a, b), a, b)
        return torch.add(a * b, 1)

    x = torch.tensor([[3.0]])
    with Noted() as noted:
        y = scaled(x, x).T
    assert (noted.log, y.tolist()) == (["scaled", "mul", "add", "__get__"], [[10.0]])


def test_a_class_that_answers_for_truth_has_to_answer_truth():
    class Minus(torch.Tensor):
        @classmethod
        def __torch_function__(cls, func, types, args=(), kwargs=None):
            return -1

    with pytest.raises(TypeError, match="__bool__ should return bool, returned int"):
        bool(torch.ones(1).as_subclass(Minus))


class Answering:
    """No tensor, but it answers for calls that it is given to."""

    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return (func, len(args))


def test_a_class_sees_backward_that_is_to_stop_at_its_instances():
    x = torch.ones(2, requires_grad=True)
    assert torch.autograd.backward(x.sum(), inputs=[x, Answering()]) == (torch.autograd.backward, 1)


def test_answers_for_named_inputs_are_named():
    x = torch.ones(2, requires_grad=True)
    answer = torch.autograd.grad(x.sum(), {"x": x, "other": Answering()})
    assert answer == {"x": torch.autograd.grad, "other": 2}


def test_gradients_are_not_asked_whether_they_answer():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(TypeError, match="'Answering' object is not iterable"):
        torch.autograd.grad(x.sum(), x, grad_outputs=Answering())


def test_stand_ins_of_functions_in_python_have_their_parameters():
    found = overrides.get_testing_overrides()
    names = list(inspect.signature(found[torch.nn.functional.batch_norm]).parameters)
    assert names == ["input", "running_mean", "running_var", "weight", "bias", "training", "momentum", "eps"]
    (only,) = inspect.signature(found[torch.atleast_1d]).parameters.values()
    assert only.kind is inspect.Parameter.VAR_POSITIONAL


def test_functions_in_all_rooms_can_be_overridden_and_helpers_are_not_among_them():
    found = overrides.get_overridable_functions()
    assert torch.fft.rfft in found[torch.fft] and torch.functional.einsum in found[torch.functional]
    listed = [function.__name__ for functions in found.values() for function in functions]
    assert not {"handle_torch_function", "has_torch_function", "fftfreq"} & set(listed)


def test_compiled_functions_are_apart_from_those_of_the_same_name():
    one = torch.ones(1)
    assert [part.shape for part in torch._C._VariableFunctions.broadcast_tensors([one, one])] == [(1,), (1,)]


def test_what_is_no_sequence_cannot_be_asked_for_overrides():
    with pytest.raises(TypeError, match="expected a sequence"):
        overrides.has_torch_function(object())


def test_parameters_of_distributions_may_be_objects_that_answer():
    from rushlight.distributions.utils import broadcast_all

    assert broadcast_all(Answering(), torch.ones(2)) == (torch.broadcast_tensors, 2)
    with pytest.raises(ValueError, match="objects implementing __torch_function__"):
        broadcast_all("word", 1.0)

"""Parameters made of tensors of other classes."""

import rushlight as torch
from rushlight import nn
from rushlight.utils._python_dispatch import TorchDispatchMode
from support import raises


class Marked(torch.Tensor):
    pass


class Own(nn.Parameter):
    pass


def test_a_parameter_of_a_class_stays_of_the_class():
    parameter = nn.Parameter(torch.ones(2).as_subclass(Marked))
    assert type(parameter) is Marked
    assert isinstance(parameter, nn.Parameter)
    assert parameter.requires_grad
    module = nn.Module()
    module.weight = parameter
    assert next(iter(module.parameters())) is parameter


def test_other_tensors_are_no_parameters():
    assert not isinstance(torch.ones(2), nn.Parameter)
    assert not isinstance(torch.ones(2).as_subclass(Marked), nn.Parameter)
    assert not isinstance(3, nn.Parameter)


def test_classes_of_parameters_are_made_of_any_tensor():
    assert type(Own(torch.ones(2))) is Own
    assert isinstance(Own(torch.ones(2)), nn.Parameter)
    assert not isinstance(nn.Parameter(torch.ones(2)), Own)


def test_a_mode_that_answers_no_operation_is_a_failure():
    class Declines(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            return NotImplemented

    text = (
        "Multiple dispatch failed for 'torch._ops.aten.ones.default'; all __torch_dispatch__ handlers returned "
        "NotImplemented:\n\n  - mode object <"
    )
    with Declines(), raises(TypeError, text):
        torch.ones(2)


def test_parameters_of_other_classes_say_so():
    class Own(torch.Tensor):
        pass

    parameter = torch.nn.Parameter(torch.ones(2).as_subclass(Own))
    assert type(parameter) is Own
    assert repr(parameter) == "Parameter(Own([1., 1.], requires_grad=True))"
    assert repr(parameter.detach()) == "Own([1., 1.])"

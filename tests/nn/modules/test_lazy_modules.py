"""Modules that learn their sizes, parameters without a shape, and buffers by assignment."""

import copy
import inspect

import pytest
import rushlight as torch
from rushlight import nn


def test_a_lazy_linear_layer_learns_its_size_and_becomes_a_linear_layer():
    layer = nn.LazyLinear(2)
    assert repr(layer.weight) == "<UninitializedParameter>"
    assert layer(torch.zeros(5, 3)).shape == (5, 2)
    assert type(layer) is nn.Linear
    assert type(layer.weight) is nn.Parameter
    assert layer.weight.shape == (2, 3)
    assert not layer._forward_pre_hooks


@pytest.mark.parametrize(
    ("make", "shape", "became"),
    [
        (lambda: nn.LazyConv1d(4, 3, padding=1), (2, 6, 5), nn.Conv1d),
        (lambda: nn.LazyConv2d(4, 3, groups=2, bias=False), (2, 6, 5, 5), nn.Conv2d),
        (lambda: nn.LazyConv3d(4, 1), (6, 2, 2, 2), nn.Conv3d),
        (lambda: nn.LazyConvTranspose1d(4, 3), (2, 6, 5), nn.ConvTranspose1d),
        (lambda: nn.LazyConvTranspose2d(4, 3, 2, 1, 1), (2, 6, 5, 5), nn.ConvTranspose2d),
        (lambda: nn.LazyBatchNorm1d(), (2, 6), nn.BatchNorm1d),
        (lambda: nn.LazyBatchNorm2d(affine=False), (2, 6, 5, 5), nn.BatchNorm2d),
        (lambda: nn.LazyInstanceNorm1d(), (2, 6, 5), nn.InstanceNorm1d),
        (lambda: nn.LazyInstanceNorm3d(affine=False), (2, 6, 2, 2, 2), nn.InstanceNorm3d),
    ],
)
def test_lazy_layers_learn_channels_from_the_first_input(make, shape, became):
    layer = make()
    assert layer.has_uninitialized_params()
    layer(torch.ones(shape))
    assert type(layer) is became
    assert 6 in (getattr(layer, "in_channels", 0), getattr(layer, "num_features", 0))


def test_what_has_no_shape_refuses_to_be_computed_with():
    weight = nn.LazyLinear(2).weight
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        _ = weight.shape
    with pytest.raises(ValueError, match="Attempted to use an uninitialized parameter in"):
        torch.sum(weight)


def test_a_state_gives_a_lazy_layer_its_shapes():
    layer = nn.LazyLinear(3)
    layer.load_state_dict({"weight": torch.ones(3, 4), "bias": torch.zeros(3)})
    assert layer(torch.ones(2, 4)).tolist() == [[4.0] * 3] * 2
    assert layer.in_features == 4


def test_a_layer_without_shapes_gives_none_to_one_that_has_them():
    with pytest.raises(RuntimeError, match="Can't access the shape of an uninitialized parameter or buffer"):
        nn.Linear(2, 2).load_state_dict(nn.LazyLinear(2).state_dict())


def test_lazy_layers_can_be_copied_and_converted_before_they_have_shapes():
    layer = copy.deepcopy(nn.LazyLinear(2)).double()
    assert layer(torch.ones(1, 3, dtype=torch.float64)).dtype == torch.float64


def test_an_uninitialized_parameter_becomes_a_parameter_of_its_type():
    parameter = nn.UninitializedParameter(requires_grad=False, dtype=torch.float64)
    parameter.materialize((2, 3))
    assert (type(parameter), parameter.shape, parameter.dtype) == (nn.Parameter, (2, 3), torch.float64)
    assert not parameter.requires_grad


def test_a_buffer_is_registered_by_assignment():
    module = nn.Module()
    module.kept = nn.Buffer(torch.ones(2))
    module.passing = nn.Buffer(torch.zeros(1), persistent=False)
    assert [name for name, _ in module.named_buffers()] == ["kept", "passing"]
    assert list(module.state_dict()) == ["kept"]
    module.kept = torch.zeros(2)
    assert module.kept.tolist() == [0.0, 0.0]
    assert isinstance(nn.Buffer(torch.ones(2)), nn.Buffer)
    assert not isinstance(torch.ones(2), nn.Buffer)


def test_a_buffer_cannot_be_assigned_before_the_module_is_there():
    class Early(nn.Module):
        def __init__(self):
            self.mean = nn.Buffer(torch.ones(2))

    with pytest.raises(AttributeError, match=r"cannot assign buffer before Module.__init__\(\) call"):
        Early()


def test_a_state_without_shapes_is_loaded_where_there_are_none():
    layer, other = torch.nn.LazyLinear(3), torch.nn.LazyLinear(3)
    assert not other.load_state_dict(layer.state_dict()).missing_keys
    assert other.has_uninitialized_params()


@pytest.mark.parametrize("name", ["requires_grad_", "detach", "numel"])
def test_what_has_no_shape_refuses_more(name):
    parameter = torch.nn.UninitializedParameter()
    with pytest.raises(
        ValueError, match=rf"^Attempted to use an uninitialized parameter in <method '{name}' of"
    ):
        getattr(parameter, name)()


def test_what_has_no_shape_has_a_size_of_nothing():
    assert torch.nn.UninitializedParameter().size() == (0,)


def test_classes_without_a_shape_are_known_from_one_place():
    for name in ("UninitializedParameter", "UninitializedBuffer", "UninitializedTensorMixin"):
        found = getattr(torch.nn.parameter, name)
        assert found.__module__ == torch.nn.parameter.__name__


@pytest.mark.parametrize("dimensions", [1, 2, 3])
def test_lazy_convolutions_name_their_arguments_as_others_do(dimensions):
    def names(kind):
        return list(inspect.signature(getattr(nn, f"{kind}{dimensions}d")).parameters)

    assert names("LazyConv") == names("Conv")[1:]
    assert names("LazyConvTranspose") == names("ConvTranspose")[1:]


def test_lazy_convolutions_refuse_what_they_do_not_know():
    with pytest.raises(TypeError, match="unexpected keyword argument 'shape'"):
        nn.LazyConv2d(3, 3, shape=1)
    with pytest.raises(TypeError, match="multiple values for argument 'stride'"):
        nn.LazyConv2d(3, 3, 1, stride=2)
    with pytest.raises(TypeError, match="takes from 3 to 12 positional arguments but 13 were given"):
        nn.LazyConvTranspose1d(3, 3, 1, 0, 0, 1, True, 1, "zeros", None, None, 5)

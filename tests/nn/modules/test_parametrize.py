"""Parameters that modules compute of others: registered, assigned, removed, copied, and under transforms."""

import copy
import pickle

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.func import functional_call, grad, stack_module_state, vmap
from rushlight.nn.utils import parametrize
from support import raises


class Symmetric(nn.Module):
    def forward(self, x):
        return x.triu() + x.triu(1).mT


class Skew(nn.Module):
    def forward(self, x):
        return x.triu(1) - x.triu(1).mT

    def right_inverse(self, value):
        return value.triu(1)


class Exponential(nn.Module):
    def forward(self, x):
        return torch.matrix_exp(x)


class Outer(nn.Module):
    def forward(self, left, right):
        return left[:, None] * right

    def right_inverse(self, value):
        return value[:, 0].clone(), value[0] / value[0, 0]


class Inverse(nn.Module):
    """Changes nothing on the way there, and does `back` on the way back."""

    def __init__(self, back):
        super().__init__()
        self.back = back

    def forward(self, x, *more):
        return x

    def right_inverse(self, value):
        return self.back(value)


class Made(nn.Module):
    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, x):
        return self.make(x)


def layer(*parametrizations):
    made = nn.Linear(3, 3)
    for parametrization in parametrizations:
        parametrize.register_parametrization(made, "weight", parametrization)
    return made


def test_the_original_stays_the_parameter_and_the_tensor_is_computed():
    made = nn.Linear(3, 3)
    weight = made.weight
    assert parametrize.register_parametrization(made, "weight", Symmetric()) is made
    assert made.parametrizations.weight.original is weight
    assert torch.equal(made.weight, made.weight.mT)
    assert "weight" not in made._parameters
    assert list(made.state_dict()) == ["bias", "parametrizations.weight.original"]
    assert type(made).__name__ == "ParametrizedLinear"
    assert parametrize.type_before_parametrizations(made) is nn.Linear
    made(torch.ones(2, 3)).sum().backward()
    assert weight.grad is not None and made.bias.grad is not None


def test_modules_in_a_row_compute_one_after_the_other():
    made = layer(Skew(), Exponential())
    torch.testing.assert_close(made.weight @ made.weight.mT, torch.eye(3))
    assert repr(made) == (
        "ParametrizedLinear(\n"
        "  in_features=3, out_features=3, bias=True\n"
        "  (parametrizations): ModuleDict(\n"
        "    (weight): ParametrizationList(\n"
        "      (0): Skew()\n"
        "      (1): Exponential()\n"
        "    )\n"
        "  )\n"
        ")"
    )


def test_assigned_values_go_through_the_inverse():
    made = layer(Skew())
    value = torch.tensor([[0.0, 1.0, 2.0], [-1.0, 0.0, 3.0], [-2.0, -3.0, 0.0]])
    made.weight = value
    assert torch.equal(made.weight, value)
    with raises(RuntimeError, "parametrization Symmetric does not implement right_inverse."):
        layer(Symmetric()).weight = value


def test_an_inverse_may_make_several_originals():
    made = layer(Outer())
    assert list(made.state_dict()) == [
        "bias",
        "parametrizations.weight.original0",
        "parametrizations.weight.original1",
    ]
    assert all(isinstance(parameter, nn.Parameter) for parameter in made.parameters())
    value = torch.outer(torch.tensor([1.0, 2.0, 3.0]), torch.tensor([1.0, 0.5, 2.0]))
    made.weight = value
    torch.testing.assert_close(made.weight, value)


def test_within_cached_a_tensor_is_computed_once():
    made = layer(Symmetric())
    with parametrize.cached():
        first = made.weight
        with parametrize.cached():
            assert made.weight is first
        assert made.weight is first
    assert made.weight is not first


def test_removing_leaves_the_present_value_or_the_original():
    made = layer(Symmetric())
    original, present = made.parametrizations.weight.original, made.weight.detach()
    assert parametrize.remove_parametrizations(made, "weight") is made
    assert made.weight is original and torch.equal(original, present)
    assert type(made) is nn.Linear and not hasattr(made, "parametrizations")
    made = layer(Symmetric())
    before = made.parametrizations.weight.original.detach().clone()
    parametrize.remove_parametrizations(made, "weight", leave_parametrized=False)
    assert torch.equal(made.weight, before)


def test_a_tensor_of_several_originals_cannot_go_back():
    made = layer(Outer())
    text = (
        "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is parametrized in terms of"
    )
    with raises(ValueError, text):
        parametrize.remove_parametrizations(made, "weight", leave_parametrized=False)
    parametrize.remove_parametrizations(made, "weight")
    assert isinstance(made.weight, nn.Parameter)
    with raises(ValueError, f"Module {made} does not have a parametrization on weight"):
        parametrize.remove_parametrizations(made, "weight")


REFUSED = [
    (Made(lambda x: x[:1]), "Registering a parametrization may not change the shape of the tensor, unless "),
    (
        Made(lambda x: x.double()),
        "Registering a parametrization may not change the dtype of the tensor, unless ",
    ),
    (Made(lambda x: 3), "A parametrization must return a tensor. Got int."),
    (
        Inverse(lambda x: 3),
        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). Got int",
    ),
    (
        Inverse(lambda x: x.double()),
        "When `right_inverse` outputs one tensor, it may not change the dtype.\n"
        "original.dtype: torch.float32\nright_inverse(original).dtype: torch.float64",
    ),
    (
        Inverse(lambda x: (x, 3)),
        "'right_inverse' must return a Tensor or a Sequence of tensors (list, tuple...). "
        "Got element 1 of the sequence with type int.",
    ),
]


@pytest.mark.parametrize(("parametrization", "text"), REFUSED)
def test_what_changes_a_tensor_too_much_is_refused(parametrization, text):
    with raises(ValueError, text):
        layer(parametrization)


def test_a_further_module_may_not_change_type_or_shape_either():
    text = (
        "Registering a parametrization may not change the shape of the tensor, unless the `unsafe` flag is "
        "enabled.\nmodule.weight.shape: torch.Size([3, 3])\nparametrization(module.weight).shape: "
        "torch.Size([1, 3])"
    )
    with raises(ValueError, text):
        layer(Symmetric(), Made(lambda x: x[:1]))
    text = (
        "The tensor returned by parametrization.right_inverse must have the same dtype as module.weight, unless "
        "the `unsafe` flag is enabled.\nmodule.weight.dtype: torch.float32\nreturned dtype: torch.float64"
    )
    with raises(ValueError, text):
        layer(Symmetric(), Inverse(lambda x: x.double()))


def test_unsafe_leaves_the_checks_out():
    made = nn.Linear(3, 3)
    parametrize.register_parametrization(made, "weight", Made(lambda x: x[:1]), unsafe=True)
    assert made.weight.shape == (1, 3)


def test_only_parameters_and_buffers_can_be_parametrized():
    made = nn.Linear(3, 3)
    text = f"Module '{made}' does not have a parameter, a buffer, or a parametrized element with name 'scale'"
    with raises(ValueError, text):
        parametrize.register_parametrization(made, "scale", Symmetric())


def test_copies_are_their_own_and_pickles_are_refused():
    made = layer(Symmetric())
    copied = copy.deepcopy(made)
    assert torch.equal(copied.weight, made.weight)
    assert copied.parametrizations.weight.original is not made.parametrizations.weight.original
    with raises(
        RuntimeError, "Serialization of parametrized modules is only supported through state_dict()."
    ):
        pickle.dumps(made)


def test_parametrizations_are_handed_on_with_their_originals():
    for parametrization in (Symmetric(), Outer()):
        made, other = layer(parametrization), nn.Linear(3, 3)
        parametrize.transfer_parametrizations_and_params(made, other)
        assert torch.equal(other.weight, made.weight)
        assert parametrize.is_parametrized(other, "weight")
        assert not parametrize.is_parametrized(other, "bias")


def test_functional_call_computes_with_other_originals():
    made = layer(Symmetric())
    originals = {"parametrizations.weight.original": torch.arange(9.0).view(3, 3), "bias": torch.zeros(3)}
    expected = Symmetric()(originals["parametrizations.weight.original"]).sum(1)
    torch.testing.assert_close(functional_call(made, originals, torch.ones(3)), expected)


def test_gradients_of_each_sample_pass_a_parametrization():
    made = layer(Symmetric())
    parameters = {name: parameter.detach() for name, parameter in made.named_parameters()}

    def loss(parameters, sample):
        return functional_call(made, parameters, sample).square().sum()

    samples = torch.randn(4, 3)
    found = vmap(grad(loss), in_dims=(None, 0))(parameters, samples)
    for index, sample in enumerate(samples):
        for name, expected in grad(loss)(parameters, sample).items():
            torch.testing.assert_close(found[name][index], expected)


def test_parametrized_modules_are_stacked_by_their_originals():
    made = layer(Symmetric())
    parameters, buffers = stack_module_state([made, copy.deepcopy(made)])
    assert {name: tuple(parameter.shape) for name, parameter in parameters.items()} == {
        "bias": (2, 3),
        "parametrizations.weight.original": (2, 3, 3),
    }
    assert buffers == {}

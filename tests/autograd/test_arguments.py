"""What the functions of autograd take for switches, and the old names of tensors."""

import warnings

import pytest
import rushlight as torch
from support import raises


@pytest.mark.parametrize("name", ["retain_graph", "create_graph"])
@pytest.mark.parametrize("value", ["yes", [], 1.5])
def test_a_switch_is_no_text_list_or_fraction(name, value):
    x = torch.ones(2, requires_grad=True)
    text = f"'{type(value).__name__}' object cannot be interpreted as an integer"
    with raises(TypeError, text):
        torch.autograd.grad(x.sum(), x, **{name: value})
    with raises(TypeError, text):
        x.sum().backward(**{name: value})


def test_a_small_integer_is_a_switch():
    x = torch.ones(2, requires_grad=True)
    y = (x * x).sum()
    y.backward(retain_graph=1)
    y.backward(retain_graph=0)
    assert x.grad.tolist() == [4.0, 4.0]
    with pytest.raises(RuntimeError, match="second time"):
        y.backward()


@pytest.mark.parametrize(
    ("switch", "name"),
    [
        (torch.autograd.set_multithreading_enabled, "set_multithreading_enabled"),
        (torch.autograd.enforce_grad_layout_policy, "set_grad_layout_enforcement_enabled"),
    ],
)
def test_modes_are_switched_by_truth_values(switch, name):
    with raises(TypeError, f"{name}(): argument 'enabled' (position 1) must be bool, not int"):
        switch(3)


def test_volatile_is_gone_and_says_so():
    with pytest.warns(UserWarning, match="volatile was removed and now has no effect"):
        torch.autograd.Variable(torch.ones(2), volatile=True)


def test_a_variable_of_integers_cannot_require_grad():
    with raises(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"):
        torch.autograd.Variable(torch.ones(2, dtype=torch.int64), requires_grad=True)


def test_a_node_of_ones_own_has_to_have_what_nodes_have():
    class Own(torch.autograd.graph.Node):
        pass

    with pytest.raises(TypeError, match="Can't instantiate abstract class Own"):
        Own()
    assert not isinstance((torch.ones(2, requires_grad=True) * 2).grad_fn, Own)


def test_a_root_with_many_elements_is_told_before_its_history_is_asked_for():
    class Flat(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x.view(-1)

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    x = torch.ones(2, requires_grad=True)
    y = Flat.apply(x)
    with torch.no_grad():
        x.mul_(2)
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        y.backward()


def test_a_root_without_history_is_told_without_a_word_of_circles():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with pytest.raises(RuntimeError, match="does not require grad"):
            torch.ones(()).backward(create_graph=True)
    assert not caught

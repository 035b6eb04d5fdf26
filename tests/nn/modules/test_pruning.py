"""Pruning: parameters some of whose elements a mask holds at zero."""

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.nn.utils import prune
from support import raises


@pytest.fixture
def layer():
    layer = nn.Linear(3, 2)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor([[1, -2, 3], [-4, 5, 0.5]]))
        layer.bias.copy_(torch.tensor([1.0, -3.0]))
    return layer


def hooks(module):
    return [type(hook).__name__ for hook in module._forward_pre_hooks.values()]


def test_a_pruned_parameter_is_a_product_with_a_mask(layer):
    assert not prune.is_pruned(layer)
    assert prune.l1_unstructured(layer, "weight", 2) is layer
    assert prune.is_pruned(nn.Sequential(layer)) and hooks(layer) == ["L1Unstructured"]
    assert sorted(layer.state_dict()) == ["bias", "weight_mask", "weight_orig"]
    assert [name for name, _ in layer.named_parameters()] == ["bias", "weight_orig"]
    assert layer.weight.tolist() == [[0, -2, 3], [-4, 5, 0]]
    assert layer.weight.grad_fn.name() == "MulBackward0"


def test_only_what_is_left_gets_a_gradient(layer):
    prune.l1_unstructured(layer, "weight", 2)
    with torch.no_grad():
        layer.weight_orig.fill_(2)
    layer(torch.ones(1, 3)).sum().backward()
    assert layer.weight.tolist() == [[0, 2, 2], [2, 2, 0]]
    assert layer.weight_orig.grad.tolist() == [[0, 1, 1], [1, 1, 0]]


def test_each_method_chooses_from_what_others_have_left(layer):
    prune.l1_unstructured(layer, "weight", 2)
    prune.l1_unstructured(layer, "weight", 0.5)
    assert layer.weight_mask.tolist() == [[0, 0, 0], [1, 1, 0]]
    prune.random_unstructured(layer, "weight", 1)
    assert layer.weight_mask.sum() == 1 and hooks(layer) == ["PruningContainer"]
    (container,) = layer._forward_pre_hooks.values()
    assert [type(method).__name__ for method in container] == ["L1Unstructured"] * 2 + ["RandomUnstructured"]
    assert len(container) == 3 and container[0]._tensor_name == container._tensor_name == "weight"


def test_what_is_removed_stays_zero(layer):
    prune.l1_unstructured(layer, "weight", 2)
    assert prune.remove(layer, "weight") is layer
    assert type(layer.weight) is nn.Parameter and layer.weight.is_leaf
    assert layer.weight.tolist() == [[0, -2, 3], [-4, 5, 0]]
    assert sorted(layer.state_dict()) == ["bias", "weight"] and hooks(layer) == []
    with raises(
        ValueError, f"Parameter 'weight' of module {layer} has to be pruned before pruning can be removed"
    ):
        prune.remove(layer, "weight")


@pytest.mark.parametrize(("amount", "left"), [(0, 6), (1, 5), (6, 0), (0.3, 4), (0.5, 3), (1.0, 0)])
def test_an_amount_is_a_number_or_a_share(layer, amount, left):
    prune.random_unstructured(layer, "weight", amount)
    assert layer.weight_mask.sum() == left


@pytest.mark.parametrize(
    ("amount", "error", "message"),
    [
        (7, ValueError, "amount=7 should be smaller than the number of parameters to prune=6"),
        (
            -1,
            ValueError,
            "amount=-1 should either be a float in the range [0, 1] or a non-negative integer",
        ),
        (
            1.5,
            ValueError,
            "amount=1.5 should either be a float in the range [0, 1] or a non-negative integer",
        ),
        ("a", TypeError, "Invalid type for amount: a. Must be int or float."),
    ],
)
def test_what_cannot_be_pruned_stays_as_it_is(layer, amount, error, message):
    for function in (prune.l1_unstructured, prune.random_unstructured):
        with raises(error, message):
            function(layer, "weight", amount)
    assert type(layer.weight) is nn.Parameter and sorted(layer.state_dict()) == ["bias", "weight"]


@pytest.mark.parametrize(
    ("amount", "n", "dim", "mask"),
    [
        (1, 2, 0, [[0, 0, 0], [1, 1, 1]]),
        (1, 1, 1, [[1, 1, 0], [1, 1, 0]]),
        (0.34, float("inf"), -1, [[1, 1, 0], [1, 1, 0]]),
        (1, "fro", 1, [[1, 1, 0], [1, 1, 0]]),
        (0, 2, 0, [[1, 1, 1], [1, 1, 1]]),
    ],
)
def test_slices_with_the_least_norms_are_pruned(layer, amount, n, dim, mask):
    assert prune.ln_structured(layer, "weight", amount, n, dim).weight_mask.tolist() == mask


def test_slices_are_pruned_of_those_that_are_left(layer):
    prune.ln_structured(layer, "weight", 1, 2, 1)
    prune.ln_structured(layer, "weight", 0.5, 2, 1)
    assert layer.weight_mask.tolist() == [[0, 1, 0], [0, 1, 0]]
    prune.random_structured(layer, "weight", 1, 0)
    assert layer.weight_mask.sum() == 1


def test_slices_lie_along_a_dimension(layer):
    with raises(IndexError, "Invalid index 2 for tensor of size torch.Size([2, 3])"):
        prune.ln_structured(layer, "weight", 1, 2, 2)
    with raises(
        ValueError,
        "Structured pruning can only be applied to multidimensional tensors. Found tensor of shape torch.Size([2]) "
        "with 1 dims",
    ):
        prune.random_structured(layer, "bias", 1, 0)


def test_scores_may_be_others_than_the_elements(layer):
    scores = torch.arange(6.0).view(2, 3)
    prune.l1_unstructured(layer, "weight", 2, importance_scores=scores)
    assert layer.weight_mask.tolist() == [[0, 0, 1], [1, 1, 1]]
    message = (
        f"importance_scores should have the same shape as parameter bias of {layer}, got torch.Size([2, 3]) vs "
        "torch.Size([2])"
    )
    with raises(AssertionError, message):
        prune.l1_unstructured(layer, "bias", 1, importance_scores=scores)


def test_a_mask_may_be_given(layer):
    prune.identity(layer, "bias")
    assert layer.bias_mask.tolist() == [1, 1]
    assert prune.custom_from_mask(layer, "bias", torch.tensor([0, 1])).bias.tolist() == [0, -3]
    message = "default_mask shape torch.Size([2]) must match self.mask shape torch.Size([3])"
    with raises(AssertionError, message):
        prune.custom_from_mask(layer, "bias", torch.tensor([0, 1, 1]))


def test_parameters_are_pruned_as_if_they_were_one(layer):
    other = nn.Linear(2, 2)
    with torch.no_grad():
        other.bias.copy_(torch.tensor([0.1, -9.0]))
    pairs = [(layer, "weight"), (other, "bias")]
    prune.global_unstructured(pairs, pruning_method=prune.L1Unstructured, amount=0.5)
    assert layer.weight_mask.tolist() == [[0, 0, 1], [1, 1, 0]] and other.bias_mask.tolist() == [0, 1]
    assert hooks(layer) == hooks(other) == ["CustomFromMask"]
    scores = {(layer, "weight"): torch.tensor([[0, 0, 1.0], [2, 3, 0]])}
    prune.global_unstructured(tuple(pairs), prune.L1Unstructured, importance_scores=scores, amount=2)
    assert layer.weight_mask.tolist() == [[0, 0, 0], [0, 1, 0]] and other.bias_mask.tolist() == [0, 1]


def test_parameters_are_pruned_together_element_by_element(layer):
    with raises(TypeError, "global_unstructured(): parameters is not an Iterable"):
        prune.global_unstructured(3, prune.L1Unstructured, amount=2)
    with raises(TypeError, "global_unstructured(): importance_scores must be of type dict"):
        prune.global_unstructured([(layer, "bias")], prune.L1Unstructured, importance_scores=3, amount=2)
    message = 'Only "unstructured" PRUNING_TYPE supported for the `pruning_method`. Found method '
    with raises(TypeError, f"{message}{prune.LnStructured} of type structured"):
        prune.global_unstructured([(layer, "weight")], prune.LnStructured, amount=1, n=2)


class EverySecond(prune.BasePruningMethod):
    PRUNING_TYPE = "unstructured"

    def compute_mask(self, t, default_mask):
        mask = default_mask.clone()
        mask.view(-1)[::2] = 0
        return mask


def test_a_method_can_be_written(layer):
    method = EverySecond.apply(layer, "bias")
    assert isinstance(method, EverySecond) and layer.bias.tolist() == [0, -3]
    t = torch.tensor([1.0, 2.0, 3.0])
    assert method.prune(t).tolist() == [0, 2, 0]
    assert method.prune(t, default_mask=torch.tensor([1, 0, 1])).tolist() == [0, 0, 0]
    with raises(
        AssertionError,
        "importance_scores should have the same shape as tensor t, got torch.Size([2]) vs torch.Size([3])",
    ):
        method.prune(t, importance_scores=t[:2])
    with pytest.raises(TypeError, match="abstract"):
        prune.BasePruningMethod()


def test_a_container_wants_methods_of_one_parameter(layer):
    first, second = EverySecond(), EverySecond()
    first._tensor_name, second._tensor_name = "x", "y"
    container = prune.PruningContainer(first)
    container.add_pruning_method(None)
    with raises(TypeError, "<class 'int'> is not a BasePruningMethod subclass"):
        container.add_pruning_method(3)
    message = (
        f"Can only add pruning methods acting on the parameter named 'x' to PruningContainer {container}. "
        "Found 'y'"
    )
    with raises(ValueError, message):
        container.add_pruning_method(second)
    EverySecond.PRUNING_TYPE, before = "other", EverySecond.PRUNING_TYPE
    try:
        prune.identity(layer, "bias")
        with raises(ValueError, "Unrecognized PRUNING_TYPE other"):
            EverySecond.apply(layer, "bias")
    finally:
        EverySecond.PRUNING_TYPE = before


def test_masks_are_loaded_with_the_rest(layer):
    prune.l1_unstructured(layer, "weight", 2)
    other = prune.identity(nn.Linear(3, 2), "weight")
    other.load_state_dict(layer.state_dict())
    other(torch.ones(1, 3))
    assert torch.equal(other.weight, layer.weight)


def test_chance_prunes_what_drew_the_largest_numbers():
    torch.manual_seed(0)
    layer = nn.Linear(4, 3)
    prune.random_unstructured(layer, "weight", 5)
    assert layer.weight_mask.tolist() == [[1, 0, 0, 1], [1, 1, 0, 1], [0, 1, 1, 0]]

"""`x.data = y` after `x` was used: a graph keeps tensors, not their memory, and finds the new numbers."""

import pytest
import rushlight as torch
from custom_functions.square import Square
from rushlight.utils.checkpoint import checkpoint

NEW = [10.0, 20.0]


def pair():
    return torch.tensor([1.0, 2.0], requires_grad=True)


def test_an_operation_that_keeps_a_leaf_sees_its_new_data():
    x = pair()
    y = (x * x).sum()
    x.data = torch.tensor(NEW)
    assert y.grad_fn.next_functions[0][0]._saved_self.tolist() == NEW
    y.backward()
    assert x.grad.tolist() == [20.0, 40.0]


def test_data_of_a_tensor_without_history_is_replaced_for_backward_too():
    weight, x = torch.ones(2, requires_grad=True), torch.tensor([1.0, 2.0])
    y = (weight * x).sum()
    x.data = torch.tensor(NEW)
    y.backward()
    assert weight.grad.tolist() == NEW


def test_a_result_that_the_next_operation_keeps():
    x = pair()
    z = x * 2
    y = (z * z).sum()
    z.data = torch.tensor(NEW)
    y.backward()
    assert x.grad.tolist() == [40.0, 80.0]


def test_what_an_operation_keeps_of_its_own_result_stays():
    x = torch.zeros(2, requires_grad=True)
    z = x.exp()
    y = z.sum()
    z.data = torch.tensor(NEW)
    y.backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_others_that_show_the_same_memory_stay():
    weight, x = torch.ones(2, requires_grad=True), pair()
    y = (weight * x.detach()).sum()
    x.data = torch.tensor(NEW)
    y.backward()
    assert weight.grad.tolist() == [1.0, 2.0]


def test_two_leaves_may_exchange_their_data():
    a, b = pair(), torch.tensor([3.0, 4.0], requires_grad=True)
    y = (a * b).sum()
    a.data, b.data = b.data, a.data
    y.backward()
    assert (a.grad.tolist(), b.grad.tolist()) == ([1.0, 2.0], [3.0, 4.0])


@pytest.mark.parametrize("before", [True, False])
def test_writes_are_counted_on(before):
    z = pair() * 1
    y = (z * z).sum()
    if before:
        z.add_(1)
    z.data = torch.tensor(NEW)
    if not before:
        z.add_(1)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        y.backward()


def test_of_another_shape_they_do_not_fit():
    x = pair()
    y = (x * x).sum()
    x.data = torch.ones(3)
    with pytest.raises(
        RuntimeError, match=r"The size of tensor a \(2\) must match the size of tensor b \(3\)"
    ):
        y.backward()


def test_functions_of_ones_own_and_checkpoints_see_replaced_data_too():
    for function in (Square.apply, lambda x: checkpoint(lambda x: x * x, x, use_reentrant=False)):
        x = pair()
        y = function(x).sum()
        x.data = torch.tensor(NEW)
        y.backward()
        assert x.grad.tolist() == [20.0, 40.0]


def test_a_view_that_an_operation_made_of_it_stays():
    layer, x = torch.nn.Linear(2, 1, bias=False), torch.ones(1, 2, requires_grad=True)
    before = layer.weight.detach().clone()
    y = layer(x).sum()
    layer.weight.data = torch.tensor([NEW])
    y.backward()
    assert torch.equal(x.grad, before)


@pytest.mark.parametrize("data", [torch.ones(3), torch.ones(5, 7)])
def test_rules_of_matrices_refuse_data_of_another_form(data):
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    weight = torch.ones(2, 2, requires_grad=True)
    y = weight @ x
    x.data = data
    with pytest.raises(RuntimeError):
        torch.autograd.grad(y.sum(), weight)


def test_data_of_another_type_is_what_it_is():
    weight, x = torch.ones(2, requires_grad=True), torch.tensor([1.0, 2.0])
    y = (weight * x).sum()
    x.data = torch.tensor([10.0, 20.0], dtype=torch.float64)
    y.backward()
    assert weight.grad.tolist() == [10.0, 20.0]
    assert weight.grad.dtype == torch.float32


def test_data_that_can_be_repeated_is():
    weight, x = torch.ones(2, requires_grad=True), torch.tensor([1.0, 2.0])
    y = (weight * x).sum()
    x.data = torch.tensor([10.0])
    y.backward()
    assert weight.grad.tolist() == [10.0, 10.0]

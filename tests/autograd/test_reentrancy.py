"""A backward inside a backward, and what a failed backward leaves behind."""

import pytest
import rushlight as torch
from support import assert_tensor, leaf


def test_a_hook_may_run_a_backward_of_another_graph():
    x, w = leaf(2.0), leaf(3.0)

    def hook(gradient):
        with torch.enable_grad():
            (w * w).sum().backward()

    x.register_hook(hook)
    (x * x).sum().backward()
    assert_tensor(x.grad, [4.0])
    assert_tensor(w.grad, [6.0])


def test_a_hook_may_build_and_differentiate_a_new_graph_of_the_same_leaf():
    x = leaf(2.0)
    y = x * 3

    def hook(gradient):
        with torch.enable_grad():
            (x * x * 10).sum().backward()

    y.register_hook(hook)
    y.sum().backward()
    assert_tensor(x.grad, [40.0 + 3.0])


def test_a_hook_may_call_grad_and_use_the_result():
    x = leaf(2.0)
    y = x * 3

    def hook(gradient):
        with torch.enable_grad():
            (inner,) = torch.autograd.grad((x * x).sum(), x)
        return gradient * inner

    y.register_hook(hook)
    y.sum().backward()
    assert_tensor(x.grad, [12.0])


def test_backwards_nest_fifty_deep():
    x = leaf(1.0)
    depth = 50

    def descend(level):
        with torch.enable_grad():
            y = x * level
            if level < depth:
                y.register_hook(lambda g: descend(level + 1))
            y.sum().backward()

    descend(1)
    assert_tensor(x.grad, [sum(range(1, depth + 1))])


def test_a_failure_in_an_inner_backward_comes_out_of_the_outer_one():
    x = leaf(2.0)

    def hook(gradient):
        torch.ones(2, requires_grad=True).backward()

    x.register_hook(hook)
    with pytest.raises(RuntimeError, match="grad can be implicitly created only for scalar outputs"):
        x.sum().backward()
    assert x.grad is None


def test_the_engine_works_after_a_failed_backward():
    x = leaf(2.0)
    handle = x.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        (x * x).sum().backward()
    handle.remove()
    (x * x).sum().backward()
    assert_tensor(x.grad, [4.0])


def test_grad_mode_is_put_back_after_a_failed_backward():
    x = leaf(2.0)
    x.register_hook(lambda g: 1 / 0)
    for create_graph in (False, True):
        with torch.no_grad(), pytest.raises(ZeroDivisionError):
            torch.autograd.grad(leaf_loss(x), x, create_graph=create_graph)
        assert torch.is_grad_enabled()


def leaf_loss(x):
    with torch.enable_grad():
        return (x * x).sum()


def test_a_failure_before_any_leaf_leaves_every_gradient_as_it_was():
    x, w = leaf(2.0), leaf(3.0)
    x.grad = torch.tensor([7.0], dtype=torch.float64)
    y = x * w
    y.register_hook(lambda g: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        y.sum().backward()
    assert_tensor(x.grad, [7.0])
    assert w.grad is None


def test_a_failed_check_of_arguments_leaves_every_gradient_as_it_was():
    x = leaf(2.0, 3.0)
    x.grad = torch.tensor([7.0, 7.0], dtype=torch.float64)
    with pytest.raises(RuntimeError):
        (x * x).backward(torch.ones(5))
    assert_tensor(x.grad, [7.0, 7.0])


@pytest.mark.own
def test_a_failure_late_in_the_graph_is_all_or_nothing():
    leaves = [leaf(float(i)) for i in range(1, 20)]
    leaves[10].register_hook(lambda g: 1 / 0)
    total = sum((x * x).sum() for x in leaves)
    with pytest.raises(ZeroDivisionError):
        total.backward()
    states = {x.grad is None for x in leaves}
    assert len(states) == 1


def test_a_saved_value_changed_in_place_fails_and_leaves_gradients_whole():
    x = leaf(2.0)
    y = x * 1
    z = y * y
    y.add_(1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        z.sum().backward()
    assert x.grad is None


def test_a_backward_inside_no_grad_accumulates_as_usual():
    x = leaf(2.0)
    y = (x * x).sum()
    with torch.no_grad():
        y.backward()
    assert_tensor(x.grad, [4.0])
    assert not x.grad.requires_grad


@pytest.mark.filterwarnings("ignore:Using backward")
def test_create_graph_makes_gradients_that_can_be_differentiated():
    x = leaf(2.0)
    torch.autograd.backward((x**3).sum(), create_graph=True)
    assert x.grad.requires_grad and x.grad.grad_fn is not None
    (second,) = torch.autograd.grad(x.grad.sum(), x)
    assert_tensor(second, [12.0])

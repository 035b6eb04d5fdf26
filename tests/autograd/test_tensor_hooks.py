"""Hooks on tensors: `register_hook`, `retain_grad`, `register_post_accumulate_grad_hook`."""

import gc
import weakref

import pytest
import rushlight as torch
from support import assert_tensor, leaf, raises


def test_a_hook_sees_the_gradient():
    seen = []
    x = leaf(1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: seen.append(g.tolist()))
    (y * y).sum().backward()
    assert seen == [[6.0, 12.0]]


def test_a_hook_sees_the_sum_of_all_uses_once():
    seen = []
    x = leaf(2.0)
    x.register_hook(lambda g: seen.append(g.item()))
    (x * x + x * 3).sum().backward()
    assert seen == [7.0]


def test_a_returned_tensor_replaces_the_gradient():
    x = leaf(1.0, 2.0)
    x.register_hook(lambda g: g * 10)
    x.sum().backward()
    assert_tensor(x.grad, [10.0, 10.0])


def test_an_inner_replacement_reaches_everything_before_it():
    x = leaf(1.0, 2.0)
    y = x * 3
    y.register_hook(lambda g: g * 0 + 1)
    (y * 100).sum().backward()
    assert_tensor(x.grad, [3.0, 3.0])


def test_hooks_run_in_the_order_of_registration_each_on_the_result_of_the_one_before():
    x = leaf(1.0)
    x.register_hook(lambda g: g + 1)
    x.register_hook(lambda g: g * 10)
    x.sum().backward()
    assert_tensor(x.grad, [20.0])


def test_a_removed_hook_no_longer_runs():
    seen = []
    x = leaf(1.0)
    first = x.register_hook(lambda g: seen.append("first"))
    x.register_hook(lambda g: seen.append("second"))
    first.remove()
    x.sum().backward()
    assert seen == ["second"]
    first.remove()


def test_a_handle_is_a_context_manager():
    seen = []
    x = leaf(1.0)
    with x.register_hook(seen.append):
        x.sum().backward()
    x.sum().backward()
    assert len(seen) == 1


def test_a_hook_may_remove_itself_while_it_runs():
    seen = []
    x = leaf(1.0)

    def once(gradient):
        seen.append(gradient.item())
        handle.remove()

    handle = x.register_hook(once)
    x.sum().backward()
    x.sum().backward()
    assert seen == [1.0]


def test_a_hook_on_a_leaf_runs_at_every_backward():
    seen = []
    x = leaf(1.0)
    x.register_hook(lambda g: seen.append(1))
    for _ in range(3):
        x.sum().backward()
    assert len(seen) == 3


def test_a_hook_on_a_leaf_runs_for_autograd_grad_too():
    x = leaf(1.0)
    x.register_hook(lambda g: g * 5)
    (g,) = torch.autograd.grad(x.sum(), x)
    assert_tensor(g, [5.0])
    assert x.grad is None


def test_a_hook_does_not_run_for_a_tensor_off_the_path():
    seen = []
    x, w = leaf(1.0), leaf(2.0)
    y = w * 2
    y.register_hook(seen.append)
    (x.sum() + y.sum() * 0).backward(inputs=[x])
    assert seen == []


def test_a_raising_hook_stops_the_backward_with_its_own_exception():
    class Odd(Exception):
        pass

    def hook(gradient):
        raise Odd("no")

    x = leaf(1.0)
    x.register_hook(hook)
    with raises(Odd, "no"):
        x.sum().backward()
    assert x.grad is None


def test_gradients_in_hooks_have_no_history_unless_asked():
    seen = []
    x = leaf(2.0)
    x.register_hook(lambda g: seen.append(g.requires_grad))
    (x * x).sum().backward()
    torch.autograd.grad((x * x * x).sum(), x, create_graph=True)
    assert seen == [False, True]


def test_grad_mode_in_a_hook_follows_create_graph():
    seen = []
    x = leaf(2.0)
    x.register_hook(lambda g: seen.append(torch.is_grad_enabled()))
    (x * x).sum().backward()
    torch.autograd.grad((x * x).sum(), x, create_graph=True)
    assert seen == [False, True]


def test_a_hook_receives_a_value_that_is_not_yet_accumulated():
    seen = []
    x = leaf(1.0)
    x.register_hook(lambda g: seen.append(None if x.grad is None else x.grad.item()))
    x.sum().backward()
    x.sum().backward()
    assert seen == [None, 1.0]


def test_a_hook_registered_after_an_in_place_change_sees_the_gradient_of_the_new_value():
    seen = []
    x = leaf(1.0, 2.0)
    y = x * 2
    y.register_hook(lambda g: seen.append(("before", g.tolist())))
    y.mul_(3)
    y.register_hook(lambda g: seen.append(("after", g.tolist())))
    y.sum().backward()
    assert seen == [("after", [1.0, 1.0]), ("before", [3.0, 3.0])]


def test_retain_grad_keeps_the_gradient_of_an_inner_tensor():
    x = leaf(1.0, 2.0)
    y = x * 3
    assert not y.retains_grad
    y.retain_grad()
    assert y.retains_grad
    (y * y).sum().backward()
    assert_tensor(y.grad, [6.0, 12.0])


def test_retained_gradients_add_up():
    x = leaf(1.0)
    y = x * 3
    y.retain_grad()
    for _ in range(2):
        y.sum().backward(retain_graph=True)
    assert_tensor(y.grad, [2.0])


def test_retain_grad_on_a_leaf_changes_nothing():
    x = leaf(1.0)
    x.retain_grad()
    assert not x.retains_grad
    x.sum().backward()
    assert_tensor(x.grad, [1.0])


def test_retain_grad_sees_what_hooks_made_even_of_hooks_registered_later():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.register_hook(lambda g: g * 7)
    y.sum().backward()
    assert_tensor(y.grad, [7.0])


def test_retain_grad_twice_counts_once():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.retain_grad()
    y.sum().backward()
    assert_tensor(y.grad, [1.0])


def test_retain_grad_follows_the_tensor_through_an_in_place_change():
    x = leaf(1.0)
    y = x * 2
    y.retain_grad()
    y.mul_(5)
    y.sum().backward()
    assert_tensor(y.grad, [1.0])


def test_a_post_accumulate_hook_sees_the_leaf_with_its_gradient():
    seen = []
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda t: seen.append((t is x, t.grad.item())))
    x.sum().backward()
    x.sum().backward()
    assert seen == [(True, 1.0), (True, 2.0)]


def test_a_post_accumulate_hook_may_free_the_gradient():
    x = leaf(1.0, 2.0)

    def step(tensor):
        with torch.no_grad():
            tensor -= 0.5 * tensor.grad
        tensor.grad = None

    x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    assert x.grad is None
    assert_tensor(x, [0.0, 0.0])


def test_post_accumulate_hooks_run_after_tensor_hooks_and_do_not_run_for_autograd_grad():
    seen = []
    x = leaf(1.0)
    x.register_post_accumulate_grad_hook(lambda t: seen.append("post"))
    x.register_hook(lambda g: seen.append("hook"))
    torch.autograd.grad(x.sum(), x)
    x.sum().backward()
    assert seen == ["hook", "hook", "post"]


def test_a_removed_post_accumulate_hook_no_longer_runs():
    seen = []
    x = leaf(1.0)
    handle = x.register_post_accumulate_grad_hook(seen.append)
    handle.remove()
    x.sum().backward()
    assert seen == []


@pytest.mark.own
def test_a_hook_that_refers_to_its_own_tensor_does_not_leak():
    x = leaf(1.0)
    y = x * 2
    y.register_hook(lambda g, me=y: me.detach())
    gone = weakref.ref(y)
    del y
    gc.collect()
    assert gone() is None


def test_a_hook_cannot_make_truth_values_of_a_gradient():
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda gradient: gradient > 0)
    with raises(
        RuntimeError,
        "hook '<lambda>' has changed the type of value (was torch.FloatTensor got CPUBoolType)",
    ):
        x.sum().backward()


def test_a_root_that_stands_alone_shows_its_gradient_though_it_leads_to_nothing_wanted():
    seen = []
    x, other = leaf(1.0, 2.0), leaf(3.0)
    y = x * 2
    for tensor, name in ((x, "x"), (y, "y")):
        tensor.register_hook(lambda gradient, name=name: seen.append((name, gradient.tolist())))
    x.register_post_accumulate_grad_hook(lambda tensor: seen.append("accumulated"))
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gradients: seen.append("node"))
    torch.autograd.backward([y], [torch.ones(2)], inputs=[other], retain_graph=True)
    assert torch.autograd.grad(y, other, torch.ones(2), retain_graph=True, allow_unused=True) == (None,)
    torch.autograd.backward([x], [torch.ones(2)], inputs=[other])
    assert seen == [("y", [1.0, 1.0]), ("y", [1.0, 1.0]), ("x", [1.0, 1.0])]
    assert y.grad.tolist() == [2.0, 2.0]
    assert x.grad is None


def test_of_several_roots_those_that_lead_to_nothing_wanted_show_nothing():
    seen = []
    x, other = leaf(1.0, 2.0), leaf(3.0)
    y, z = x * 2, other * 3
    y.register_hook(seen.append)
    torch.autograd.backward([y, z], [torch.ones(2), torch.ones(1)], inputs=[other])
    assert seen == []

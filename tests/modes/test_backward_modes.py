"""Switches of backward: whether it may use other threads, how first gradients lie in memory."""

import threading

import pytest
import rushlight as torch


def busy(scale=1.0):
    """A graph that is worth several threads, and its leaf."""
    w = torch.linspace(0, 1, 250 * 250).reshape(250, 250).requires_grad_()
    return w, sum(((w * (i + scale)) @ w).tanh().sum() for i in range(4))


@pytest.fixture(autouse=True)
def _switched_on_again():
    yield
    torch.autograd.set_multithreading_enabled(True)
    torch.autograd.enforce_grad_layout_policy(True)


def test_multithreading_is_on_and_switches_at_once_or_for_a_block():
    enabled = torch.autograd.is_multithreading_enabled
    assert enabled()
    with torch.autograd.set_multithreading_enabled(False):
        assert not enabled()
        with torch.autograd.set_multithreading_enabled(True):
            assert enabled()
        assert not enabled()
    assert enabled()
    torch.autograd.set_multithreading_enabled(False)
    assert not enabled()


def test_multithreading_is_off_in_inference_mode():
    with torch.inference_mode():
        assert not torch.autograd.is_multithreading_enabled()
    assert torch.autograd.is_multithreading_enabled()


def test_multithreading_is_a_matter_of_each_thread():
    seen = []
    with torch.autograd.set_multithreading_enabled(False):
        thread = threading.Thread(target=lambda: seen.append(torch.autograd.is_multithreading_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_it_decorates_a_function():
    @torch.autograd.set_multithreading_enabled(False)
    def function():
        return torch.autograd.is_multithreading_enabled()

    torch.autograd.set_multithreading_enabled(True)
    assert not function()
    assert torch.autograd.is_multithreading_enabled()


def test_gradients_are_the_same_on_one_thread():
    w, total = busy()
    total.backward()
    with torch.autograd.set_multithreading_enabled(False):
        v, total = busy()
        total.backward()
    assert torch.allclose(w.grad, v.grad)


def test_a_first_gradient_lies_as_its_leaf_does():
    x = torch.ones(3, 2).t().requires_grad_()
    (x * 2).sum().backward()
    assert x.grad.stride() == x.stride() == (1, 2)


def test_without_the_policy_a_first_gradient_is_taken_as_it_comes():
    x = torch.ones(3, 2).t().requires_grad_()
    with torch.autograd.enforce_grad_layout_policy(False):
        x.backward(torch.ones(2, 3) * 2)
    assert x.grad.tolist() == [[2.0] * 3] * 2
    x.grad = None
    with torch.autograd.enforce_grad_layout_policy():
        (x * 2).sum().backward()
    assert x.grad.stride() == (1, 2)

"""`detach_`: who may forget its history, and what becomes of views and of what was saved."""

import pytest
import rushlight as torch

SAVED = (
    r"Trying to use a saved tensor that has been detached in-place, i\.e\. with \.detach_\(\)\."
    r"This is not supported, please use out-of-place `\.detach\(\)` instead"
)


def test_an_input_that_was_saved_must_not_forget_its_history():
    x = torch.ones(2, requires_grad=True).clone()
    y = x.sin()
    x.detach_()
    with pytest.raises(RuntimeError, match=SAVED):
        y.sum().backward()


def test_it_is_told_before_a_write_is():
    x = torch.ones(2, requires_grad=True).clone()
    y = x * x
    x.detach_()
    x.add_(1)
    with pytest.raises(RuntimeError, match=SAVED):
        y.sum().backward()


def test_an_output_that_was_saved_may_forget_its_history():
    x = torch.zeros(2, requires_grad=True)
    y = x.exp()
    z = y.sum()
    y.detach_()
    z.backward()
    assert x.grad.tolist() == [1, 1]


def test_a_leaf_that_was_saved_may_stop_to_require_grad():
    x = torch.ones(2, requires_grad=True)
    y = x * x
    x.detach_()
    y.sum().backward()
    assert not x.requires_grad


def test_a_view_that_was_saved_is_not_its_base():
    leaf = torch.ones(2, requires_grad=True)
    x = leaf.clone()
    view = x.view(2)
    y = view * view
    x.detach_()
    y.sum().backward()
    assert leaf.grad.tolist() == [2, 2]


def test_what_was_saved_is_shown_without_history():
    x = torch.ones(2, requires_grad=True).clone()
    y = x * x
    x.detach_()
    assert not y.grad_fn._saved_self.requires_grad
    assert y.grad_fn._saved_self.tolist() == [1, 1]


def test_a_graph_that_does_not_need_it_goes_on():
    leaf = torch.ones(2, requires_grad=True)
    x = leaf.clone()
    y = x * 3
    x.detach_()
    y.sum().backward()
    assert leaf.grad.tolist() == [3, 3]


def test_in_inference_mode_nothing_is_forgotten():
    leaf = torch.ones(2, requires_grad=True)
    x = leaf * 2
    view = x.view(2)
    with torch.inference_mode():
        assert leaf.detach_() is leaf
        assert x.detach_() is x
        assert view.detach_() is view
        assert torch.detach_(x) is x
    assert leaf.requires_grad
    assert x.grad_fn is not None
    assert view.grad_fn is not None


@pytest.mark.parametrize("leaf", [True, False])
def test_a_view_of_what_was_forgotten_and_written_is_a_window_on_nothing(leaf):
    x = torch.ones(2, requires_grad=True)
    base = x if leaf else x * 2
    view = base.view(2)
    base.detach_()
    base.add_(1)
    assert view.requires_grad
    assert not view.is_leaf
    assert view.grad_fn.name() == "AsStridedBackward0"
    assert view.grad_fn.next_functions[0][0] is None
    view.sum().backward()
    assert x.grad is None

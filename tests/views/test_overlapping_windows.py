"""Writes to views that show elements several times: windows are written one after the other."""

import pytest
import rushlight as torch

REFUSAL = (
    r"unsupported operation: more than one element of the written-to tensor refers to a single memory location\. "
    r"Please clone\(\) the tensor before performing the operation\."
)


def windows():
    x = torch.arange(6.0)
    return x, x.unfold(0, 3, 1)


def test_each_window_sees_what_was_written_to_those_before():
    x, view = windows()
    view.add_(1)
    assert x.tolist() == [1, 3, 5, 6, 6, 6]
    x, view = windows()
    view.mul_(2)
    assert x.tolist() == [0, 4, 16, 24, 16, 10]
    x, view = windows()
    view.neg_()
    assert x.tolist() == [0, 1, -2, -3, 4, -5]


def test_the_last_window_wins():
    x, view = windows()
    view.copy_(torch.arange(12.0).reshape(4, 3))
    assert x.tolist() == [0, 3, 6, 9, 10, 11]
    x, view = windows()
    view[:] = torch.arange(12.0).reshape(4, 3)
    assert x.tolist() == [0, 3, 6, 9, 10, 11]
    assert x._version == 1


def test_operands_are_taken_from_their_own_windows():
    x, view = windows()
    view.add_(torch.arange(12.0).reshape(4, 3))
    assert x.tolist() == [0, 5, 14, 24, 22, 16]


def test_a_number_may_be_assigned_to_windows():
    x, view = windows()
    view[:] = 9.0
    assert x.tolist() == [9] * 6


def test_elements_that_are_not_named_stay():
    x, view = windows()
    view.scatter_(0, torch.zeros(1, 3, dtype=torch.long), 9.0)
    assert x.tolist() == [9, 9, 9, 3, 4, 5]
    x, view = windows()
    view.index_add_(0, torch.tensor([0]), torch.ones(1, 3))
    assert x.tolist() == [1, 2, 3, 3, 4, 5]
    x, view = windows()
    view.index_copy_(0, torch.tensor([0]), torch.ones(1, 3))
    assert x.tolist() == [1, 1, 1, 3, 4, 5]


@pytest.mark.parametrize(
    ("size", "stride", "written"),
    [
        ((3, 2), (1, 1), [1, 3, 4, 4, 4, 5, 6, 7, 8, 9, 10, 11]),
        ((2, 4), (3, 2), [1, 1, 3, 4, 5, 6, 7, 8, 8, 10, 10, 11]),
        ((2, 2, 3), (6, 2, 1), [1, 2, 4, 4, 5, 5, 7, 8, 10, 10, 11, 11]),
    ],
)
def test_windows_of_any_strides_may_be_written_to(size, stride, written):
    x = torch.arange(12.0)
    x.as_strided(size, stride).add_(1)
    assert x.tolist() == written


def test_gradients_pass_through_windows():
    x = torch.arange(6.0, requires_grad=True)
    y = x * 1
    view = y.unfold(0, 3, 1)
    view.mul_(2)
    assert y.grad_fn.name().endswith("CopySlices")
    y.sum().backward()
    assert x.grad.tolist() == [2] * 6


def test_gradients_of_windows_that_were_overwritten_are_those_of_the_source():
    x = torch.arange(6.0, requires_grad=True)
    values = torch.ones(4, 3, requires_grad=True)
    y = x * 1
    y.unfold(0, 3, 1).copy_(values * 3)
    y.sum().backward()
    assert x.grad.tolist() == [0] * 6
    assert values.grad.tolist() == [[3] * 3] * 4


def test_expanded_tensors_are_refused():
    x = torch.arange(3.0)
    for view in (x.expand(2, 3), x.as_strided((3, 2), (0, 1))):
        with pytest.raises(RuntimeError, match=REFUSAL):
            view.add_(1)
        with pytest.raises(RuntimeError, match=REFUSAL):
            view.copy_(torch.ones_like(view))
    assert x.tolist() == [0, 1, 2]


def test_a_window_on_an_expanded_tensor_tells_each_element_its_share_of_the_gradient():
    x = torch.ones(1, requires_grad=True)
    for create_graph in (False, True):
        repeated = (x * 1).expand(3, 2)
        window = repeated.as_strided((2,), (0,))
        (gradient,) = torch.autograd.grad(window.sum(), x, create_graph=create_graph)
        assert gradient.tolist() == [2]
    windows = torch.arange(4.0, requires_grad=True)
    again = windows.unfold(0, 2, 1).as_strided((2, 2), (2, 1))
    (gradient,) = torch.autograd.grad((again * again).sum(), windows)
    assert gradient.tolist() == [0, 2, 4, 6]


def test_the_gradient_of_a_tensor_that_is_shown_in_windows_lies_as_the_tensor():
    turned = torch.ones(2, 3, requires_grad=True).mul(1).t()
    window = turned.as_strided((2, 2), (1, 2), 1)
    (gradient,) = torch.autograd.grad((window * window).sum(), turned)
    assert gradient.stride() == turned.stride() == (1, 3)
    assert gradient.tolist() == [[0, 2], [2, 2], [2, 0]]


@pytest.mark.parametrize("size", [1, 2, 5, 40])
@pytest.mark.parametrize("step", [1, 2, 3, 7])
@pytest.mark.parametrize("turned", [False, True])
def test_gradients_of_windows_are_added_where_they_overlap(size, step, turned):
    x = torch.arange(120.0, dtype=torch.float64).reshape(3, 40).requires_grad_()
    windows = (x.t() if turned else x).unfold(0 if turned else 1, size, step)
    weights = torch.arange(1.0, 1.0 + windows.numel(), dtype=torch.float64).reshape(windows.shape)
    (windows * weights).sum().backward()
    expected = torch.zeros(3, 40, dtype=torch.float64)
    for row in range(3):
        for window in range(windows.shape[0 if turned else 1]):
            weight = weights[window, row] if turned else weights[row, window]
            expected[row, window * step : window * step + size] += weight
    assert torch.equal(x.grad, expected)

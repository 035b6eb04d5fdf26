"""Gradients through changes in place, by value: on results, through views, before and after."""

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, check_gradient, raises, sample

CHANGES = {
    "add_ tensor": lambda y, w: y.add_(w),
    "add_ alpha": lambda y, w: y.add_(w, alpha=3),
    "sub_": lambda y, w: y.sub_(w),
    "mul_": lambda y, w: y.mul_(w),
    "div_": lambda y, w: y.div_(w + 4),
    "mul_ a copy of itself": lambda y, w: y.mul_(y.clone()),
    "add_ itself": lambda y, w: y.add_(y).mul_(w),
    "pow_": lambda y, w: y.pow_(3).mul_(w),
    "neg_": lambda y, w: y.neg_().mul_(w),
    "exp_": lambda y, w: y.exp_(),
    "sin_ cos_": lambda y, w: y.sin_().cos_().add_(w),
    "tanh_": lambda y, w: y.tanh_(),
    "sigmoid_": lambda y, w: y.sigmoid_(),
    "relu_": lambda y, w: y.relu_(),
    "zero_ then add": lambda y, w: y.zero_().add_(w),
    "fill_ then mul": lambda y, w: y.fill_(2).mul_(w),
    "copy_": lambda y, w: y.copy_(w),
    "clamp_": lambda y, w: y.clamp_(-0.5, 0.5).add_(w),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_a_changed_result_has_the_gradient_of_the_change(change):
    def function(x, w):
        y = x * 1.5
        change(y, w)
        return y + x * w

    check_gradient(function, sample(3, 2), sample(3, 2, seed=1))


VIEWS = {
    "select": (lambda y: y[1], (3,)),
    "slice": (lambda y: y[:, 1:], (2, 2)),
    "step": (lambda y: y[:, ::2], (2, 2)),
    "view": (lambda y: y.view(3, 2), (3, 2)),
    "transpose": (lambda y: y.t(), (3, 2)),
    "permute": (lambda y: y.permute(1, 0), (3, 2)),
    "diagonal": (lambda y: y.diagonal(), (2,)),
    "unsqueeze": (lambda y: y.unsqueeze(1), (2, 1, 3)),
    "narrow": (lambda y: y.narrow(1, 0, 2), (2, 2)),
    "view of view": (lambda y: y.t()[1], (2,)),
    "three deep": (lambda y: y.view(3, 2).t()[0][1:], (2,)),
}


@pytest.mark.parametrize(("view", "shape"), VIEWS.values(), ids=VIEWS)
def test_a_change_through_a_view_reaches_the_gradient_of_its_base(view, shape):
    def function(x, w):
        y = x * 1.5
        view(y).mul_(w)
        return y * y

    check_gradient(function, sample(2, 3), sample(*shape, seed=1))


@pytest.mark.parametrize(("view", "shape"), VIEWS.values(), ids=VIEWS)
def test_a_change_of_the_base_reaches_the_gradient_of_an_older_view(view, shape):
    def function(x, w):
        y = x * 1.5
        v = view(y)
        y.mul_(x)
        return v * w

    check_gradient(function, sample(2, 3), sample(*shape, seed=1))


@pytest.mark.parametrize(("view", "shape"), VIEWS.values(), ids=VIEWS)
def test_a_constant_written_through_a_view_cuts_the_gradient_there(view, shape):
    x = torch.tensor(sample(2, 3), requires_grad=True)
    y = x * 1
    view(y).fill_(7)
    y.sum().backward()
    expected = torch.ones(2, 3, dtype=torch.float64)
    view(expected).fill_(0)
    assert_tensor(x.grad, expected.numpy())


def test_two_views_may_be_changed_in_turn():
    def function(x, w):
        y = x * 1
        a, b = y[0], y[:, 1]
        a.mul_(w[0])
        b.mul_(w[1, :2])
        a.add_(b[0].clone())
        return y

    check_gradient(function, sample(2, 3), sample(2, 3, seed=1))


def test_a_view_made_before_and_used_after_a_change_of_another_view():
    def function(x, w):
        y = x * 1
        row, column = y[0], y[:, 0]
        row.mul_(w)
        return column * column

    check_gradient(function, sample(2, 3), sample(3, seed=1))


def test_names_of_nodes_after_a_change_through_a_view():
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y[0]
    v.mul_(2)
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    assert type(y.grad_fn).__name__ == "CopySlices"
    assert v.grad_fn.name() == "AsStridedBackward0"


def test_a_view_regenerates_its_node_after_a_change_of_its_base():
    x = torch.ones(2, 2, requires_grad=True)
    y = x * 1
    v = y.view(4)
    assert v.grad_fn.name() == "ViewBackward0"
    y.mul_(2)
    assert y.grad_fn.name() == "MulBackward0"
    assert v.grad_fn.name() == "AsStridedBackward0"
    assert v.grad_fn.next_functions[0][0] is y.grad_fn


def test_an_assignment_by_index_makes_copy_slices():
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y[0] = 5
    assert y.grad_fn.name() == "torch::autograd::CopySlices"
    y.sum().backward()
    assert x.grad.tolist() == [0.0, 1.0, 1.0]


@pytest.mark.parametrize(
    "index",
    [
        0,
        slice(1, 3),
        (slice(None), 1),
        (Ellipsis, 0),
        [0, 2],
        (torch.tensor([0, 2]), torch.tensor([1, 1])),
        (slice(None), [2, 0]),
    ],
    ids=str,
)
def test_an_assignment_by_index_routes_gradients_to_target_and_value(index):
    def function(x, w):
        y = x * 1.5
        y[index] = w[index] * 2
        return y * y

    check_gradient(function, sample(3, 3), sample(3, 3, seed=1))


def test_an_assignment_by_mask_routes_gradients():
    mask = torch.tensor([True, False, True])

    def function(x, w):
        y = x * 1.5
        y[mask] = w
        return y * y

    check_gradient(function, sample(3), sample(2, seed=1))


def test_a_buffer_filled_row_by_row_carries_every_gradient():
    x = torch.tensor(sample(3), requires_grad=True)
    buffer = torch.zeros(3, 3, dtype=torch.float64)
    for i in range(3):
        buffer[i] = x * (i + 1)
    assert buffer.requires_grad and not buffer.is_leaf
    buffer.sum().backward()
    assert_tensor(x.grad, np.full(3, 6.0))


def test_a_change_in_place_of_a_plain_tensor_by_one_that_requires_grad_gives_it_history():
    w = torch.tensor([2.0], requires_grad=True)
    x = torch.ones(1)
    view = x.view(1)
    x.mul_(w)
    assert x.requires_grad and view.requires_grad
    view.sum().backward()
    assert w.grad.tolist() == [1.0]


def test_a_detached_tensor_changed_in_place_stays_without_history():
    x = torch.ones(2, requires_grad=True)
    d = (x * 1).detach()
    d.add_(1)
    assert not d.requires_grad


def test_chains_of_changes_have_the_product_of_their_derivatives():
    x = torch.tensor([3.0], dtype=torch.float64, requires_grad=True)
    y = x * 2
    y += 1
    y *= 4
    y -= x
    y /= 2
    y.sum().backward()
    assert_tensor(x.grad, [(2 * 4 - 1) / 2])


def test_second_derivatives_pass_through_a_change_of_a_slice():
    x = torch.tensor([2.0, 3.0], dtype=torch.float64, requires_grad=True)
    y = x * x
    y[0].mul_(x[1])
    (first,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    (second,) = torch.autograd.grad(first.sum(), x)
    # y0 = a^2 b, y1 = b^2: gradient (2ab, a^2 + 2b), and the sum's gradient is (2b + 2a, 2a + 2)
    assert_tensor(first, [12.0, 10.0])
    assert_tensor(second, [10.0, 6.0])


def test_a_view_of_a_leaf_may_not_change_but_the_message_names_the_view():
    x = torch.ones(2, requires_grad=True)
    with raises(
        RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation."
    ):
        x[0] = 3
    assert x.tolist() == [1.0, 1.0] and x._version == 0


def test_requires_grad_may_be_given_to_a_view_of_a_plain_tensor():
    x = torch.ones(2)
    v = x.view(2)
    v.requires_grad_()
    assert v.requires_grad and not x.requires_grad
    (v * 3).sum().backward()
    assert v.grad.tolist() == [3.0, 3.0]


def test_a_write_to_an_expanded_leaf_speaks_of_the_leaf():
    x = torch.ones(3, requires_grad=True)
    with raises(
        RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation."
    ):
        x.expand(2, 3).add_(1)


@pytest.mark.parametrize("change", [lambda x: x.squeeze_(), lambda x: x.unsqueeze_(0), lambda x: x.t_()])
def test_a_leaf_cannot_be_laid_out_anew(change):
    with raises(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."):
        change(torch.ones(3, requires_grad=True))


@pytest.mark.parametrize("write", [lambda x, y: x.copy_(y), lambda x, y: x.add_(y), lambda x, y: x.mul_(y)])
def test_memory_is_not_read_from_elsewhere_while_it_is_written(write):
    x = torch.zeros(3)
    with raises(RuntimeError, "unsupported operation: some elements of the input tensor and the written-to"):
        write(x[1:], x[:-1])
    write(x[1:], x[1:])


def test_integers_copied_from_a_tensor_with_a_history_have_none():
    x = torch.ones(3, dtype=torch.int32)
    x.copy_(torch.full((3,), 2.0, requires_grad=True))
    assert x.tolist() == [2, 2, 2]
    assert not x.requires_grad and x.grad_fn is None


def test_a_gradient_that_lies_otherwise_than_the_base_reaches_the_window():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    base = torch.zeros(2, 3)
    base[:, 1:] = x * torch.eye(2)
    for turned in (base.t(), base.clone().t(), base.movedim(0, -1)):
        (gradient,) = torch.autograd.grad(turned[1, 0], x, retain_graph=True)
        assert gradient.tolist() == [1.0, 0.0]
    (gradient,) = torch.autograd.grad(base, x, torch.tensor([[0.0, 5.0], [1.0, 0.0], [0.0, 2.0]]).t())
    assert gradient.tolist() == [1.0, 2.0]


def test_one_of_samples_does_too():
    x = torch.tensor([1.0, 2.0])

    def filled(x):
        result = x.new_zeros(3)
        result[1:] = x * x
        return result

    expected = torch.zeros(3, 2, 2)
    expected[1, 0, 0] = expected[2, 1, 1] = 2.0
    for first in (torch.func.jacrev, torch.func.jacfwd):
        for second in (torch.func.jacrev, torch.func.jacfwd):
            torch.testing.assert_close(second(first(filled))(x), expected)


@pytest.mark.parametrize("name", ["hypot", "copysign", "xlogy"])
def test_functions_of_two_elements_have_forms_in_place(name):
    first = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    second = torch.tensor([4.0, 5.0, 6.0], requires_grad=True)
    expected = getattr(torch, name)(first, second)
    written = first * 1
    assert getattr(written, name + "_")(second) is written
    assert torch.equal(written, expected)
    weights = torch.tensor([1.0, 2.0, 3.0])
    for found, wanted in zip(
        torch.autograd.grad(written, (first, second), weights),
        torch.autograd.grad(expected, (first, second), weights),
        strict=True,
    ):
        assert torch.equal(found, wanted)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x[:2].neg_(),
        lambda x: x[:2].zero_(),
        lambda x: x[0].add_(1),
        lambda x: x[0].copy_(torch.tensor(3.0)),
        lambda x: x.__setitem__(0, 5),
    ],
)
def test_the_node_of_a_write_through_a_view_runs_backward_once(write):
    def written():
        x = torch.ones(3, requires_grad=True)
        y = x.clone()
        write(y)
        return x, y

    x, y = written()
    first, second = (torch.autograd.grad(y.sum(), x, retain_graph=True)[0] for _ in range(2))
    assert first.tolist() == second.tolist()
    _, y = written()
    loss = y.sum()
    loss.backward()
    for again in (loss.backward, lambda: y.grad_fn(torch.ones(3))):
        with raises(RuntimeError, "Trying to backward through the graph a second time"):
            again()

"""Gradients of tensors that were given memory of another shape after their graph was made."""

import pytest
import rushlight as torch


@pytest.mark.filterwarnings("ignore:Using backward")
@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize(
    ("data", "words"),
    [
        (lambda: torch.ones(2), r"tensor a \(2\) must match the size of tensor b \(4\) at .* dimension 1$"),
        (
            lambda: torch.ones(2, 3, 2),
            r"tensor a \(2\) must match the size of tensor b \(4\) at .* dimension 2$",
        ),
        (
            lambda: torch.ones(4, 3),
            r"tensor a \(3\) must match the size of tensor b \(4\) at .* dimension 1$",
        ),
        (
            lambda: torch.ones(3, 2).t(),
            r"tensor a \(3\) must match the size of tensor b \(4\) at .* dimension 1$",
        ),
    ],
)
def test_a_leaf_refuses_a_gradient_of_its_old_shape(data, words, create_graph):
    x = torch.ones(3, 4, requires_grad=True)
    y = x * 2
    x.data = data()
    with pytest.raises(RuntimeError, match=f"^The size of {words}"):
        y.backward(torch.ones(3, 4), create_graph=create_graph)
    assert x.grad is None


def test_a_leaf_takes_a_gradient_whose_elements_lie_as_its_own():
    x = torch.ones(1, 4, requires_grad=True)
    y = x * 2
    x.data = torch.ones(3, 4)
    y.backward(torch.ones(1, 4))
    assert x.grad.tolist() == [[2.0] * 4]


# The reference asserts something that does not hold then.
@pytest.mark.own
def test_a_conjugate_of_what_forgot_its_history_leads_nowhere():
    x = torch.ones(3, dtype=torch.complex64, requires_grad=True)
    y = x.conj()
    x.requires_grad_(False)
    x.mul_(2)
    y.backward(torch.ones(3, dtype=torch.complex64))
    assert x.grad is None


def test_a_view_of_what_was_given_other_memory_leads_nowhere():
    x = torch.ones(3, 4, requires_grad=True)
    base = x * 2
    view = torch._neg_view(base)
    view.transpose_(0, 1)
    base.set_()
    with pytest.raises(RuntimeError):
        view.backward(torch.ones(4, 3))

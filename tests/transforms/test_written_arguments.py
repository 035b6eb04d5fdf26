"""Functions that write to their arguments: what the arguments are when the transform is over."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp


def rows():
    return torch.arange(6.0).reshape(2, 3)


def test_a_view_may_be_written_to_by_a_function_with_tangents():
    x, y = rows(), torch.ones(3)
    value, tangent = jvp(lambda x, y: x.mul_(y), (x, y), (torch.ones(2, 3), torch.ones(3)))
    assert (value.tolist(), tangent.tolist()) == (rows().tolist(), (rows() + 1).tolist())


@pytest.mark.parametrize("make", [rows, lambda: rows()[:], lambda: rows().clone()])
def test_a_write_to_an_argument_leaves_no_history_of_the_transform(make):
    other = make()
    gradient = grad(lambda x, other: other.mul_(x).sum())(torch.full((3,), 2.0), other)
    assert gradient.tolist() == [3.0, 5.0, 7.0]
    assert other.tolist() == (rows() * 2).tolist()
    assert not other.requires_grad and other.grad_fn is None


def test_nor_does_a_write_to_a_part_of_one():
    other = rows()

    def function(x, other):
        other[0].mul_(x)
        return other.sum()

    grad(function)(torch.full((3,), 2.0), other)
    assert other.tolist() == [[0.0, 2.0, 4.0], [3.0, 4.0, 5.0]]
    assert not other.requires_grad and other.grad_fn is None


def test_what_the_outside_tracks_stays_tracked():
    leaf = torch.ones(3, requires_grad=True)
    other = leaf * 3
    grad(lambda x, other: other.mul_(x).sum())(torch.full((3,), 2.0), other)
    other.sum().backward()
    assert leaf.grad.tolist() == [6.0, 6.0, 6.0]


def test_a_failure_leaves_no_history_either():
    other = torch.ones(3)

    def function(x, other):
        other.mul_(x)
        raise KeyError

    with pytest.raises(KeyError):
        grad(function)(torch.ones(3), other)
    assert not other.requires_grad

"""What a function captures has no part in the derivatives that are taken inside of its transform."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp, vmap

X = torch.tensor([1.0, 2.0])


def captured():
    return torch.tensor([3.0, 4.0], requires_grad=True)


def inner(output, by, **options):
    return torch.autograd.grad(output.sum(), by, **options)[0]


def test_what_depends_on_it_and_the_argument_is_not_differentiated_by_it():
    w = captured()
    with pytest.raises(
        RuntimeError, match="The differentiated Tensor at index 0 appears to not have been used"
    ):
        grad(lambda x: inner(x * w, w).sum())(X)
    assert grad(lambda x: inner(x * x * w, x, create_graph=True).sum())(X).tolist() == [6.0, 8.0]
    unused = []
    grad(lambda x: unused.append(inner(x * w, w, allow_unused=True)) or x.sum())(X)
    assert unused == [None]


@pytest.mark.parametrize("create_graph", [False, True])
def test_what_depends_on_it_only_has_no_derivative(create_graph):
    w = captured()
    with pytest.raises(
        RuntimeError, match=r"^element 0 of tensors does not require grad and does not have a grad_fn"
    ):
        grad(lambda x: inner(w * w, w, create_graph=create_graph).sum() * x.sum())(X)
    with pytest.raises(
        RuntimeError, match=r"^element 0 of tensors does not require grad and does not have a grad_fn"
    ):
        jvp(lambda x: inner(x * w, w), (X,), (X,))


def test_what_was_computed_outside_is_differentiated_as_ever():
    w = captured()
    loss = (w * w).sum()
    assert grad(lambda x: torch.autograd.grad(loss, w)[0].sum() * x.sum())(X).tolist() == [14.0, 14.0]


def test_a_mapping_does_not_follow_it_either():
    w = captured()
    with pytest.raises(
        RuntimeError, match=r"^element 0 of tensors does not require grad and does not have a gr"
    ):
        vmap(lambda x: inner(x * w, w))(torch.eye(2))


def test_directions_of_integers_are_refused():
    ones = torch.ones(2, dtype=torch.long)
    for tangent in (ones, X):
        with pytest.raises(
            ValueError,
            match=r"^Expected primal to be floating point or complex, but got: (torch|rushlight)\.int64",
        ):
            jvp(lambda x: x, (ones,), (tangent,))
    with pytest.raises(
        ValueError,
        match=r"^Expected tangent to be floating point or complex, but got: (torch|rushlight)\.int64",
    ):
        jvp(lambda x: x, (X,), (ones,))

"""The Jacobians that `gradcheck` compares, for those who call for them by themselves."""

import pytest
from rushlight.autograd.gradcheck import (
    get_analytical_jacobian,
    get_numerical_jacobian,
    get_numerical_jacobian_wrt_specific_input,
)
from support import assert_tensor, leaf, raises

DEPRECATED = pytest.mark.filterwarnings("ignore:.get_.*_jacobian. was part of PyTorch's private API")


@DEPRECATED
def test_the_numerical_jacobian_is_that_of_the_first_output():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    found = get_numerical_jacobian(lambda inputs: inputs[0] * inputs[1], (x, y))
    assert_tensor(found[0], [[3.0, 0.0], [0.0, 4.0]], tolerance=1e-9)
    assert_tensor(found[1], [[1.0, 0.0], [0.0, 2.0]], tolerance=1e-9)
    (found,) = get_numerical_jacobian(
        lambda inputs: inputs[0] ** 2, (x, y), target=x.detach().requires_grad_(), eps=1e-2
    )
    assert found.shape == (2, 2)


@DEPRECATED
def test_the_analytical_jacobian_comes_with_what_was_noticed():
    x = leaf(1.0, 2.0)
    jacobians, repeatable, sizes_match, types_match = get_analytical_jacobian((x,), x**2)
    assert_tensor(jacobians[0], [[2.0, 0.0], [0.0, 4.0]])
    assert (repeatable, sizes_match, types_match) == (True, True, True)


@DEPRECATED
def test_other_gradients_of_the_output_than_ones_are_refused():
    x = leaf(1.0)
    with raises(
        ValueError,
        "Expected grad_out to be 1.0. get_numerical_jacobian no longer supports values of grad_out != 1.0.",
    ):
        get_numerical_jacobian(lambda inputs: inputs[0], (x,), grad_out=2.0)
    with raises(
        ValueError,
        "Expected grad_out to be 1.0. get_analytical_jacobian no longer supports values of grad_out != 1.0.",
    ):
        get_analytical_jacobian((x,), x * 1, grad_out=2.0)


def test_the_two_are_deprecated():
    x = leaf(1.0)
    with pytest.warns(
        FutureWarning,
        match=r"^`get_numerical_jacobian` was part of PyTorch's private API and not meant to be exposed.",
    ):
        get_numerical_jacobian(lambda inputs: inputs[0], (x,))
    with pytest.warns(
        FutureWarning,
        match=r"^`get_analytical_jacobian` was part of PyTorch's private API and not meant to be exposed.",
    ):
        get_analytical_jacobian((x,), x * 1)


def test_one_input_has_a_matrix_for_each_output():
    x, y = leaf(1.0, 2.0), leaf(3.0, 4.0)
    outputs = (x * y, y.sum())
    found = get_numerical_jacobian_wrt_specific_input(lambda x, y: (x * y, y.sum()), 1, (x, y), outputs, 1e-6)
    assert_tensor(found[0], [[1.0, 0.0], [0.0, 2.0]], tolerance=1e-8)
    assert_tensor(found[1], [[1.0], [1.0]], tolerance=1e-8)
    with raises(AssertionError, "Expected input to have requires_grad=True"):
        get_numerical_jacobian_wrt_specific_input(lambda x, y: (x * y,), 1, (x, y.detach()), outputs, 1e-6)

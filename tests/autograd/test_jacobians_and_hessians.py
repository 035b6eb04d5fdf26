"""`autograd.functional`: whole Jacobians and Hessians."""

import pytest
import rushlight as torch
from support import assert_tensor, raises, tensor

F = torch.autograd.functional


def cube(x):
    return (x**3).sum()


def two(x, y):
    return x.sum() * y, x * y.sum()


@pytest.mark.parametrize("vectorize", [False, True])
def test_a_jacobian_has_the_shape_of_the_output_and_then_of_the_input(vectorize):
    x = torch.arange(6, dtype=torch.float64).view(2, 3)
    found = F.jacobian(lambda x: x.sum(1) ** 2, x, vectorize=vectorize)
    assert found.shape == (2, 2, 3)
    assert_tensor(found, [[[6.0] * 3, [0.0] * 3], [[0.0] * 3, [24.0] * 3]])


@pytest.mark.parametrize("vectorize", [False, True])
def test_tuples_nest_by_output_and_then_by_input(vectorize):
    found = F.jacobian(two, (tensor(1.0, 2.0), tensor(3.0)), vectorize=vectorize)
    assert type(found) is tuple and type(found[0]) is tuple
    assert_tensor(found[0][0], [[3.0, 3.0]])
    assert_tensor(found[0][1], [[3.0]])
    assert_tensor(found[1][0], [[3.0, 0.0], [0.0, 3.0]])
    assert_tensor(found[1][1], [[1.0], [2.0]])


def test_one_output_of_two_inputs_is_a_flat_tuple_and_two_outputs_of_one_too():
    by_input = F.jacobian(lambda x, y: x * y, (tensor(1.0), tensor(2.0)))
    assert [type(by_input), len(by_input), type(by_input[0])] == [tuple, 2, torch.Tensor]
    by_output = F.jacobian(lambda x: (x, 2 * x), tensor(1.0))
    assert [type(by_output), len(by_output), type(by_output[0])] == [tuple, 2, torch.Tensor]


@pytest.mark.parametrize("vectorize", [False, True])
def test_outputs_that_do_not_depend_on_an_input_have_zeros(vectorize):
    found = F.jacobian(lambda x, y: (x, y.detach()), (tensor(1.0, 2.0), tensor(3.0)), vectorize=vectorize)
    assert_tensor(found[0][1], [[0.0], [0.0]])
    assert_tensor(found[1][0], [[0.0, 0.0]])


@pytest.mark.parametrize("vectorize", [False, True])
def test_a_jacobian_can_be_differentiated_with_create_graph(vectorize):
    x = tensor(1.0, 2.0, requires_grad=True)
    assert not F.jacobian(torch.exp, x, vectorize=vectorize).requires_grad
    found = F.jacobian(lambda x: x**3, x, create_graph=True, vectorize=vectorize)
    (slope,) = torch.autograd.grad(found.sum(), x)
    assert_tensor(slope, [6.0, 12.0])


@pytest.mark.parametrize("vectorize", [False, True])
def test_a_hessian_is_the_jacobian_of_the_gradient(vectorize):
    assert_tensor(F.hessian(cube, tensor(1.0, 2.0), vectorize=vectorize), [[6.0, 0.0], [0.0, 12.0]])
    found = F.hessian(lambda x, y: cube(x) * y.sum(), (tensor(1.0, 2.0), tensor(3.0)), vectorize=vectorize)
    assert_tensor(found[0][0], [[18.0, 0.0], [0.0, 36.0]])
    assert_tensor(found[0][1], [[3.0], [12.0]])
    assert_tensor(found[1][0], [[3.0, 12.0]])
    assert_tensor(found[1][1], [[0.0]])


def test_a_hessian_can_be_differentiated_with_create_graph():
    x = tensor(1.0, 2.0, requires_grad=True)
    found = F.hessian(cube, x, create_graph=True)
    (slope,) = torch.autograd.grad(found.sum(), x)
    assert_tensor(slope, [6.0, 6.0])


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_forward_mode_gives_the_same_jacobian():
    x = tensor(1.0, 2.0)
    found = F.jacobian(lambda x: x.sum() * x, x, vectorize=True, strategy="forward-mode")
    assert_tensor(found, [[4.0, 1.0], [2.0, 5.0]])
    found = F.jacobian(two, (x, tensor(3.0)), vectorize=True, strategy="forward-mode")
    assert_tensor(found[1][0], [[3.0, 0.0], [0.0, 3.0]])


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_forward_over_reverse_gives_the_same_hessian():
    x = tensor(1.0, 2.0)
    found = F.hessian(cube, x, vectorize=True, outer_jacobian_strategy="forward-mode")
    assert_tensor(found, [[6.0, 0.0], [0.0, 12.0]])


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_a_hessian_forward_over_reverse_is_recorded():
    x = tensor(1.0, 2.0)
    found = F.hessian(cube, x, vectorize=True, outer_jacobian_strategy="forward-mode")
    assert found.grad_fn.name() == "ReshapeAliasBackward0"
    assert found.grad_fn.next_functions[0][0].name() == "PermuteBackward0"
    assert not x.requires_grad
    weight = tensor(3.0).requires_grad_()
    found = F.hessian(
        lambda x: weight.squeeze() * cube(x), x, vectorize=True, outer_jacobian_strategy="forward-mode"
    )
    assert torch.autograd.grad(found.sum(), weight)[0].item() == 18.0


@pytest.mark.filterwarnings("ignore:.*torch.jit.script")
def test_a_jacobian_in_forward_mode_leads_to_what_its_function_captures():
    weight = tensor(3.0).requires_grad_()
    found = F.jacobian(lambda x: weight * x**3, tensor(1.0, 2.0), vectorize=True, strategy="forward-mode")
    assert found.grad_fn.name() == "ReshapeAliasBackward0"
    assert torch.autograd.grad(found.sum(), weight)[0].item() == 15.0


def test_forward_mode_asks_for_an_input():
    with raises(AssertionError, "Expected at least one tensor"):
        F.jacobian(torch.exp, (), vectorize=True, strategy="forward-mode")


def test_forward_mode_takes_neither_create_graph_nor_strict_and_must_be_vectorized():
    x = tensor(1.0)
    with raises(
        NotImplementedError,
        'torch.autograd.functional.jacobian: `create_graph=True` and `strategy="forward-mode"` are not supported together (yet). Please either set `create_graph=False` or `strategy="reverse-mode"`.',
    ):
        F.jacobian(torch.exp, x, create_graph=True, strategy="forward-mode")
    with raises(
        RuntimeError,
        'torch.autograd.functional.jacobian: `strict=True` and `strategy="forward-mode"` are not supported together (yet). Please either set `strict=False` or `strategy="reverse-mode"`.',
    ):
        F.jacobian(torch.exp, x, strict=True, strategy="forward-mode")
    with raises(
        NotImplementedError,
        "Computing Jacobian using forward-AD or forward-over-reverse Hessian isonly implemented for `vectorize=True`.",
    ):
        F.jacobian(torch.exp, x, strategy="forward-mode")


def test_an_unknown_strategy_is_refused():
    with raises(
        AssertionError,
        'Expected strategy to be either "forward-mode" or "reverse-mode". Hint: If your function has more outputs than inputs, "forward-mode" tends to be more performant. Otherwise, prefer to use "reverse-mode".',
    ):
        F.jacobian(torch.exp, tensor(1.0), strategy="sideways")
    with raises(AssertionError, 'Expected strategy to be either "forward-mode" or "reverse-mode".'):
        F.hessian(cube, tensor(1.0), outer_jacobian_strategy="sideways")


def test_strict_refuses_independence():
    with raises(RuntimeError, "Output 0 of the user-provided function does not require gradients."):
        F.jacobian(lambda x: x.detach(), tensor(1.0), strict=True)
    with raises(
        RuntimeError,
        "Output 0 of the user-provided function is independent of input 1. This is not allowed in strict mode.",
    ):
        F.jacobian(lambda x, y: x, (tensor(1.0), tensor(1.0)), strict=True)
    with raises(
        RuntimeError,
        "The jacobian of the user-provided function is independent of input 0. This is not allowed in strict mode when create_graph=True.",
    ):
        F.jacobian(lambda x: 2 * x, tensor(1.0), strict=True, create_graph=True)
    with raises(
        RuntimeError,
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 is independent of the input.",
    ):
        F.hessian(lambda x: x.sum(), tensor(1.0), strict=True)
    with raises(
        RuntimeError,
        "torch.autograd.functional.jacobian: `strict=True` and `vectorized=True` are not supported together. Please either set `strict=False` or `vectorize=False`.",
    ):
        F.jacobian(torch.exp, tensor(1.0), strict=True, vectorize=True)


def test_a_hessian_needs_a_single_element():
    with raises(RuntimeError, "The function given to hessian should return a single Tensor"):
        F.hessian(lambda x: (cube(x), cube(x)), tensor(1.0))
    with raises(
        RuntimeError, "The Tensor returned by the function given to hessian should contain a single element"
    ):
        F.hessian(lambda x: x, tensor(1.0, 2.0))
    with raises(
        TypeError,
        "The inputs given to hessian must be either a Tensor or a tuple of Tensors but the given inputs has type <class 'list'>.",
    ):
        F.hessian(cube, [tensor(1.0)])

"""`autograd.grad` and its arguments; derivatives of derivatives."""

from typing import NamedTuple

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, leaf, raises, sample

grad = torch.autograd.grad


def test_grad_returns_a_tuple_and_touches_no_grad_attribute():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    result = grad((x * w).sum(), [x, w])
    assert type(result) is tuple
    assert_tensor(result[0], [3.0, 4.0])
    assert_tensor(result[1], [1.0, 2.0])
    assert x.grad is None and w.grad is None


def test_a_single_input_gives_a_tuple_of_one():
    x = leaf(1.0, 2.0)
    (g,) = grad((x * x).sum(), x)
    assert_tensor(g, [2.0, 4.0])


def test_grad_may_be_asked_for_by_an_inner_tensor():
    x = leaf(1.0, 2.0)
    y = x * 3
    (g,) = grad((y * y).sum(), y)
    assert_tensor(g, [6.0, 12.0])


def test_grad_of_the_output_by_itself_is_the_incoming_gradient():
    x = leaf(1.0, 2.0)
    y = x * 3
    (g,) = grad(y, y, torch.tensor([5.0, 7.0], dtype=torch.float64))
    assert_tensor(g, [5.0, 7.0])


def test_grad_outputs_weigh_the_outputs():
    x = leaf(1.0, 2.0)
    (g,) = grad([x * 2, x * x], x, [torch.ones(2, dtype=torch.float64), leaf(10.0, 100.0).detach()])
    assert_tensor(g, [2 + 20.0, 2 + 400.0])


def test_grad_outputs_may_be_one_tensor():
    x = leaf(1.0, 2.0)
    (g,) = grad(x * 2, x, grad_outputs=torch.ones(2, dtype=torch.float64))
    assert_tensor(g, [2.0, 2.0])


def test_the_same_input_twice_gives_the_gradient_twice():
    x = leaf(1.0, 2.0)
    a, b = grad((x * x).sum(), [x, x])
    assert_tensor(a, [2.0, 4.0])
    assert_tensor(b, [2.0, 4.0])


class Inputs(NamedTuple):
    first: torch.Tensor
    second: torch.Tensor


@pytest.mark.parametrize("form", [tuple, list, iter, lambda both: Inputs(*both)])
def test_inputs_may_be_given_in_any_sequence(form):
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    result = grad((x * w).sum(), form([x, w]))
    assert type(result) is tuple
    assert_tensor(result[0], [3.0, 4.0])
    assert_tensor(result[1], [1.0, 2.0])


def test_what_is_no_tensor_among_inputs_is_refused():
    x = leaf(1.0)
    with raises(RuntimeError, "all inputs have to be Tensors or GradientEdges, but got float"):
        grad((x * 2).sum(), [x, 3.0])


def test_an_unused_input_is_refused():
    x, w = leaf(1.0), leaf(2.0)
    with raises(
        RuntimeError,
        "The differentiated Tensor at index 1 appears to not have been used in the graph. Set allow_unused=True if this "
        "is the desired behavior.",
    ):
        grad(x.sum(), [x, w])


def test_allow_unused_gives_none():
    x, w = leaf(1.0), leaf(2.0)
    g, h = grad(x.sum(), [x, w], allow_unused=True)
    assert_tensor(g, [1.0])
    assert h is None


def test_materialize_grads_gives_zeros_and_implies_allow_unused():
    x, w = leaf(1.0), leaf(2.0, 3.0)
    g, h = grad(x.sum(), [x, w], materialize_grads=True)
    assert_tensor(g, [1.0])
    assert_tensor(h, [0.0, 0.0], torch.float64)


def test_materialize_grads_contradicts_allow_unused_false():
    x = leaf(1.0)
    with raises(
        ValueError,
        "Expected allow_unused to be True or not passed when materialize_grads=True, but got: allow_unused=False.",
    ):
        grad(x.sum(), [x], materialize_grads=True, allow_unused=False)


def test_an_input_without_requires_grad_is_refused():
    x, c = leaf(1.0), torch.ones(1)
    with raises(RuntimeError, "One of the differentiated Tensors does not require grad"):
        grad(x.sum(), [c])


def test_no_inputs_are_refused():
    x = leaf(1.0)
    with raises(RuntimeError, "`inputs` argument to `grad()` cannot be empty."):
        grad(x.sum(), [])


def test_an_output_without_graph_is_refused():
    x = leaf(1.0)
    with raises(RuntimeError, "element 0 of tensors does not require grad and does not have a grad_fn"):
        grad(torch.ones(()), x)


def test_a_vector_output_needs_grad_outputs():
    x = leaf(1.0, 2.0)
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        grad(x * 2, x)


def test_only_inputs_false_is_no_longer_supported():
    x = leaf(1.0)
    with pytest.warns(FutureWarning, match="only_inputs argument is deprecated and is ignored now"):
        grad(x.sum(), x, only_inputs=False)


def test_grad_frees_the_graph_by_default():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    grad(y, x)
    with raises(RuntimeError, "Trying to backward through the graph a second time"):
        grad(y, x)


def test_grad_with_retain_graph_can_be_repeated():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    (a,) = grad(y, x, retain_graph=True)
    (b,) = grad(y, x)
    assert_tensor(a, [2.0, 4.0])
    assert_tensor(b, [2.0, 4.0])


def test_gradients_require_grad_only_with_create_graph():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    (a,) = grad(y, x, retain_graph=True)
    assert not a.requires_grad and a.grad_fn is None
    (b,) = grad(y, x, create_graph=True)
    assert b.requires_grad and b.grad_fn is not None


def test_a_power_has_its_second_and_third_derivatives():
    x = leaf(2.0, 3.0)
    (first,) = grad((x**4).sum(), x, create_graph=True)
    (second,) = grad(first.sum(), x, create_graph=True)
    (third,) = grad(second.sum(), x)
    values = np.array([2.0, 3.0])
    assert_tensor(first, 4 * values**3)
    assert_tensor(second, 12 * values**2)
    assert_tensor(third, 24 * values)


@pytest.mark.parametrize(
    ("function", "second"),
    [
        (lambda x: x.exp(), np.exp),
        (lambda x: x.log(), lambda v: -1 / v**2),
        (lambda x: x.sqrt(), lambda v: -0.25 * v**-1.5),
        (lambda x: x.sin(), lambda v: -np.sin(v)),
        (lambda x: x.cos(), lambda v: -np.cos(v)),
        (lambda x: x.tanh(), lambda v: -2 * np.tanh(v) * (1 - np.tanh(v) ** 2)),
        (lambda x: 1 / x, lambda v: 2 / v**3),
        (lambda x: x * x * x, lambda v: 6 * v),
        (lambda x: x / (1 + x), lambda v: -2 / (1 + v) ** 3),
    ],
    ids=["exp", "log", "sqrt", "sin", "cos", "tanh", "reciprocal", "cube", "quotient"],
)
def test_second_derivatives_have_their_closed_form(function, second):
    values = sample(5, low=0.2, high=2.0)
    x = torch.tensor(values, requires_grad=True)
    (first,) = grad(function(x).sum(), x, create_graph=True)
    (result,) = grad(first.sum(), x)
    assert_tensor(result, second(values), tolerance=1e-10)


def test_the_hessian_of_a_quadratic_form_is_symmetric_and_exact():
    matrix = sample(3, 3)
    x = torch.tensor(sample(3, seed=1), requires_grad=True)
    y = x @ torch.tensor(matrix) @ x
    (first,) = grad(y, x, create_graph=True)
    rows = [grad(first[i], x, retain_graph=True)[0].numpy() for i in range(3)]
    np.testing.assert_allclose(np.stack(rows), matrix + matrix.T, rtol=1e-12)


def test_a_gradient_penalty_reaches_the_weights():
    w, x = torch.tensor(sample(2, 3), requires_grad=True), torch.tensor(sample(3, seed=1), requires_grad=True)
    (gx,) = grad((w @ x).sum(), x, create_graph=True)
    (gx * gx).sum().backward()
    columns = sample(2, 3).sum(0)
    assert_tensor(w.grad, np.stack([2 * columns, 2 * columns]))


def test_create_graph_through_grad_outputs_differentiates_by_them():
    x = leaf(1.0, 2.0)
    v = leaf(1.0, 1.0)
    (g,) = grad(x * x, x, v, create_graph=True)
    (by_v,) = grad(g.sum(), v)
    assert_tensor(by_v, [2.0, 4.0])


def test_grad_works_under_no_grad_and_gives_plain_tensors():
    x = leaf(1.0, 2.0)
    y = (x * x).sum()
    with torch.no_grad():
        (g,) = grad(y, x)
    assert_tensor(g, [2.0, 4.0])
    assert not g.requires_grad


def test_a_jacobian_can_be_computed_row_by_row():
    x = leaf(1.0, 2.0, 3.0)
    y = torch.stack([x[0] * x[1], x[1] * x[2]])
    rows = [grad(y[i], x, retain_graph=True)[0].tolist() for i in range(2)]
    assert rows == [[2.0, 1.0, 0.0], [0.0, 3.0, 2.0]]


def test_a_dict_of_inputs_gives_a_dict_of_gradients():
    x, w = leaf(1.0, 2.0), leaf(3.0, 4.0)
    result = grad((x * w).sum(), {"x": x, "w": w})
    assert list(result) == ["x", "w"]
    assert_tensor(result["x"], [3.0, 4.0])
    assert_tensor(result["w"], [1.0, 2.0])


def test_a_batch_of_gradients_without_dimensions_is_refused():
    x = leaf(1.0, 2.0)
    with raises(IndexError, "invalid index of a 0-dim tensor."):
        grad(x * 2, x, torch.tensor(1.0, dtype=torch.float64), is_grads_batched=True)


def test_a_batch_of_gradients_has_to_be_given():
    x = leaf(1.0, 2.0)
    with raises(ValueError, "vmap(vjp, in_dims=0, ...)(<inputs>): Got in_dim=0 for some input, but that"):
        grad(x.sum(), x, None, is_grads_batched=True)
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        grad(x * 2, x, None, is_grads_batched=True)


def test_batches_of_gradients_have_one_size():
    x = leaf(1.0, 2.0)
    gradients = (torch.ones(3, 2, dtype=torch.float64), torch.ones(4, 2, dtype=torch.float64))
    with raises(
        ValueError, "vmap: Expected all tensors to have the same size in the mapped dimension, got sizes"
    ):
        grad((x * 2, x * 3), x, gradients, is_grads_batched=True)


def test_the_shapes_of_an_output_and_of_one_gradient_of_it_are_told():
    shapes = torch.autograd._calculate_shape
    y, gradient = torch.ones(10, 5, requires_grad=True) * 2, torch.ones(5, 10)
    assert shapes(y, gradient, False) == ((10, 5), (5, 10))
    assert shapes(y, gradient, True) == ((10, 5), (10,))
    edge = torch.autograd.graph.get_gradient_edge(y)
    assert shapes(edge, gradient, False) == ((10, 5), (5, 10))
    with raises(RuntimeError, "Batched grads are not supported with GradientEdge"):
        shapes(edge, gradient, True)

"""`autograd.functional`: products of a vector with a Jacobian or a Hessian."""

import pytest
import rushlight as torch
from support import assert_tensor, raises, tensor

F = torch.autograd.functional
PRODUCTS = [F.vjp, F.jvp, F.vhp, F.hvp]


def cube(x):
    return (x**3).sum()


def test_vjp_returns_the_value_and_the_vector_times_the_jacobian():
    value, product = F.vjp(lambda x, y: x * y, (tensor(2.0, 3.0), tensor(5.0, 7.0)), tensor(1.0, 10.0))
    assert_tensor(value, [10.0, 21.0])
    assert type(product) is tuple
    assert_tensor(product[0], [5.0, 70.0])
    assert_tensor(product[1], [2.0, 30.0])


def test_jvp_returns_the_value_and_the_jacobian_times_the_vector():
    value, product = F.jvp(lambda x: (x * x, x.sum()), tensor(2.0, 3.0), tensor(1.0, 10.0))
    assert_tensor(value[0], [4.0, 9.0])
    assert_tensor(product[0], [4.0, 60.0])
    assert_tensor(product[1], 11.0)


@pytest.mark.parametrize("product", [F.vhp, F.hvp])
def test_products_with_the_hessian_are_those_on_paper(product):
    value, found = product(
        lambda x, y: cube(x) * y.sum(), (tensor(1.0, 2.0), tensor(3.0)), (tensor(1.0, 0.5), tensor(2.0))
    )
    assert_tensor(value, 27.0)
    assert_tensor(found[0], [18.0 + 6.0, 18.0 + 24.0])
    assert_tensor(found[1], [3.0 + 6.0])


@pytest.mark.parametrize("product", PRODUCTS)
def test_without_create_graph_nothing_comes_back_with_a_history(product):
    x = tensor(1.0, 2.0, requires_grad=True)
    v = torch.ones((), dtype=torch.float64) if product is F.vjp else tensor(1.0, 1.0)
    value, found = product(cube, x, v)
    assert not value.requires_grad and not found.requires_grad


@pytest.mark.parametrize("product", PRODUCTS)
def test_with_create_graph_the_product_can_be_differentiated(product):
    x = tensor(1.0, 2.0, requires_grad=True)
    v = torch.ones((), dtype=torch.float64) if product is F.vjp else tensor(1.0, 1.0)
    value, found = product(cube, x, v, create_graph=True)
    assert value.requires_grad and found.requires_grad
    (slope,) = torch.autograd.grad(found.sum(), x)
    assert_tensor(slope, [6.0, 12.0] if product in (F.vjp, F.jvp) else [6.0, 6.0])


def test_with_create_graph_the_product_can_be_differentiated_by_the_vector():
    v = tensor(1.0, 1.0, requires_grad=True)
    _, found = F.vjp(lambda x: x**2, tensor(3.0, 4.0), v, create_graph=True)
    (slope,) = torch.autograd.grad(found.sum(), v)
    assert_tensor(slope, [6.0, 8.0])


def test_a_vector_of_ones_stands_for_none_where_there_is_one_element():
    assert_tensor(F.vjp(cube, tensor(1.0, 2.0))[1], [3.0, 12.0])
    assert_tensor(F.jvp(lambda x: x * tensor(1.0, 2.0), tensor(5.0))[1], [1.0, 2.0])
    assert_tensor(F.hvp(cube, tensor(2.0))[1], [12.0])


@pytest.mark.parametrize("product", PRODUCTS)
def test_the_products_do_not_depend_on_no_grad_around_them(product):
    x = tensor(1.0, 2.0, requires_grad=True)
    v = torch.ones((), dtype=torch.float64) if product is F.vjp else tensor(1.0, 1.0)
    expected = product(cube, x, v)[1]
    with torch.no_grad():
        assert_tensor(product(cube, x, v)[1], expected.numpy())


def test_a_tensor_that_the_function_captured_is_another_than_its_input():
    x = tensor(2.0, requires_grad=True)
    _, product = F.vjp(lambda y: (y * x).sum(), x)
    assert_tensor(product, [2.0])


def test_gradients_that_do_not_exist_are_zeros_unless_strict():
    both = (tensor(1.0), tensor(2.0))
    assert_tensor(F.vjp(lambda x, y: x.sum(), both)[1][1], [0.0])
    assert_tensor(F.jvp(lambda x: torch.ones(2), tensor(1.0), tensor(1.0))[1], [0.0, 0.0])
    assert_tensor(F.vhp(lambda x: x.sum(), tensor(1.0))[1], [0.0])
    assert_tensor(F.hvp(lambda x: x.sum(), tensor(1.0))[1], [0.0])


STRICT = [
    (
        F.vjp,
        lambda x: torch.ones(()),
        "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode.",
    ),
    (
        F.jvp,
        lambda x: x.detach(),
        "Output 0 of the user-provided function does not require gradients. The outputs must be computed in a differentiable manner from the input when running in strict mode.",
    ),
    (
        F.jvp,
        lambda x: (tensor(1.0, requires_grad=True) * 2).sum(),
        "The output of the user-provided function is independent of input 0. This is not allowed in strict mode.",
    ),
    (
        F.vjp,
        lambda x: (tensor(1.0, requires_grad=True) * 2).sum(),
        "The output of the user-provided function is independent of input 0. This is not allowed in strict mode.",
    ),
    (
        F.vhp,
        lambda x: x.sum(),
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example).",
    ),
    (
        F.hvp,
        lambda x: x.sum(),
        "While computing the hessian, found that the jacobian of the user-provided function with respect to input 0 is independent of the input. This is not allowed in strict mode. You should ensure that your function is twice differentiable and that the jacobian depends on the inputs (this would be violated by a linear function for example).",
    ),
]


@pytest.mark.parametrize(("product", "function", "text"), STRICT)
def test_strict_refuses_independence(product, function, text):
    with raises(RuntimeError, text):
        product(function, tensor(1.0), None if product is F.vjp else tensor(1.0), strict=True)


def test_strict_refuses_a_constant_jacobian_only_if_it_is_to_be_differentiated():
    assert_tensor(F.vjp(lambda x: 2 * x, tensor(1.0), tensor(1.0), strict=True)[1], [2.0])
    with raises(
        RuntimeError,
        "The jacobian of the user-provided function is independent of input 0. This is not allowed in strict mode when create_graph=True.",
    ):
        F.vjp(lambda x: 2 * x, tensor(1.0), tensor(1.0), strict=True, create_graph=True)


def test_strict_takes_a_constant_second_derivative_for_a_function_of_the_input():
    for product in (F.vhp, F.hvp):
        found = product(lambda x: (x**2).sum(), tensor(1.0), tensor(1.0), strict=True, create_graph=True)[1]
        assert_tensor(found, [2.0])
        assert found.requires_grad


VECTORS = [
    (F.vjp, lambda x: x, None, "The vector v can only be None if the user-provided function returns a single Tensor with a single element."),
    (F.jvp, lambda x: x, None, "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."),
    (F.vhp, cube, None, "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."),
    (F.hvp, cube, None, "The vector v can only be None if the input to the user-provided function is a single Tensor with a single element."),
    (F.vjp, lambda x: x, tensor(1.0), "v has invalid size: should be torch.Size([2]) but got torch.Size([1])."),
    (F.vjp, lambda x: (x, x), (tensor(1.0, 2.0), tensor(1.0)), "Entry 1 in v has invalid size: should be torch.Size([2]) but got torch.Size([1])."),
    (F.vjp, lambda x: (x, x), tensor(1.0, 2.0), "v is a tuple of invalid length: should be 2 but got 1."),
    (F.vjp, lambda x: x, (tensor(1.0), tensor(1.0)), "The given v should contain a single Tensor."),
]  # fmt: skip


@pytest.mark.parametrize(("product", "function", "v", "text"), VECTORS)
def test_the_vector_must_fit(product, function, v, text):
    with raises(RuntimeError, text):
        product(function, tensor(1.0, 2.0), v)


def test_what_is_no_tensor_is_named_with_its_place():
    with raises(
        TypeError,
        "The inputs given to vjp must be either a Tensor or a tuple of Tensors but the given inputs has type <class 'float'>.",
    ):
        F.vjp(cube, 3.0)
    with raises(
        TypeError,
        "The inputs given to hvp must be either a Tensor or a tuple of Tensors but the value at index 1 has type <class 'int'>.",
    ):
        F.hvp(cube, (tensor(1.0), 1))
    with raises(
        TypeError,
        "The outputs of the user-provided function given to jvp must be either a Tensor or a tuple of Tensors but the given outputs of the user-provided function has type <class 'list'>.",
    ):
        F.jvp(lambda x: [x], tensor(1.0))
    with raises(
        TypeError,
        "The v given to vhp must be either a Tensor or a tuple of Tensors but the given v has type <class 'float'>.",
    ):
        F.vhp(cube, tensor(1.0), 2.0)


@pytest.mark.parametrize("product", [F.vhp, F.hvp])
def test_a_hessian_needs_a_single_element(product):
    name = product.__name__
    with raises(RuntimeError, f"The function given to {name} should return a single Tensor"):
        product(lambda x: (cube(x),), tensor(1.0))
    with raises(
        RuntimeError, f"The Tensor returned by the function given to {name} should contain a single element"
    ):
        product(lambda x: x, tensor(1.0, 2.0), tensor(1.0, 2.0))

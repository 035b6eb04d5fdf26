"""Matrix products of all ranks, and the linear layer's function; against numpy."""

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, check_gradient, sample

F = torch.nn.functional

SHAPES = [
    ((3,), (3,)),
    ((2, 3), (3,)),
    ((3,), (3, 4)),
    ((2, 3), (3, 4)),
    ((1, 1), (1, 1)),
    ((5, 2, 3), (3,)),
    ((3,), (5, 3, 4)),
    ((5, 2, 3), (3, 4)),
    ((2, 3), (5, 3, 4)),
    ((5, 2, 3), (5, 3, 4)),
    ((5, 2, 3), (1, 3, 4)),
    ((2, 1, 2, 3), (4, 3, 5)),
    ((2, 4, 2, 3), (2, 4, 3, 1)),
]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_matmul_agrees_with_numpy(shapes, dtype):
    a, b = (sample(*shape, seed=i).astype(dtype) for i, shape in enumerate(shapes))
    x, y = torch.tensor(a), torch.tensor(b)
    expected = np.matmul(a, b)
    assert_tensor(x @ y, expected, getattr(torch, dtype), tolerance=1e-5 if dtype == "float32" else None)
    assert_tensor(torch.matmul(x, y), expected, tolerance=1e-5)
    assert_tensor(x.matmul(y), expected, tolerance=1e-5)


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_gradients_of_matmul_agree_with_differences(shapes):
    check_gradient(torch.matmul, sample(*shapes[0]), sample(*shapes[1], seed=1))


@pytest.mark.parametrize(
    "shapes",
    [((0, 3), (3, 4)), ((2, 0), (0, 4)), ((0,), (0,)), ((5, 0, 3), (5, 3, 2)), ((0, 2, 3), (3, 2))],
    ids=str,
)
def test_empty_products_are_zeros(shapes):
    a, b = np.zeros(shapes[0]), np.zeros(shapes[1])
    x = torch.tensor(a, requires_grad=True)
    y = torch.tensor(b, requires_grad=True)
    result = x @ y
    assert_tensor(result, a @ b)
    result.sum().backward()
    assert x.grad.shape == shapes[0] and y.grad.shape == shapes[1]


@pytest.mark.parametrize(
    ("name", "shapes"),
    [
        ("mm", ((2, 3), (3, 4))),
        ("bmm", ((5, 2, 3), (5, 3, 4))),
        ("mv", ((2, 3), (3,))),
        ("dot", ((3,), (3,))),
    ],
)
def test_products_of_fixed_ranks_are_those_of_numpy(name, shapes):
    a, b = sample(*shapes[0]), sample(*shapes[1], seed=1)
    function = getattr(torch, name)
    assert_tensor(function(torch.tensor(a), torch.tensor(b)), a @ b)
    assert_tensor(getattr(torch.tensor(a), name)(torch.tensor(b)), a @ b)
    check_gradient(function, a, b)


@pytest.mark.parametrize("size", [1, 2, 7, 16, 33, 64, 100, 129])
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_matrices_of_every_size_are_multiplied(size, dtype):
    a, b = sample(size, size + 1).astype(dtype), sample(size + 1, size + 2, seed=1).astype(dtype)
    assert_tensor(torch.tensor(a) @ torch.tensor(b), a @ b, tolerance=1e-4 if dtype == "float32" else 1e-11)


@pytest.mark.parametrize("dtype", ["int64", "int32", "uint8"])
def test_products_of_integers_are_integers(dtype):
    a, b = np.arange(6).reshape(2, 3).astype(dtype), np.arange(12).reshape(3, 4).astype(dtype)
    assert_tensor(torch.tensor(a) @ torch.tensor(b), a @ b, getattr(torch, dtype))
    assert (torch.tensor(a)[0] @ torch.tensor(b)[:, 0]).dtype is getattr(torch, dtype)


def test_operands_may_lie_in_any_layout():
    a, b = sample(4, 6), sample(4, 6, seed=1)
    x, y = torch.tensor(a), torch.tensor(b)
    assert_tensor(x.t() @ y, a.T @ b)
    assert_tensor(x @ y.t(), a @ b.T)
    assert_tensor(x[:, ::2] @ y[::2, :3].t()[:, :2], a[:, ::2] @ b[::2, :3].T[:, :2])
    assert_tensor(x[:1].expand(3, 6) @ y.t(), np.repeat(a[:1], 3, 0) @ b.T)
    check_gradient(lambda p, q: p.t() @ q, a, b)


def test_nan_and_infinity_come_through():
    x = torch.tensor([[float("nan"), 1.0], [float("inf"), 1.0]])
    result = x @ torch.zeros(2, 1)
    assert result.isnan().all().item()


@pytest.mark.parametrize("shape", [(3,), (2, 3), (4, 2, 3), (0, 3)], ids=str)
@pytest.mark.parametrize("bias", [True, False])
def test_linear_agrees_with_its_formula(shape, bias):
    x, w, b = sample(*shape), sample(5, 3, seed=1), sample(5, seed=2)
    expected = x @ w.T + (b if bias else 0)
    arguments = [x, w, b] if bias else [x, w]
    assert_tensor(F.linear(*[torch.tensor(a) for a in arguments]), expected)
    if 0 not in shape:
        check_gradient(F.linear, *arguments)


def test_second_derivatives_of_a_product_agree_with_differences():
    a, b = (
        torch.tensor(sample(2, 3), requires_grad=True),
        torch.tensor(sample(3, 2, seed=1), requires_grad=True),
    )
    (ga,) = torch.autograd.grad(((a @ b) ** 2).sum(), a, create_graph=True)
    (gb,) = torch.autograd.grad(ga.sum(), b)
    step, expected = 1e-6, np.zeros((3, 2))
    for index in np.ndindex(3, 2):
        sides = []
        for sign in (1, -1):
            moved = sample(3, 2, seed=1)
            moved[index] += sign * step
            sides.append((2 * (sample(2, 3) @ moved) @ moved.T).sum())
        expected[index] = (sides[0] - sides[1]) / (2 * step)
    assert_tensor(gb, expected, tolerance=1e-6)


def test_the_operator_with_assignment_makes_a_new_tensor():
    x = y = torch.eye(2)
    x @= torch.ones(2, 2)
    assert x is not y and x.tolist() == [[1.0, 1.0], [1.0, 1.0]]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(2, 3, 4), (1, 40, 30), (17, 5, 1), (16, 16, 16), (70, 90, 33)], ids=str)
def test_complex_matrices_multiply_however_they_lie(sizes, dtype):
    m, k, n = sizes
    a = (sample(m, k) + 1j * sample(m, k, seed=1)).astype(dtype)
    b = (sample(k, n, seed=2) + 1j * sample(k, n, seed=3)).astype(dtype)
    tolerance = 1e-4 if dtype == "complex64" else 1e-11
    x, y = torch.tensor(a), torch.tensor(b)
    left = [x, x.mT.contiguous().mT, torch.tensor(a.conj()).conj()]
    right = [y, y.mT.contiguous().mT, torch.tensor(b.repeat(2, axis=1))[:, ::2]]
    for x in left:
        for y in right:
            product = x @ y
            assert product.dtype == getattr(torch, dtype)
            np.testing.assert_allclose(product.numpy(), a @ b, rtol=0, atol=tolerance)
    batch = torch.stack([x, x]) @ y
    np.testing.assert_allclose(batch.numpy(), np.stack([a @ b] * 2), rtol=0, atol=tolerance)

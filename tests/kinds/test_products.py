"""Products of sparse matrices, in every layout and order of values, and what they say of their factors."""

import pytest
import rushlight as torch
from support import raises


def matrix(rows, columns, count, layout="coo", dtype=torch.float64):
    torch.manual_seed(1)
    places = torch.stack([torch.randint(rows, (count,)), torch.randint(columns, (count,))])
    found = torch.sparse_coo_tensor(places, torch.randn(count, dtype=dtype), (rows, columns)).coalesce()
    return (getattr(found, f"to_sparse_{layout}")() if layout != "coo" else found).requires_grad_()


@pytest.mark.parametrize("layout", ["coo", "csr", pytest.param("csc", marks=pytest.mark.own)])
@pytest.mark.parametrize("width", [1, 5, 64, 75])
def test_products_and_gradients_are_those_of_dense_matrices(layout, width):
    a = matrix(40, 30, 200, layout)
    b = torch.randn(30, width, dtype=torch.float64, requires_grad=True)
    whole = a.detach().to_dense().requires_grad_()
    weights = torch.randn(40, width, dtype=torch.float64)
    (torch.sparse.mm(a, b) * weights).sum().backward()
    found, b.grad = b.grad, None
    (whole @ b * weights).sum().backward()
    torch.testing.assert_close(found, b.grad)
    there = a.detach().to_dense() != 0
    torch.testing.assert_close(a.grad.to_dense(), whole.grad * there)


def test_values_in_any_order_and_repeated_are_summed():
    places = torch.tensor([[2, 0, 2, 0, 2], [1, 0, 0, 1, 1]])
    a = torch.sparse_coo_tensor(places, torch.tensor([5.0, 1.0, 3.0, 2.0, 4.0]), (3, 2))
    b = torch.arange(6.0).reshape(2, 3)
    assert (a @ b).tolist() == (a.to_dense() @ b).tolist()
    assert (a @ b[:, 0]).tolist() == (a.to_dense() @ b[:, 0]).tolist()
    assert (torch.ones(1, 3) @ a).tolist() == (torch.ones(1, 3) @ a.to_dense()).tolist()


def test_products_of_nothing_are_zero():
    a = torch.sparse_coo_tensor(torch.zeros(2, 0, dtype=torch.int64), torch.zeros(0), (3, 4))
    assert (a @ torch.ones(4, 2)).tolist() == [[0.0, 0.0]] * 3
    assert (a @ torch.ones(4, 0)).shape == (3, 0)


@pytest.mark.parametrize("dtype", [torch.int32, torch.int64, torch.float16, torch.bfloat16, torch.complex64])
def test_products_are_of_the_type_of_their_factors(dtype):
    found = torch.eye(3).to(dtype).to_sparse() @ torch.full((3, 2), 2).to(dtype)
    assert found.dtype == dtype and found.tolist() == [[2, 2]] * 3


@pytest.mark.own  # there sums of many threads differ
def test_bits_do_not_depend_on_the_number_of_threads():
    a, b = matrix(3000, 2000, 60000, dtype=torch.float32), torch.randn(2000, 33, requires_grad=True)
    results, before = [], torch.get_num_threads()
    for threads in (1, 2, 5):
        torch.set_num_threads(threads)
        a.grad = b.grad = None
        found = torch.sparse.mm(a, b)
        found.backward(found.detach())
        results.append((found.detach(), a.grad.to_dense(), b.grad))
    torch.set_num_threads(before)
    for other in results[1:]:
        assert all(x.equal(y) for x, y in zip(results[0], other, strict=True))


@pytest.mark.own  # torch has no second derivatives of them
def test_products_are_differentiated_twice():
    rows, columns = torch.tensor([2, 0, 2, 0]), torch.tensor([1, 0, 0, 1])
    values = torch.randn(4, dtype=torch.float64, requires_grad=True)
    b = torch.randn(2, 3, dtype=torch.float64, requires_grad=True)

    def times(values, b):
        return torch.sparse.mm(torch.sparse_coo_tensor(torch.stack([rows, columns]), values, (3, 2)), b)

    assert torch.autograd.gradcheck(times, (values, b), check_undefined_grad=False)


@pytest.mark.own
def test_places_outside_of_the_matrix_are_refused():
    a = torch.sparse_coo_tensor([[0], [1]], [1.0], (1, 2))
    a._indices()[1] = 7
    with raises(RuntimeError, "index 7 is out of bounds for dimension 1 with size 2"):
        a @ torch.ones(2, 1)

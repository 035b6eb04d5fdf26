"""Results of linear algebra lie column by column, and views of them accordingly."""

import pytest
import rushlight as torch

pytestmark = pytest.mark.filterwarnings(r"ignore:torch\.(triangular_solve|cholesky) is deprecated")

MATRIX = torch.tensor([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])

BY_COLUMNS = {
    "inv": torch.linalg.inv,
    "solve": lambda x: torch.linalg.solve(x, x),
    "cholesky": torch.linalg.cholesky,
    "upper cholesky": lambda x: torch.linalg.cholesky(x, upper=True),
    "cholesky_inverse": torch.cholesky_inverse,
    "cholesky_solve": lambda x: torch.cholesky_solve(x, x),
    "q": lambda x: torch.linalg.qr(x)[0],
    "r": lambda x: torch.linalg.qr(x)[1],
    "u": lambda x: torch.linalg.svd(x)[0],
    "vh": lambda x: torch.linalg.svd(x)[2],
    "eigh": lambda x: torch.linalg.eigh(x)[1],
    "eig": lambda x: torch.linalg.eig(x)[1],
    "lu_factor": lambda x: torch.linalg.lu_factor(x)[0],
    "lu_solve": lambda x: torch.linalg.lu_solve(*torch.linalg.lu_factor(x), x),
    "solve_triangular": lambda x: torch.linalg.solve_triangular(x, x, upper=True),
    "from the right": lambda x: torch.linalg.solve_triangular(x, x, upper=True, left=False),
    "triangular_solve": lambda x: torch.triangular_solve(x, x)[1],
    "lstsq": lambda x: torch.linalg.lstsq(x, x).solution,
    "geqrf": lambda x: torch.geqrf(x)[0],
    "householder_product": lambda x: torch.linalg.householder_product(x, x[0]),
    "ormqr": lambda x: torch.ormqr(x, x[0], x),
    "complex": lambda x: torch.linalg.inv(torch.complex(x, x)),
}


@pytest.mark.parametrize("operation", BY_COLUMNS.values(), ids=BY_COLUMNS)
def test_the_columns_of_a_result_lie_one_behind_the_other(operation):
    y = operation(MATRIX)
    assert y.stride() == (1, 3)
    assert y.mT.is_contiguous()


def test_many_matrices_lie_one_behind_the_other():
    x = torch.stack([MATRIX, 2 * MATRIX])
    for name in ("inv", "cholesky", "q", "vh", "eigh", "lu_factor", "lstsq"):
        assert BY_COLUMNS[name](x).stride() == (9, 1, 3)
    assert torch.linalg.svd(x[:, :2])[2].stride() == (9, 1, 3)


IN_ORDER = {
    "solve from the right": lambda x: torch.linalg.solve(x, x, left=False),
    "lu": lambda x: torch.linalg.lu(x)[1],
    "pinv": torch.linalg.pinv,
    "v": lambda x: torch.svd(x)[2],
    "matrix_exp": torch.linalg.matrix_exp,
    "matrix_power": lambda x: torch.linalg.matrix_power(x, 2),
}


@pytest.mark.parametrize("operation", IN_ORDER.values(), ids=IN_ORDER)
def test_what_is_put_together_of_products_lies_in_order(operation):
    assert operation(MATRIX).stride() == (3, 1)


def test_older_operations_write_into_an_empty_tensor_in_order():
    for operation in (torch.cholesky, lambda x, out: torch.cholesky_solve(x, x, out=out)):
        out = torch.empty(0)
        operation(MATRIX, out=out)
        assert out.stride() == (3, 1)
    out = torch.empty(0, dtype=torch.float64)
    torch.cholesky_inverse(MATRIX, out=out)
    assert out.stride() == (3, 1)
    out = torch.empty(0)
    torch.linalg.inv(MATRIX, out=out)
    assert out.stride() == (1, 3)


def test_derivatives_pass_through_results_in_columns():
    x = MATRIX.double().requires_grad_()
    for operation in (torch.linalg.inv, torch.linalg.cholesky, lambda x: torch.linalg.solve(x, x.mT)):
        assert torch.autograd.gradcheck(lambda x, operation=operation: operation(x @ x.mT).mT.reshape(-1), x)

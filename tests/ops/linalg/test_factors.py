"""Factors of matrices: they make the matrix again, gradients pass them, and misuse is refused."""

import numpy as np
import pytest
import rushlight as torch
from support import raises

L = torch.linalg


def numbers(*shape, seed=0):
    return torch.tensor(np.random.RandomState(seed).randn(*shape))


def positive(*shape):
    x = numbers(*shape)
    return x @ x.mT + torch.eye(shape[-1], dtype=torch.float64)


@pytest.mark.parametrize("shape", [(3, 3), (4, 2), (2, 4), (2, 3, 2), (0, 3)])
def test_factors_make_the_matrix_again(shape):
    a = numbers(*shape)
    q, r = L.qr(a)
    assert torch.allclose(q @ r, a)
    u, s, vh = L.svd(a, full_matrices=False)
    assert torch.allclose(u * s.unsqueeze(-2) @ vh, a)
    p, low, up = L.lu(a)
    assert torch.allclose(p @ low @ up, a)
    assert torch.allclose(a @ L.pinv(a) @ a, a)


def test_eigenvectors_belong_to_ascending_eigenvalues():
    a = positive(2, 4, 4)
    values, vectors = L.eigh(a)
    assert bool((values.diff() >= 0).all())
    assert torch.allclose(a @ vectors, vectors * values.unsqueeze(-2))
    assert torch.allclose(L.eigvalsh(a), values)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: L.qr(x),
        lambda x: L.qr(x[:, :2]),
        lambda x: L.qr(x[:2]),
        lambda x: L.svdvals(x),
        lambda x: L.pinv(x),
        lambda x: L.pinv(x[:, :2]),
        lambda x: torch.matrix_exp(x),
        lambda x: L.lu_factor(x)[0],
        lambda x: L.lu(x)[1:],
        lambda x: L.eigvalsh(x + x.mT),
        lambda x: L.solve_triangular(x, x, upper=True),
        lambda x: L.solve_triangular(x, x, upper=False, left=False, unitriangular=True),
        lambda x: torch.cholesky_solve(x, x.tril()),
        lambda x: L.lu_solve(*L.lu_factor(x), x, adjoint=True),
        lambda x: L.lstsq(x[:, :2], x)[0],
        lambda x: L.matrix_norm(x, "nuc"),
        lambda x: L.cond(x),
    ],
)
def test_gradients_pass_factors(call):
    x = (numbers(3, 3) + 3 * torch.eye(3, dtype=torch.float64)).requires_grad_()
    assert torch.autograd.gradcheck(call, (x,))
    assert torch.autograd.gradgradcheck(call, (x,))


def test_nodes_keep_what_their_names_say():
    x = positive(3, 3).requires_grad_()
    node = L.eigh(x)[0].grad_fn
    assert type(node).__name__ == "LinalgEighBackward0"
    assert torch.equal(node._saved_eigenvalues, L.eigvalsh(x))
    node = L.qr(x)[0].grad_fn
    assert (type(node).__name__, node._saved_mode) == ("LinalgQrBackward0", "reduced")
    node = L.solve_triangular(x, x, upper=True).grad_fn
    assert (node._saved_left, node._saved_upper, node._saved_unitriangular) == (True, True, False)


@pytest.mark.parametrize(
    "call, text",
    [
        (lambda: L.qr(torch.ones(2)), "linalg.qr: The input tensor A must have at least 2 dimensions."),
        (
            lambda: L.qr(torch.ones(2, 2), mode="x"),
            "qr received unrecognized mode 'x' but expected one of 'reduced' (default), 'r', or 'complete'",
        ),
        (
            lambda: L.eigh(torch.ones(2, 2), UPLO="x"),
            "Expected UPLO argument to be 'L' or 'U', but got x",
        ),
        (
            lambda: L.solve_triangular(torch.ones(3, 3), torch.ones(3, 2), upper=True, left=False),
            "linalg.solve_triangular: Incompatible shapes of A and B for the equation XA = B (3x3 and 3x2)",
        ),
        (
            lambda: L.lu_factor(torch.zeros(2, 2)),
            "torch.linalg.lu_factor: U[1,1] is zero and using it on lu_solve would result in a division by zero",
        ),
        (
            lambda: L.matrix_exp(torch.ones(2, 3)),
            "linalg.matrix_exp: A must be batches of square matrices, but they are 2 by 3 matrices",
        ),
    ],
)
def test_misuse_is_refused_in_words(call, text):
    with raises(RuntimeError, text):
        call()


def test_derivatives_that_there_are_not_are_refused():
    x = numbers(3, 2).requires_grad_()
    with raises(
        RuntimeError, "The QR decomposition is not differentiable when mode='complete' and nrows > ncols."
    ):
        L.qr(x, mode="complete")[1].sum().backward()
    with raises(
        RuntimeError, "The derivative of linalg.qr depends on Q, which is not computed when mode='r'."
    ):
        L.qr(x, mode="r")[1].sum().backward()


def test_numbers_that_have_no_nearest_solutions_are_refused():
    for dtype in (torch.int64, torch.float16):
        x = torch.ones(3, 3, dtype=dtype)
        with raises(RuntimeError, "This function doesn't handle types other than float and double"):
            L.lstsq(x, x)
    x = torch.ones(3, 3, dtype=torch.int64)
    with raises(NotImplementedError, "\"linalg_lstsq_cpu\" not implemented for 'Long'"):
        L.lstsq(x, x, rcond=0.1)


def test_a_share_that_is_none_is_not_asked_for():
    A = torch.tensor([[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]], dtype=torch.float64)
    B = torch.tensor([[1.0], [2.0], [4.0]], dtype=torch.float64)
    nearest = L.lstsq(A, B).solution
    for driver, rcond in (("gels", 3.0), ("gels", 0.9), ("gelsd", 3.0), ("gelsd", 0.0)):
        torch.testing.assert_close(L.lstsq(A, B, rcond=rcond, driver=driver).solution, nearest)
    assert L.lstsq(A, B, rcond=0.9, driver="gelsd").rank.item() == 1


def test_pivots_are_as_many_as_rows():
    refusal = "linalg.lu_solve: Number of pivots per batch should be same as the dimension of the matrix"
    with raises(RuntimeError, refusal):
        L.lu_solve(torch.eye(4), torch.ones(3, dtype=torch.int32), torch.ones(4, 2))


def test_failures_are_told_by_a_number_where_asked():
    info = L.inv_ex(torch.tensor([[1.0, 2.0], [2.0, 4.0]])).info
    assert info.dtype == torch.int32 and info.item() == 2
    assert L.cholesky_ex(torch.tensor([[1.0, 0.0], [0.0, -1.0]])).info.item() == 2
    assert L.lu_factor_ex(torch.zeros(2, 2)).info.item() == 1


def test_ranks_count_what_is_not_nearly_zero():
    assert L.matrix_rank(torch.ones(2, 3, 3)).tolist() == [1, 1]
    assert L.matrix_rank(torch.eye(3), atol=2.0).item() == 0


def test_many_matrices_at_once_are_one_after_the_other():
    x = numbers(4, 3, 3)
    for call in (L.svdvals, L.pinv, torch.matrix_exp, lambda a: L.qr(a)[1]):
        assert torch.allclose(torch.func.vmap(call)(x), torch.stack([call(one) for one in x]))


def test_both_halves_of_a_symmetric_matrix_have_a_part_in_its_pseudoinverse():
    x = torch.tensor([[2.0, 0.5], [0.5, 1.0]], requires_grad=True)
    y = L.pinv(x, hermitian=True)
    (gradient,) = torch.autograd.grad((y * y).sum(), x)
    assert torch.allclose(gradient, gradient.t()) and gradient[0, 1] != 0
    assert torch.allclose(gradient, torch.autograd.grad((L.pinv(x) ** 2).sum(), x)[0], atol=1e-5)


@pytest.mark.filterwarnings("ignore:torch.cholesky is deprecated")
@pytest.mark.parametrize("factor", [torch.linalg.cholesky, torch.cholesky])
def test_a_triangular_factor_is_that_of_the_triangle_that_is_asked_for(factor):
    matrix = torch.tensor([[4.0, 2.0], [100.0, 5.0]])
    assert factor(matrix, upper=True).tolist() == [[2.0, 1.0], [0.0, 2.0]]
    assert factor(matrix.mT).tolist() == [[2.0, 0.0], [1.0, 2.0]]
    upper = torch.tensor([[4.0 + 0j, 2j], [100.0, 5.0]])
    assert factor(upper, upper=True).tolist() == [[2.0, 1j], [0.0, 2.0]]


def test_least_squares_of_a_vector_are_recorded_at_once():
    a = torch.tensor([[2.0, 1.0], [1.0, 3.0], [0.0, 1.0]], dtype=torch.float64, requires_grad=True)
    b = torch.tensor([1.0, 2.0, 3.0], dtype=torch.float64, requires_grad=True)
    solution = torch.linalg.lstsq(a, b).solution
    assert not solution._is_view()
    assert type(solution.grad_fn).__name__ == "LinalgLstsqBackward0"
    assert [type(node).__name__ for node, _ in solution.grad_fn.next_functions] == ["AccumulateGrad"] * 2
    of_a, of_b = torch.autograd.grad(solution.sum(), (a, b))
    assert torch.allclose(of_a, torch.tensor([[0.16, -0.4], [-0.12, -0.2], [0.4, 0.0]], dtype=torch.float64))
    assert torch.allclose(of_b, torch.tensor([0.4, 0.2, 0.0], dtype=torch.float64))
    assert torch.autograd.gradcheck(
        lambda a, b: torch.linalg.lstsq(a, b).solution, (a, b), check_forward_ad=True
    )

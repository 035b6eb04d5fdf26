"""Symmetric matrices of either sign: `ldl_factor` and `ldl_solve`."""

import pytest
import rushlight as torch
from rushlight.autograd import gradcheck, gradgradcheck
from support import raises

linalg = torch.linalg
SIZES = pytest.mark.parametrize("size", [1, 2, 3, 6])
KINDS = pytest.mark.parametrize(
    ("dtype", "hermitian"),
    [(torch.float64, False), (torch.complex128, False), (torch.complex128, True)],
)


def symmetric(size, dtype, hermitian, shape=()):
    torch.manual_seed(size)
    A = torch.randn(*shape, size, size, dtype=dtype)
    return A + (A.mH if hermitian else A.mT)


@SIZES
@KINDS
@pytest.mark.parametrize("diagonal", [0.0, 0.1, 1.0])
def test_what_is_taken_apart_solves_equations(size, dtype, hermitian, diagonal):
    A = symmetric(size, dtype, hermitian)
    if size > 1:
        A.diagonal().mul_(diagonal)
    B = torch.randn(size, 2, dtype=dtype)
    x = linalg.ldl_solve(*linalg.ldl_factor(A, hermitian=hermitian), B, hermitian=hermitian)
    assert torch.allclose(A @ x, B, atol=1e-8)


def test_blocks_of_two_rows_are_told_by_the_sign_of_their_pivots():
    A = torch.tensor([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [2.0, 3.0, 0.0]])
    factors = linalg.ldl_factor(A)
    assert factors.pivots.tolist() == [-3, -3, 3]
    assert factors.LD.tolist() == [[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [1.5, 0.5, -3.0]]
    assert factors.LD.stride() == (1, 3)


def test_a_matrix_that_is_zero_has_a_number_for_that():
    found = linalg.ldl_factor_ex(torch.zeros(2, 2, 2))
    assert found.info.tolist() == [1, 1]
    assert found.pivots.tolist() == [[1, 2], [1, 2]]
    with pytest.raises(RuntimeError, match=r"torch\.linalg\.ldl_factor: Unknown error code: 1\."):
        linalg.ldl_factor(torch.zeros(2, 2))


def test_batches_meet_as_they_broadcast():
    A = symmetric(3, torch.float64, False, shape=(4,))
    B = torch.randn(3, 2, dtype=torch.float64)
    x = linalg.ldl_solve(*linalg.ldl_factor(A), B)
    assert x.shape == (4, 3, 2)
    assert torch.allclose(A @ x, B.expand(4, 3, 2))


@pytest.mark.filterwarnings("ignore:There is a performance drop")
def test_samples_are_taken_apart_one_by_one():
    A = symmetric(3, torch.float64, False, shape=(4,))
    found = torch.vmap(lambda one: linalg.ldl_factor(one).LD)(A)
    assert torch.allclose(found, linalg.ldl_factor(A).LD)


@pytest.mark.own
@KINDS
@pytest.mark.parametrize("diagonal", [0.0, 1.0])
def test_factors_and_solutions_have_derivatives(dtype, hermitian, diagonal):
    A = symmetric(4, dtype, hermitian)
    A.diagonal().mul_(diagonal)

    def factors(A):
        return linalg.ldl_factor(A + A.tril(-1), hermitian=hermitian).LD

    def solution(A, B):
        return linalg.ldl_solve(*linalg.ldl_factor(A, hermitian=hermitian), B, hermitian=hermitian)

    assert gradcheck(factors, A.requires_grad_(), check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(factors, A)
    B = torch.randn(4, 2, dtype=dtype, requires_grad=True)
    assert gradcheck(solution, (A, B), check_forward_ad=True)


@pytest.mark.own
def test_factors_of_each_sample_have_gradients():
    A = symmetric(3, torch.float64, False, shape=(2,))
    gradient = torch.func.grad(lambda A: linalg.ldl_factor(A).LD.sin().sum())
    assert torch.allclose(torch.vmap(gradient)(A), torch.stack([gradient(one) for one in A]))


def test_what_does_not_fit_is_refused():
    A, one = torch.eye(2), torch.tensor([1, 2])
    for call, text in (
        (
            lambda: linalg.ldl_factor(torch.ones(2, 3)),
            "torch.linalg.ldl_factor_ex: A must be batches of square",
        ),
        (
            lambda: linalg.ldl_factor(A.long()),
            "torch.linalg.ldl_factor_ex: Expected a floating point or complex",
        ),
        (
            lambda: linalg.ldl_solve(A, one.float(), A),
            "torch.linalg.ldl_solve: Expected pivots to be integers",
        ),
        (
            lambda: linalg.ldl_solve(A, one[:1], A),
            "torch.linalg.ldl_solve: Expected LD.shape[:-1] and pivots",
        ),
        (
            lambda: linalg.ldl_solve(A, one, A.double()),
            "Expected b and A to have the same dtype, but found b of",
        ),
        (
            lambda: linalg.ldl_solve(A, one, torch.ones(3, 1)),
            "Incompatible matrix sizes for torch.linalg.ldl_solve",
        ),
    ):
        with raises(RuntimeError, text):
            call()


@pytest.mark.parametrize("shape", [(0, 0), (2, 0, 0), (0, 3, 3)])
def test_matrices_without_elements_are_taken_apart_and_solved(shape):
    LD, pivots, info = linalg.ldl_factor_ex(torch.ones(shape))
    assert (LD.shape, pivots.shape, info.shape) == (shape, shape[:-1], shape[:-2])
    B = torch.ones(*shape[:-1], 2)
    assert linalg.ldl_solve(LD, pivots, B).shape == B.shape


def test_one_matrix_solves_batches_with_derivatives_and_within_mappings():
    A = torch.tensor([[2.0, 1.0], [1.0, -3.0]], dtype=torch.float64)
    LD, pivots = linalg.ldl_factor(A)
    B = torch.arange(12.0, dtype=torch.float64).reshape(3, 2, 2).requires_grad_()
    expected = torch.autograd.grad(linalg.solve(A, B).sum(), B)
    torch.testing.assert_close(torch.autograd.grad(linalg.ldl_solve(LD, pivots, B).sum(), B), expected)
    solved = torch.vmap(lambda B: linalg.ldl_solve(LD, pivots, B))(torch.stack([B, 2 * B]))
    torch.testing.assert_close(solved, linalg.solve(A, torch.stack([B, 2 * B])))
    by_pivots = torch.vmap(lambda pivots: linalg.ldl_solve(LD, pivots, B))(torch.stack([pivots] * 2))
    torch.testing.assert_close(torch.autograd.grad(by_pivots.sum(), B)[0], 2 * expected[0])

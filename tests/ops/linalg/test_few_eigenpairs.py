"""A few eigenvalues of symmetric matrices: `lobpcg`."""

import pytest
import rushlight as torch

A = torch.diag(torch.arange(1.0, 10.0, dtype=torch.float64)) + 0.1
B = torch.diag(torch.linspace(1, 2, 9, dtype=torch.float64)) + 0.05


@pytest.mark.parametrize("largest", [True, False, None])
@pytest.mark.parametrize("second", [None, B])
def test_they_are_the_outermost_eigenvalues_with_their_vectors(largest, second):
    torch.manual_seed(0)
    values, vectors = torch.lobpcg(A, 2, second, largest=largest, niter=500, tol=1e-12)
    assert (values.shape, vectors.shape) == ((2,), (9, 2))
    assert bool(values[0] < values[1]) == (largest is False)
    right = vectors if second is None else second @ vectors
    torch.testing.assert_close(A @ vectors, right * values, rtol=1e-5, atol=1e-5)


def test_batches_and_first_guesses_say_how_many():
    torch.manual_seed(0)
    guess = torch.randn(2, 9, 3, dtype=torch.float64)
    values, vectors = torch.lobpcg(torch.stack([A, 2 * A]), X=guess, niter=500)
    assert (values.shape, vectors.shape) == ((2, 3), (2, 9, 3))
    torch.testing.assert_close(values[1], 2 * values[0], rtol=1e-5, atol=1e-5)


def test_values_have_symmetric_gradients():
    x = A.clone().requires_grad_()
    torch.manual_seed(0)
    values, vectors = torch.lobpcg(x, 1, niter=500, tol=1e-12)
    values.sum().backward()
    torch.testing.assert_close(x.grad, (vectors @ vectors.mT).detach(), rtol=1e-5, atol=1e-5)


def test_too_many_and_matrices_that_are_not_square_are_refused():
    with pytest.raises(ValueError) as caught:
        torch.lobpcg(torch.eye(3), 2)
    assert str(caught.value) == (
        "LOBPCG algorithm is not applicable when the number of A rows (=3) is smaller than 3 x the number of "
        "requested eigenpairs (=2)"
    )
    with pytest.raises(AssertionError, match=r"A must be square, got shape torch\.Size\(\[9, 8\]\)"):
        torch.lobpcg(torch.ones(9, 8))

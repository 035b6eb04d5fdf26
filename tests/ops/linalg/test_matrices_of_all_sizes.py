"""Matrices of all sizes: many small ones at once, symmetric ones of numbers far from one, and products of any shape."""

import numpy as np
import pytest
import rushlight as torch
from support import raises

L = torch.linalg
TYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
REAL = [torch.float32, torch.float64]


def numbers(*shape, dtype=torch.float64, seed=0):
    state = np.random.RandomState(seed)
    real = torch.tensor(state.randn(*shape))
    return (torch.complex(real, torch.tensor(state.randn(*shape))) if dtype.is_complex else real).to(dtype)


def positive(*shape, dtype=torch.float64):
    x = numbers(*shape, dtype=dtype)
    return x @ x.mH / shape[-1] + torch.eye(shape[-1], dtype=dtype)


def small(dtype):
    return 2e-4 if dtype in (torch.float32, torch.complex64) else 1e-10


def solutions(a, b):
    low = L.cholesky(a)
    lu, pivots = L.lu_factor(b)
    return [
        L.solve(b, a),
        L.solve(b, a, left=False),
        L.inv(b),
        L.det(b),
        *L.slogdet(b),
        *L.lu(b),
        lu,
        pivots,
        L.lu_solve(lu, pivots, a),
        L.lu_solve(lu, pivots, a, adjoint=True),
        low,
        L.cholesky(a, upper=True),
        L.solve_triangular(low, b, upper=False),
        L.solve_triangular(low.mT, b, upper=True, left=False),
        L.solve_triangular(low, b, upper=False, unitriangular=True),
    ]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(
    ("count", "n"), [(1, 3), (3, 3), (21, 1), (21, 2), (40, 3), (9, 8), (19, 16), (5, 17)]
)
def test_many_small_matrices_have_what_each_one_has(count, n, dtype):
    a, b = positive(count, n, n, dtype=dtype), numbers(count, n, n, dtype=dtype, seed=1)
    b = b + 3 * torch.eye(n, dtype=dtype)[torch.arange(n - 1, -1, -1)]
    for given in [(a, b), (a.mT.contiguous().mT, b.mT.contiguous().mT)]:
        all_at_once = solutions(*given)
        for item in range(count):
            for whole, one in zip(all_at_once, solutions(a[item], b[item]), strict=True):
                assert whole[item].dtype == one.dtype
                assert (whole[item] - one).abs().max() <= small(dtype) * (1 + one.abs().max())
    assert ((b @ L.solve(b, a) - a).abs().max() < 10 * small(dtype)).item()


@pytest.mark.own
@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", [2, 3, 8, 16])
def test_nobody_can_tell_with_how_many_others_a_small_matrix_was_factored(n, dtype):
    a, b = positive(37, n, n, dtype=dtype), numbers(37, n, n, dtype=dtype, seed=1)
    all_at_once = solutions(a, b)
    for item in (0, 17, 36):
        for whole, one in zip(all_at_once, solutions(a[item], b[item]), strict=True):
            assert torch.equal(whole[item], one)


def test_a_singular_matrix_among_many_is_told_and_the_others_are_solved():
    a, b = positive(40, 3, 3), numbers(40, 3, 2)
    a[23] = torch.tensor([[1.0, 2.0, 3.0], [2.0, 4.0, 6.0], [1.0, 0.0, 1.0]])
    x, info = L.solve_ex(a, b)
    assert info.nonzero().tolist() == [[23]]
    others = [item for item in range(40) if item != 23]
    assert torch.allclose((a @ x)[others], b[others]) and L.det(a)[23] == 0
    with raises(L.LinAlgError, "torch.linalg.solve: (Batch element 23): The solver failed"):
        L.solve(a, b)
    with raises(L.LinAlgError, "linalg.inv: (Batch element 23): The diagonal element 3 is zero"):
        L.inv(a)
    a[11, 0, 0] = -1
    assert L.cholesky_ex(a[:20]).info.nonzero().tolist() == [[11]]
    with raises(
        L.LinAlgError, "linalg.cholesky: (Batch element 11): The factorization could not be completed"
    ):
        L.cholesky(a)
    a[5] = float("nan")
    assert L.det(a)[5].isnan() and not L.det(a)[[4, 6]].isnan().any()


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("n", [3, 4, 15, 16, 17, 40, 130])
@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_symmetric_matrices_have_their_eigenvectors(n, dtype, scale):
    a = numbers(n, n, dtype=dtype)
    a = (a + a.mT) * scale
    values, vectors = L.eigh(a)
    norm = values.abs().max()
    assert ((a @ vectors - vectors * values).abs().max() <= small(dtype) * norm).item()
    assert ((vectors.mT @ vectors - torch.eye(n, dtype=dtype)).abs().max() <= small(dtype)).item()
    assert ((L.eigvalsh(a) - values).abs().max() <= small(dtype) * norm).item()
    assert (values.diff() >= 0).all() and (
        (L.eigvalsh(a, UPLO="U") - values).abs().max() <= small(dtype) * norm
    )


@pytest.mark.parametrize("n", [4, 20, 70])
def test_eigenvalues_may_be_many_times_the_same(n):
    unit, row = torch.eye(n, dtype=torch.float64), numbers(n, 1)
    row /= row.norm()
    cases = [(unit, [1.0] * n), (unit * 0, [0.0] * n), (row @ row.mT, [0.0] * (n - 1) + [1.0])]
    cases.append((unit - 2 * row @ row.mT, [-1.0] + [1.0] * (n - 1)))
    cases.append((torch.diag(torch.arange(n - 1.0, -1, -1, dtype=torch.float64)), list(range(n))))
    for a, wanted in cases:
        values, vectors = L.eigh(a)
        wanted = torch.tensor(wanted, dtype=torch.float64)
        assert (values - wanted).abs().max() < 1e-12 * n and (L.eigvalsh(a) - wanted).abs().max() < 1e-12 * n
        assert (vectors.mT @ vectors - unit).abs().max() < 1e-12 and (
            a @ vectors - vectors * values
        ).abs().max() < 1e-12 * n


def test_eigenvalues_of_what_is_no_number_are_refused():
    words = (
        "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
        "eigenvalues (error code: {}).".format
    )
    a = torch.full((3, 3), float("nan"))
    with raises(L.LinAlgError, "linalg.eigh: " + words(2)):
        L.eigh(a)
    with raises(L.LinAlgError, "linalg.eigh: " + words(1)):
        L.eigvalsh(a)
    many = torch.eye(3).repeat(4, 1, 1)
    many[2] = float("nan")
    with raises(L.LinAlgError, "linalg.eigh: (Batch element 2): " + words(2)):
        L.eigh(many)
    # The other triangle is not read, and matrices of two rows and of one have other ways.
    assert L.eigh(torch.tensor([[1.0, float("nan")], [0.0, 1.0]])).eigenvalues.tolist() == [1.0, 1.0]
    assert L.eigvalsh(torch.full((2, 2), float("nan"))).isnan().all()
    assert L.eigh(torch.full((1, 1), float("inf"))).eigenvalues.item() == float("inf")


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (30, 16), (16, 30), (64, 64), (3, 17, 5)])
@pytest.mark.parametrize("scale", [1.0, 1e-35, 1e30])
def test_triangles_of_numbers_far_from_one_make_the_matrix_again(shape, dtype, scale):
    a = numbers(*shape, dtype=dtype) * scale
    a[..., 0] *= 1e-3
    for mode in ("reduced", "complete"):
        q, r = L.qr(a, mode=mode)
        unit = torch.eye(q.shape[-1], dtype=dtype)
        assert ((q @ r - a).abs().max() <= small(dtype) * a.abs().max()).item()
        assert ((q.mT @ q - unit).abs().max() < small(dtype)).item() and torch.equal(r, r.triu())
    assert torch.equal(L.qr(a, mode="r").R, L.qr(a).R)


def test_a_triangle_stays_as_it_is():
    a = numbers(6, 6).triu()
    q, r = L.qr(a)
    assert torch.equal(r, a) and torch.equal(q, torch.eye(6, dtype=torch.float64))
    graded = torch.diag(torch.tensor([1.0, 1e-30])) + torch.tensor([[0.0, 0.0], [1e-30, 0.0]])
    q, r = L.qr(graded)
    assert torch.allclose(q @ r, graded, rtol=1e-5, atol=0) and torch.allclose(q.mT @ q, torch.eye(2))


@pytest.mark.parametrize("dtype", REAL)
@pytest.mark.parametrize("norm", [0.0, 1e-4, 0.05, 0.6, 2.0, 40.0])
def test_exponentials_of_small_and_large_matrices(norm, dtype):
    a = numbers(12, 12, dtype=dtype)
    a = (a - a.mT) * (norm / (a - a.mT).abs().sum(-1).max())
    turn = L.matrix_exp(a)
    assert ((turn @ turn.mT - torch.eye(12, dtype=dtype)).abs().max() < small(dtype)).item()
    values, vectors = L.eigh(1j * a.to(torch.complex128))
    wanted = (vectors * (-1j * values).exp()) @ vectors.mH
    assert ((turn - wanted.real).abs().max() < small(dtype)).item()
    many = L.matrix_exp(torch.stack([a[:3, :3], a[3:6, 3:6]]))
    assert ((many[1] - L.matrix_exp(a[3:6, 3:6])).abs().max() < small(dtype)).item()


@pytest.mark.parametrize("n", [1, 3, 12])
def test_gradients_of_exponentials_are_those_of_their_operations(n):
    a, along = numbers(2, n, n).requires_grad_(), numbers(2, n, n, seed=1)
    (plain,) = torch.autograd.grad(L.matrix_exp(a), a, along)
    (recorded,) = torch.autograd.grad(L.matrix_exp(a), a, along, create_graph=True)
    assert torch.allclose(plain, recorded) and torch.autograd.gradcheck(L.matrix_exp, a)


SIZES = [(1, 300, 70), (300, 70, 1), (3, 90, 200), (4, 33, 65), (5, 64, 40), (129, 300, 70), (70, 130, 530)]


@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.int32])
@pytest.mark.parametrize(("m", "k", "n"), [*SIZES, (600, 40, 300), (2, 5000, 3), (0, 5, 4), (300, 0, 300)])
def test_products_are_what_they_are_however_their_factors_lie(m, k, n, dtype):
    # Of integers that are small enough no sum is rounded.
    state = np.random.RandomState(0)
    a, b = (torch.tensor(state.randint(-9, 9, shape)).to(dtype) for shape in [(m, k), (k, n)])
    wanted = torch.tensor(a.numpy().astype(np.int64) @ b.numpy().astype(np.int64)).to(dtype)
    spread = torch.zeros(2 * k, 2 * n, dtype=dtype)
    spread[::2, ::2] = b
    for left in (a, a.t().contiguous().t()):
        for right in (b, b.t().contiguous().t(), spread[::2, ::2]):
            assert torch.equal(left @ right, wanted)
            if n == 1:
                assert torch.equal(left @ right[:, 0], wanted[:, 0])
            if m == 1:
                assert torch.equal(left[0] @ right, wanted[0])


@pytest.mark.own
def test_products_have_the_same_bits_whatever_the_number_of_threads():
    a, b = numbers(300, 200, dtype=torch.float32), numbers(200, 1100, dtype=torch.float32)
    before, found = torch.get_num_threads(), []
    try:
        for threads in (1, 2, 3):
            torch.set_num_threads(threads)
            found.append([a @ b, b.t() @ a.t(), a @ b[:, 0], b[:, 0] @ a.t(), a.t().contiguous() @ a])
    finally:
        torch.set_num_threads(before)
    assert all(torch.equal(x, y) for others in found[1:] for x, y in zip(found[0], others, strict=True))

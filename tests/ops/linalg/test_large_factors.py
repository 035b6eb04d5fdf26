"""Factors of matrices that are not small: of every type and shape, in the signs and orders of LAPACK, of numbers that
have none, and the same bits whatever the number of threads."""

import numpy as np
import pytest
import rushlight as torch
from support import raises

L = torch.linalg
TYPES = [torch.float32, torch.float64, torch.complex64, torch.complex128]
SHAPES = [(40, 40), (60, 33), (33, 60), (3, 30, 30), (9, 7), (5, 5)]


def numbers(*shape, dtype=torch.float64, seed=0):
    state = np.random.RandomState(seed)
    real = torch.tensor(state.randn(*shape))
    return (torch.complex(real, torch.tensor(state.randn(*shape))) if dtype.is_complex else real).to(dtype)


def positive(*shape, dtype=torch.float64):
    x = numbers(*shape, dtype=dtype)
    return x @ x.mH / shape[-1] + torch.eye(shape[-1], dtype=dtype)


def near(a, b):
    scale = float(b.abs().max()) if b.numel() else 1.0
    single = a.dtype in (torch.float32, torch.complex64)
    return a.dtype == b.dtype and torch.allclose(a, b, rtol=0, atol=scale * (3e-5 if single else 1e-11))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_factors_make_the_matrix_again(shape, dtype):
    a = numbers(*shape, dtype=dtype)
    least = min(shape[-2:])
    unit = torch.eye(least, dtype=dtype).expand(*shape[:-2], least, least)
    q, r = L.qr(a)
    assert near(q @ r, a) and near(q.mH @ q, unit) and near(r.triu(), r)
    u, s, vh = L.svd(a, full_matrices=False)
    assert near((u * s.unsqueeze(-2).to(dtype)) @ vh, a) and near(u.mH @ u, unit) and near(vh @ vh.mH, unit)
    assert s.dtype == dtype.to_real() and near(L.svdvals(a), s)
    whole = L.svd(a)
    assert near(whole.U[..., :least] @ (s.unsqueeze(-1).to(dtype) * whole.Vh[..., :least, :]), a)
    permutation, low, up = L.lu(a)
    assert near(permutation @ low @ up, a) and bool((low.abs() <= 1.5).all())
    assert near(a @ L.pinv(a) @ a, a)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(40, 40), (2, 30, 30), (6, 6)])
def test_square_matrices_have_inverses_solutions_and_eigenvectors(shape, dtype):
    a, b = positive(*shape, dtype=dtype), numbers(*shape, dtype=dtype, seed=1)
    unit = torch.eye(shape[-1], dtype=dtype).expand(*shape)
    assert near(a @ L.inv(a), unit)
    assert near(a @ L.solve(a, b), b) and near(L.solve(a, b, left=False) @ a, b)
    low = L.cholesky(a)
    assert near(low @ low.mH, a) and near(L.cholesky(a, upper=True).mH, low)
    assert near(low @ L.solve_triangular(low, b, upper=False), b)
    assert near(L.solve_triangular(low.mH, b, upper=True, left=False) @ low.mH, b)
    for triangle in "LU":
        values, vectors = L.eigh(a, UPLO=triangle)
        assert near(a @ vectors, vectors * values.unsqueeze(-2).to(dtype))
        assert bool((values.diff() >= 0).all()) and near(L.eigvalsh(a, UPLO=triangle), values)
    values, vectors = L.eig(b)
    assert near(b.to(vectors.dtype) @ vectors, vectors * values.unsqueeze(-2))
    assert near(vectors.abs().square().sum(-2), torch.ones(shape[:-1], dtype=dtype.to_real()))
    sign, logarithm = L.slogdet(a)
    assert near(sign * logarithm.exp().to(dtype), L.det(a))
    assert near(torch.matrix_exp(b * 0) @ b, b) and near(
        torch.matrix_exp(b / 9) @ torch.matrix_exp(b / -9), unit
    )


def eliminated(matrix):
    """Return both triangles in one, and the pivots, by the rule of LAPACK."""
    a, pivots = matrix.copy(), []
    for step in range(min(a.shape)):
        pivot = step + int(np.argmax(np.abs(a[step:, step])))
        pivots.append(pivot + 1)
        a[[step, pivot]] = a[[pivot, step]]
        if a[step, step] != 0:
            a[step + 1 :, step] /= a[step, step]
            a[step + 1 :, step + 1 :] -= np.outer(a[step + 1 :, step], a[step, step + 1 :])
    return a, pivots


@pytest.mark.parametrize("shape", [(40, 40), (64, 30), (30, 64), (20, 20)])
def test_the_same_rows_are_exchanged_as_by_lapack(shape):
    matrix = np.random.RandomState(3).randint(-4, 5, shape).astype(float)
    lu, pivots = L.lu_factor_ex(torch.tensor(matrix))[:2]
    wanted, exchanged = eliminated(matrix)
    assert pivots.tolist() == exchanged
    assert torch.allclose(lu, torch.tensor(wanted), atol=1e-9)


def test_columns_are_turned_away_from_where_they_point():
    a = numbers(50, 40)
    q, r = L.qr(a)
    assert float(r[0, 0]) * float(a[0, 0]) < 0
    packed, scales = torch.geqrf(a)
    assert near(packed.triu()[:40], r) and near(L.householder_product(packed, scales), q)


def test_a_column_of_zeros_is_left_alone():
    a = numbers(40, 40)
    a[:, 7] = 0
    lu, _, info = L.lu_factor_ex(a)
    assert info.item() == 8 and bool(lu.isfinite().all())
    q, r = L.qr(a)
    assert near(q @ r, a)
    assert float(L.det(a)) == 0.0 and L.matrix_rank(a).item() == 39


@pytest.mark.parametrize("side", [2, 40])
def test_one_matrix_without_an_inverse_does_not_spoil_the_others(side):
    good, bad = positive(side, side), torch.ones(side, side, dtype=torch.float64)
    both, b = torch.stack([bad, good]), numbers(side, dtype=torch.float64)
    inverse, info = L.inv_ex(both)
    assert info[0] > 0 and info[1] == 0
    assert near(inverse[1] @ good, torch.eye(side, dtype=torch.float64))
    assert not bool(inverse[0].isfinite().all())
    solution, info = L.solve_ex(both, torch.stack([b, b]))
    assert near(good @ solution[1], b) and info[0] > 0 and info[1] == 0
    assert not bool(solution[0].isfinite().all())
    with raises(L.LinAlgError, "linalg.inv_ex: (Batch element 0): The diagonal element 2 is zero"):
        L.inv_ex(both, check_errors=True)
    with raises(L.LinAlgError, "torch.linalg.solve_ex: (Batch element 0): The solver failed"):
        L.solve_ex(both, torch.stack([b, b]), check_errors=True)


@pytest.mark.parametrize("upper", [False, True])
def test_what_was_found_of_a_triangle_is_there_although_there_is_none(upper):
    a = 2 * torch.eye(5)
    a[0, 1] = a[1, 0] = 1
    a[3, 3], a[4, 0], a[4, 3], a[4, 4] = -3, 7, 0.5, 9
    wanted = [
        [1.4142, 0, 0, 0, 0],
        [0.7071, 1.2247, 0, 0, 0],
        [0, 0, 1.4142, 0, 0],
        [0, 0, 0, -3, 0],
        [4.9497, -2.8577, 0, 0.5, 9],
    ]
    found, info = L.cholesky_ex(a.mT if upper else a, upper=upper)
    assert torch.allclose(found.mT if upper else found, torch.tensor(wanted), atol=1e-4)
    assert info.item() == 4


def test_the_leading_part_of_a_large_triangle_is_found_as_well():
    a = positive(40, 40)
    a[20, 20] = -1
    (found, info), known = L.cholesky_ex(a), L.cholesky(a[:20, :20])
    assert info.item() == 21 and near(found[:20, :20], known)
    assert near(found[20:, :20], L.solve_triangular(known, a[:20, 20:], upper=False).mT)
    assert float(found[20, 20]) < 0 and near(found.tril(), found)
    with raises(L.LinAlgError, "linalg.cholesky_ex: The factorization could not be completed"):
        L.cholesky_ex(a, check_errors=True)


def test_derivatives_pass_triangles_that_say_how_far_they_came():
    a = positive(4, 4).requires_grad_()
    (found,) = torch.autograd.grad(L.cholesky_ex(a).L.sum(), a)
    (wanted,) = torch.autograd.grad(L.cholesky(a).sum(), a)
    assert torch.equal(found, wanted)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients_of_solutions_are_those_of_differences(left, dtype):
    a = (numbers(5, 5, dtype=dtype) + 4 * torch.eye(5)).requires_grad_()
    b = numbers(*((5, 3) if left else (3, 5)), dtype=dtype, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(lambda a, b: L.solve(a, b, left=left), (a, b))
    assert torch.autograd.gradgradcheck(lambda a, b: L.solve(a, b, left=left), (a, b))
    assert torch.autograd.gradcheck(L.solve, (a, b.select(1 if left else 0, 0)))


def test_gradients_of_large_factors_make_the_same_as_those_of_parts():
    a = positive(30, 30).requires_grad_()
    (of_inverse,) = torch.autograd.grad(L.inv(a).sum(), a)
    ones = torch.ones(30, 30, dtype=torch.float64)
    (of_solution,) = torch.autograd.grad(L.solve(a, torch.eye(30, dtype=torch.float64)).sum(), a)
    assert near(of_inverse, of_solution)
    inverse = L.inv(a.detach())
    assert near(of_inverse, -inverse.mT @ ones @ inverse.mT)
    (of_values,) = torch.autograd.grad(L.svdvals(a).sum(), a)
    u, _, vh = L.svd(a.detach())
    assert near(of_values, u @ vh)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(40, 30), (30, 40), (40, 40), (3, 20, 12), (6, 4), (4, 6)])
def test_what_comes_nearest_to_solutions_is_the_shortest_that_does(shape, dtype):
    a = numbers(*shape, dtype=dtype)
    b = numbers(*shape[:-1], 3, dtype=dtype, seed=1)
    found = L.lstsq(a, b)
    assert near(found.solution, L.pinv(a) @ b)
    assert bool((found.rank == min(shape[-2:])).all()) and found.rank.dtype == torch.int64
    assert near(L.lstsq(a, b, driver="gelsd").solution, found.solution)


@pytest.mark.parametrize("driver", [pytest.param(None, marks=pytest.mark.own), "gelsd"])
def test_columns_that_depend_on_others_lower_the_rank(driver):
    a, b = numbers(40, 30), numbers(40, 2, seed=1)
    a[:, 3] = a[:, 4] * 2
    found = L.lstsq(a, b, driver=driver)
    assert found.rank.item() == 29
    assert near(found.solution[3], found.solution[4] * 2) and near(found.solution, L.pinv(a) @ b)


@pytest.mark.own
@pytest.mark.parametrize("side", [3, 40])
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_numbers_that_are_none_come_to_an_end(side, value):
    # LAPACK, as torch has it, may abort here.
    a = positive(side, side)
    a[1, 1] = value
    for call in (L.qr, L.lu, L.inv_ex, L.slogdet, L.cholesky_ex, torch.matrix_exp):
        call(a)
    for call in (L.eigh, L.eigvalsh):
        with raises(L.LinAlgError, "linalg.eigh: The algorithm failed to converge"):
            call(a)
    assert not bool(L.det(a).isfinite())
    assert not bool(L.solve_ex(a, a).result.isfinite().all())
    for call in (L.svd, L.svdvals, L.pinv, lambda a: L.lstsq(a, a)):
        with raises(L.LinAlgError, "linalg.svd: The algorithm failed to converge"):
            call(a)
    with raises(RuntimeError, "torch.linalg.eig: input tensor should not contain infs or NaNs."):
        L.eig(a)


@pytest.mark.parametrize("scale", [1e-160, 1e150])
def test_huge_and_tiny_numbers_have_factors(scale):
    a = numbers(40, 40) * scale
    u, s, vh = L.svd(a)
    assert near((u * s) @ vh, a)
    q, r = L.qr(a)
    assert near(q @ r, a)
    assert near(a @ L.inv(a), torch.eye(40, dtype=torch.float64))


@pytest.mark.parametrize("shape", [(0, 0), (0, 30), (30, 0), (0, 30, 30), (2, 0, 30)])
def test_nothing_has_factors(shape):
    a = torch.ones(shape, dtype=torch.float64)
    q, r = L.qr(a)
    assert (q @ r).shape == a.shape
    u, s, vh = L.svd(a)
    assert u.shape == (*shape[:-1], shape[-2]) and vh.shape == (*shape[:-2], shape[-1], shape[-1])
    assert s.shape == L.svdvals(a).shape == (*shape[:-2], min(shape[-2:]))
    assert L.lu_factor(a)[1].shape == s.shape and L.pinv(a).shape == a.mT.shape
    if shape[-1] == shape[-2]:
        assert L.inv(a).shape == L.cholesky(a).shape == L.eigh(a)[1].shape == L.eig(a)[1].shape == a.shape
        assert L.det(a).tolist() == torch.ones(shape[:-2]).tolist()


@pytest.mark.parametrize("dtype", TYPES)
def test_matrices_that_lie_in_any_way_have_the_same_factors(dtype):
    a = positive(2, 40, 40, dtype=dtype)
    wide = torch.zeros(2, 80, 120, dtype=dtype)
    wide[:, ::2, ::3] = a
    ways = [a.mT.contiguous().mT, wide[:, ::2, ::3], a.mH.resolve_conj().mH, a.flip(0).flip(0)]
    for x in ways:
        assert torch.equal(x, a)
        for call in (L.inv, L.cholesky, L.svdvals, L.det, lambda x: L.eigh(x)[0], lambda x: L.qr(x)[1]):
            assert near(call(x), call(a))


@pytest.mark.own
def test_the_number_of_threads_is_not_in_the_bits():
    before, a = torch.get_num_threads(), numbers(20, 40, 40, dtype=torch.float32)
    calls = [L.inv, L.svd, L.qr, L.lu, L.eig, lambda a: L.eigh(a @ a.mT), lambda a: L.solve(a, a), L.pinv]
    try:
        for call in calls:
            found = []
            for count in (1, 2, 5):
                torch.set_num_threads(count)
                answer = call(a)
                found.append(answer if isinstance(answer, tuple) else (answer,))
            assert all(torch.equal(x, y) for other in found for x, y in zip(found[0], other, strict=True))
    finally:
        torch.set_num_threads(before)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("n", [1, 3, 16, 70])
def test_eigenvalues_alone_are_those_that_come_with_vectors(n, dtype):
    a = numbers(n, n, dtype=dtype)
    values = L.eigvals(a)
    assert values.dtype == dtype.to_complex() and not values.requires_grad
    apart = (values[:, None] - L.eig(a).eigenvalues).abs().amin(1)
    assert apart.max().item() < (1e-3 if a.dtype in (torch.float32, torch.complex64) else 1e-9)
    assert L.eigvals(a.requires_grad_()).requires_grad
    assert L.eigvals(torch.ones(2, 0, 0, dtype=dtype)).shape == (2, 0)
    with pytest.raises(RuntimeError, match="infs or NaNs"):
        L.eigvals(torch.full((2, 2), float("nan"), dtype=dtype))


@pytest.mark.parametrize("dtype", TYPES)
def test_the_rank_of_equations_is_told_where_it_is_near_to_less(dtype):
    basis, _ = L.qr(numbers(40, 40, dtype=dtype))
    single = dtype in (torch.float32, torch.complex64)
    right = numbers(40, 2, dtype=dtype)
    for least, rank in [(1e-2, 40), (1e-4 if single else 1e-11, 40), (1e-9 if single else 1e-17, 39)]:
        sizes = torch.ones(40, dtype=torch.float64)
        sizes[-1] = least
        a = basis @ (sizes.to(dtype)[:, None] * basis.mH)
        found = L.lstsq(a, right)
        assert found.rank.item() == rank
        wanted = torch.linalg.pinv(a, rtol=1e-7 if single else 1e-14) @ right
        assert ((found.solution - wanted).norm() / wanted.norm()).item() < (0.05 if single else 1e-3)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(40, 40), (60, 40), (40, 60)])
@pytest.mark.parametrize(("share", "rank"), [(6.0, 40), (2.0, 40), (0.5, 39), (0.1, 39)])
def test_values_just_above_and_below_what_counts_as_nothing(dtype, shape, share, rank):
    left, right = (L.qr(numbers(side, 40, dtype=dtype))[0] for side in shape)
    sizes = torch.ones(40, dtype=torch.float64)
    sizes[-1] = share * max(shape) * torch.finfo(dtype).eps
    a = left @ (sizes.to(dtype)[:, None] * right.mH)
    assert L.lstsq(a, numbers(shape[0], 2, dtype=dtype)).rank.item() == rank


@pytest.mark.parametrize(
    "dtype, scale",
    [(torch.float64, 1.0), (torch.complex128, 1.0), (torch.float64, 1e-160), (torch.float64, 1e160)],
)
@pytest.mark.parametrize("shape", [(7, 7), (8, 8), (8, 21), (21, 8), (40, 40), (3, 9, 12)])
def test_pseudoinverses_are_those_of_singular_values_whatever_the_rank(shape, dtype, scale):
    state = np.random.RandomState(3)
    full = state.randn(*shape) + (1j * state.randn(*shape) if dtype.is_complex else 0)
    less = full.copy()
    less[..., -1, :] = 2 * less[..., 0, :] - less[..., 1, :]
    for given in (full * scale, less * scale):
        a = torch.tensor(given, dtype=dtype)
        for seen in (a, a.mT.contiguous().mT):
            found = torch.linalg.pinv(seen).numpy() * scale
            assert np.allclose(found, np.linalg.pinv(given, rcond=1e-12) * scale, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("rank", [12, 30])
def test_pseudoinverses_of_hermitian_matrices_take_eigenvalues_of_either_sign(rank, dtype):
    state = np.random.RandomState(4)
    half = state.randn(30, rank) + (1j * state.randn(30, rank) if dtype.is_complex else 0)
    given = half * np.where(np.arange(rank) % 2 == 0, 1.0, -2.0) @ half.conj().T
    found = torch.linalg.pinv(torch.tensor(given, dtype=dtype), hermitian=True).numpy()
    assert np.allclose(found, np.linalg.pinv(given, rcond=1e-12), rtol=1e-7, atol=1e-9)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
@pytest.mark.parametrize("shape", [(1, 1), (16, 16), (17, 17), (3, 40, 40), (0, 20, 20)])
@pytest.mark.parametrize("upper", [False, True])
def test_the_inverse_by_a_triangle_is_that_of_what_it_makes(shape, upper, dtype):
    state = np.random.RandomState(5)
    half = torch.tensor(
        state.randn(*shape) + (1j * state.randn(*shape) if dtype.is_complex else 0), dtype=dtype
    )
    whole = half @ half.mH + shape[-1] * torch.eye(shape[-1], dtype=dtype)
    triangle = torch.linalg.cholesky(whole, upper=upper)
    found = torch.cholesky_inverse(triangle, upper=upper)
    assert torch.allclose(found, torch.linalg.inv(whole), rtol=1e-9, atol=1e-12)
    # The other half is not read.
    other = torch.full_like(triangle, float("nan"))
    garbled = triangle + (other.tril(-1) if upper else other.triu(1)).nan_to_num(nan=7.0)
    assert torch.equal(torch.cholesky_inverse(garbled, upper=upper), found)
    assert torch.allclose(found, found.mH)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(20, 20), (2, 17, 17), (35, 35)])
def test_gradients_of_triangles_are_those_of_their_parts(shape, upper):
    a = positive(*shape).requires_grad_()
    g = numbers(*shape, seed=3)
    y = L.cholesky(a, upper=upper)
    # The whole matrix moves, or what is symmetric of it.
    (found,) = torch.autograd.grad(y, a, g, retain_graph=True)
    (parts,) = torch.autograd.grad(y, a, g, create_graph=True)
    assert near(found, parts.detach()) and torch.equal(found, found.mT) and found.stride() == parts.stride()
    (single,) = torch.autograd.grad(L.cholesky(a.float(), upper=upper), a, g.float())
    assert torch.allclose(single, found, rtol=0, atol=1e-4 * float(found.abs().max()))


def test_triangles_that_are_not_small_pass_gradcheck():
    a = positive(18, 18).requires_grad_()
    symmetric = lambda a: L.cholesky((a + a.mT) / 2)  # noqa: E731
    assert torch.autograd.gradcheck(symmetric, a, fast_mode=True)
    assert torch.autograd.gradgradcheck(symmetric, a, fast_mode=True)


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("columns", [1, 2, 8])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_solutions_by_triangles_pass_gradcheck_of_any_number_of_right_sides(dtype, columns, upper):
    triangle = L.cholesky(positive(5, 5, dtype=dtype), upper=upper).requires_grad_()
    b = numbers(5, columns, dtype=dtype, seed=1).requires_grad_()
    solve = lambda b, triangle: torch.cholesky_solve(b, triangle.triu() if upper else triangle.tril(), upper)  # noqa: E731
    assert torch.autograd.gradcheck(solve, (b, triangle))
    assert torch.autograd.gradgradcheck(solve, (b, triangle))


def test_a_matrix_with_numbers_that_are_none_above_its_diagonal_has_its_triangle():
    a = positive(40, 40)
    wanted = L.cholesky(a)
    a[torch.triu(torch.ones(40, 40), 1).bool()] = torch.nan
    assert torch.equal(L.cholesky(a), wanted)

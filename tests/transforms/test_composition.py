"""Transforms of transforms, in any order."""

import pytest
import rushlight as torch
from support import assert_tensor, raises

grad, vjp, jvp, vmap = torch.func.grad, torch.func.vjp, torch.func.jvp, torch.func.vmap
jacrev, jacfwd, hessian = torch.func.jacrev, torch.func.jacfwd, torch.func.hessian

X = torch.tensor([1.0, 2.0], dtype=torch.float64)
T = torch.tensor([1.0, 10.0], dtype=torch.float64)
ROWS = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]], dtype=torch.float64)


def cube(x):
    return (x**3).sum()


def rosenbrock(x):
    return (1 - x[0]) ** 2 + 100 * (x[1] - x[0] ** 2) ** 2


def by_row(function, rows=ROWS):
    return torch.stack([function(row) for row in rows])


def test_forward_over_reverse_and_reverse_over_forward_are_the_hessian_times_a_vector():
    assert_tensor(jvp(grad(cube), (X,), (T,))[1], [6.0, 120.0])
    assert_tensor(grad(lambda x: jvp(cube, (x,), (T,))[1])(X), [6.0, 120.0])
    assert_tensor(grad(lambda x: (grad(cube)(x) * T).sum())(X), [6.0, 120.0])


def test_third_derivatives_do_not_depend_on_the_order_of_modes():
    expected = [6.0, 60.0]
    assert_tensor(jvp(grad(lambda x: grad(cube)(x).sum()), (X,), (T,))[1], expected)
    assert_tensor(grad(lambda x: jvp(grad(cube), (x,), (T,))[1].sum())(X), expected)
    assert_tensor(grad(lambda x: grad(lambda x: jvp(cube, (x,), (T,))[1])(x).sum())(X), expected)


def test_results_of_mixed_modes_have_no_history():
    for found in (
        *jvp(grad(cube), (X,), (T,)),
        grad(lambda x: jvp(cube, (x,), (T,))[1])(X),
        hessian(cube)(X),
    ):
        assert not found.requires_grad


@pytest.mark.parametrize("outer", [jacrev, jacfwd])
@pytest.mark.parametrize("inner", [jacrev, jacfwd])
def test_every_pair_of_modes_gives_the_hessian(outer, inner):
    expected = [[1200 * 4.0 - 400 * 3.0 + 2, -800.0], [-800.0, 200.0]]
    x = torch.tensor([2.0, 3.0], dtype=torch.float64)
    assert_tensor(outer(inner(rosenbrock))(x), expected)


def test_grad_can_be_mapped_over_samples():
    assert_tensor(vmap(grad(cube))(ROWS), 3 * ROWS.numpy() ** 2)
    w = torch.tensor([[1.0, 2.0], [3.0, 4.0]], dtype=torch.float64)
    found = vmap(grad(lambda w, x: ((w @ x) ** 2).sum()), (None, 0))(w, ROWS)
    assert found.shape == (3, 2, 2)
    for one, row in zip(found, ROWS, strict=True):
        assert_tensor(one, (2 * torch.outer(w @ row, row)).numpy())


def test_a_gradient_per_sample_by_what_all_samples_share_can_be_differentiated_from_outside():
    w = torch.ones(2, dtype=torch.float64, requires_grad=True)
    found = vmap(grad(lambda w, x: ((w * x).sum()) ** 2), (None, 0))(w, ROWS)
    assert found.shape == (3, 2)
    (slope,) = torch.autograd.grad(found.sum(), w)
    assert_tensor(slope, (2 * ROWS * ROWS.sum(1, keepdim=True)).sum(0).numpy())


def test_grad_may_be_taken_of_what_is_mapped():
    assert_tensor(grad(lambda x: vmap(cube)(x).sum())(ROWS), 3 * ROWS.numpy() ** 2)
    assert_tensor(grad(lambda x: vmap(lambda row: (row * x).sum())(ROWS).sum())(X), ROWS.sum(0).numpy())


@pytest.mark.parametrize("transform", [jacrev, jacfwd])
def test_jacobians_and_hessians_can_be_mapped_over_samples(transform):
    assert_tensor(vmap(transform(torch.sin))(ROWS), torch.diag_embed(ROWS.cos()).numpy())
    assert_tensor(vmap(hessian(rosenbrock))(ROWS), by_row(hessian(rosenbrock)).numpy())
    assert_tensor(vmap(jacrev(transform(rosenbrock)))(ROWS), by_row(hessian(rosenbrock)).numpy())


def test_jvp_and_vjp_can_be_mapped_over_samples():
    value, slope = vmap(lambda x, t: jvp(torch.sin, (x,), (t,)))(ROWS, ROWS)
    assert_tensor(value, ROWS.sin().numpy())
    assert_tensor(slope, (ROWS.cos() * ROWS).numpy())
    _, pull_back = vjp(torch.sin, X)
    assert_tensor(vmap(pull_back)(ROWS)[0], (X.cos() * ROWS).numpy())


def test_mappings_and_derivatives_stand_within_each_other():
    def f(x):
        return grad(lambda x: vmap(lambda c: (c * x**2).sum())(X).sum())(x)

    assert_tensor(vmap(f)(ROWS), (2 * X.sum() * ROWS).numpy())
    assert_tensor(grad(lambda x: vmap(grad(cube))(x).sum())(ROWS), 6 * ROWS.numpy())


def test_what_captured_tensors_get_passes_all_levels():
    w = torch.tensor(2.0, dtype=torch.float64, requires_grad=True)
    (slope,) = torch.autograd.grad(vmap(grad(lambda x: w * cube(x)))(ROWS).sum(), w)
    assert_tensor(slope, (3 * ROWS**2).sum().numpy())
    (slope,) = torch.autograd.grad(jvp(grad(lambda x: w * cube(x)), (X,), (T,))[1].sum(), w)
    assert_tensor(slope, 126.0)


def test_dropping_the_history_inside_stops_every_level():
    assert_tensor(grad(lambda x: grad(lambda y: y * y.detach())(x))(torch.tensor(3.0)), 0.0)
    assert_tensor(vmap(grad(lambda x: (x * x.detach()).sum()))(ROWS), ROWS.numpy())


def test_what_works_on_leaves_is_refused_in_every_transform():
    text = "You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) inside of a function being transformed by a functorch transform."
    for transformed in (lambda f: vmap(f)(X), lambda f: jvp(f, (X,), (T,)), lambda f: vjp(f, X)):
        with raises(RuntimeError, text):
            transformed(lambda x: (x.requires_grad_(), x)[1])
        with raises(RuntimeError, "backward() called inside a functorch transform."):
            transformed(lambda x: (torch.ones(1, requires_grad=True).sum().backward(), x)[1])


def test_derivatives_are_taken_where_the_outside_infers():
    plain = torch.ones(2)
    with torch.inference_mode():
        for x in (plain, torch.ones(2)):
            gradient = torch.func.grad(lambda x: (x**2).sum())(x)
            assert gradient.equal(torch.full((2,), 2.0))
            assert not gradient.is_inference()
            assert torch.func.jvp(lambda x: x**2, (x,), (x,))[1].equal(torch.full((2,), 2.0))
            assert torch.func.jacrev(lambda x: x**2)(x).equal(torch.eye(2) * 2)
            assert torch.func.hessian(lambda x: (x**3).sum())(x).equal(torch.eye(2) * 6)

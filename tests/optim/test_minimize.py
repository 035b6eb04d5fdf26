"""Minima by SciPy, with derivatives from autograd."""

import re
import sys

import pytest
import rushlight as torch
from support import raises

pytestmark = pytest.mark.own
pytest.importorskip("scipy", reason="minimize stands on SciPy")

minimize = getattr(torch, "optimize", None) and torch.optimize.minimize


def rosenbrock(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


START = torch.tensor([-1.2, 1.0, 0.7], dtype=torch.float64)
METHODS = (
    "CG BFGS L-BFGS-B SLSQP Newton-CG trust-ncg trust-krylov trust-exact trust-constr dogleg Nelder-Mead"
)


@pytest.mark.filterwarnings("ignore:delta_grad == 0.0")
@pytest.mark.parametrize("method", METHODS.split())
def test_every_method_finds_the_valley(method):
    # The dogleg needs a Hessian that is positive definite all the way.
    fun = (lambda x: ((x - 1) ** 4 + (x - 1) ** 2).sum()) if method == "dogleg" else rosenbrock
    found = minimize(fun, START, method=method)
    assert found.success
    torch.testing.assert_close(found.x, torch.ones(3, dtype=torch.float64), atol=2e-3, rtol=0)
    assert found.fun == pytest.approx(0, abs=1e-5)
    assert found.method == method


def test_products_with_the_hessian_are_exact():
    function = torch.optimize._Function(rosenbrock, START, ())
    hessian = torch.autograd.functional.hessian(rosenbrock, START)
    direction = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    torch.testing.assert_close(
        torch.from_numpy(function.product(START.numpy(), direction.numpy())), hessian @ direction
    )
    torch.testing.assert_close(torch.from_numpy(function.hessian(START.numpy())), hessian)


def test_a_structure_of_tensors_of_several_types():
    start = {"a": torch.zeros(2), "b": [torch.tensor(3.0, dtype=torch.float64)]}
    found = minimize(lambda x: (x["a"] - 2).square().sum() + (x["b"][0] + 1).square(), start, tol=1e-8)
    torch.testing.assert_close(found.x["a"], torch.full((2,), 2.0))
    assert found.x["b"][0].item() == pytest.approx(-1.0, abs=1e-4)
    assert found.x["a"].dtype is torch.float32
    assert set(found.gradient) == {"a", "b"}


def test_bounds_are_kept():
    found = minimize(lambda x: (x - 3).square().sum(), torch.zeros(2), bounds=(None, 1.0))
    torch.testing.assert_close(found.x, torch.ones(2))
    each = minimize(
        lambda x: (x - 3).square().sum(), torch.zeros(2), bounds=(torch.zeros(2), torch.tensor([1.0, 2.0]))
    )
    torch.testing.assert_close(each.x, torch.tensor([1.0, 2.0]))
    with raises(ValueError, "minimize: bounds of 2 tensors for x0 of 1"):
        minimize(lambda x: x.sum(), torch.zeros(2), bounds=([torch.zeros(2)] * 2, None))


def test_constraints_have_their_slopes_from_autograd():
    inside = {"type": "ineq", "fun": lambda x: 1 - x.square().sum()}
    found = minimize(lambda x: -x.sum(), torch.zeros(2, dtype=torch.float64), constraints=inside)
    torch.testing.assert_close(found.x, torch.full((2,), 0.5**0.5, dtype=torch.float64), atol=1e-5, rtol=0)


def test_a_callback_ends_the_search():
    seen = []

    def callback(x):
        seen.append(x)
        return len(seen) == 3

    found = minimize(rosenbrock, START, callback=callback)
    assert len(seen) == len(found.history) == 3
    assert isinstance(seen[0], torch.Tensor)


def test_progress_is_told_on_standard_error(capsys):
    found = minimize(rosenbrock, START, progress=True)
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == found.steps
    assert re.fullmatch(r"step     1  \S+  \d+\.\d\d s", lines[0])


def test_a_result_tells_how_it_was_found():
    found = minimize(lambda x: (x - 3).square().sum(), torch.zeros(2))
    shown = repr(found)
    assert re.match(r"minimum \S+ by BFGS: converged \(.*\)\n  \d+ steps, \d+ evaluations, ", shown)
    assert shown.endswith(("x: tensor([3.0000, 3.0000])", "x: tensor([3., 3.])"))


def test_what_is_refused():
    with raises(
        ValueError, "minimize: the function must return a tensor of one number, not a tensor of shape (2,)"
    ):
        minimize(lambda x: x, torch.zeros(2))
    with raises(ValueError, "minimize: the function must return a tensor of one number, not float"):
        minimize(lambda x: 1.0, torch.zeros(2))
    with raises(TypeError, "minimize: x0 must be of real floating-point numbers, not torch.int64"):
        minimize(lambda x: x.sum(), torch.zeros(2, dtype=torch.int64))


def test_a_function_that_does_not_depend_on_its_argument_is_at_a_minimum():
    found = minimize(lambda x: torch.tensor(2.0), torch.zeros(2))
    assert found.success
    assert found.fun == 2.0


def test_without_scipy_there_is_a_word_about_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "scipy.optimize", None)
    with raises(ImportError, "rushlight.optimize.minimize stands on SciPy"):
        minimize(rosenbrock, START)

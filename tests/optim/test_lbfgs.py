"""L-BFGS: its state is that of torch, so that checkpoints go both ways; its search is there for others."""

import copy

import pytest
import rushlight as torch
from rushlight._rushlight import _nn
from rushlight.optim.lbfgs import _cubic_interpolate, _strong_wolfe


def start(search=None):
    x = torch.tensor([3.0, -2.0, 1.0], dtype=torch.float64, requires_grad=True)
    optimizer = torch.optim.LBFGS([x], lr=0.5, max_iter=4, history_size=3, line_search_fn=search)

    def closure():
        optimizer.zero_grad()
        loss = (x**4).sum() + x.sin().sum()
        loss.backward()
        return loss

    return x, optimizer, closure


def test_the_state_has_the_names_of_torch():
    _, optimizer, closure = start()
    optimizer.step(closure)
    state = optimizer.state_dict()["state"][0]
    assert set(state) == {
        *("func_evals", "n_iter", "al", "d", "t", "old_dirs", "old_stps", "ro", "H_diag"),
        *("prev_flat_grad", "prev_loss"),
    }
    assert (state["func_evals"], state["n_iter"]) == (4, 4)
    for change, moved, share in zip(state["old_dirs"], state["old_stps"], state["ro"], strict=True):
        torch.testing.assert_close(share, 1 / change.dot(moved))
    change, moved = state["old_dirs"][-1], state["old_stps"][-1]
    torch.testing.assert_close(state["H_diag"], change.dot(moved) / change.dot(change))
    assert len(state["al"]) == 3


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
def test_loaded_state_goes_on_as_if_never_saved(search):
    x, optimizer, closure = start(search)
    optimizer.step(closure)
    y, other, again = start(search)
    with torch.no_grad():
        y.copy_(x)
    other.load_state_dict(copy.deepcopy(optimizer.state_dict()))
    optimizer.step(closure)
    other.step(again)
    assert torch.equal(x, y)


def test_the_lowest_place_of_a_cubic():
    # x³ - 3x has its lowest place at one.
    value, slope = (lambda x: x**3 - 3 * x), (lambda x: torch.tensor(3 * x**2 - 3))
    arguments = (0.0, value(0.0), slope(0.0), 2.0, value(2.0), slope(2.0))
    assert float(_cubic_interpolate(*arguments)) == pytest.approx(1.0)
    assert float(_cubic_interpolate(*arguments, bounds=(1.2, 2.0))) == pytest.approx(1.2)
    assert float(_cubic_interpolate(*arguments[3:], *arguments[:3])) == pytest.approx(1.0)


def test_others_search_along_a_line_as_well():
    x, direction = torch.tensor([3.0, 1.0]), torch.tensor([-30.0, -2.0])

    def look(x, t, direction):
        at = x + t * direction
        return float((at**2).sum()), 2 * at

    value, slope = look(x, 0.0, direction)
    gtd = slope.dot(direction)
    found, gradient, step, calls = _strong_wolfe(look, x, 1.0, direction, value, slope, gtd)
    assert calls > 1
    assert found == look(x, step, direction)[0] <= value + 1e-4 * step * gtd
    assert abs(gradient.dot(direction)) <= 0.9 * abs(gtd)


def test_the_direction_is_that_of_the_matrix_that_is_never_there():
    torch.manual_seed(0)
    steps = [torch.randn(6, dtype=torch.float64) for _ in range(4)]
    curvature = torch.diag(torch.arange(1.0, 7.0, dtype=torch.float64))
    changes = [curvature @ step for step in steps]
    shares = [1 / change.dot(step) for change, step in zip(changes, steps, strict=True)]
    gradient, scale = torch.randn(6, dtype=torch.float64), torch.tensor(0.3, dtype=torch.float64)
    inverse, one = scale * torch.eye(6, dtype=torch.float64), torch.eye(6, dtype=torch.float64)
    for change, step, share in zip(changes, steps, shares, strict=True):
        without = one - share * torch.outer(change, step)
        inverse = without.T @ inverse @ without + share * torch.outer(step, step)
    found = _nn.lbfgs_direction(gradient, changes, steps, shares, scale)
    torch.testing.assert_close(found[0], -inverse @ gradient)
    assert [weight.shape for weight in found[1:]] == [()] * 4
    before = gradient.clone()
    _nn.lbfgs_direction(gradient, changes, steps, shares, scale)
    assert torch.equal(gradient, before)

"""Programs of few elements: what is computed of them lies in registers, and what they read elsewhere is fetched there."""

import pytest
import rushlight as torch
from compiling import repeat_both, run_both

pytestmark = pytest.mark.own


def both(make, calls=8):
    compiled = run_both(make, calls)
    assert compiled.programs, compiled.reason


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("count", [1, 2, 7, 64, 65, 1024, 1025])
def test_elements_and_single_ones_beside_them_give_the_bits_of_eager(dtype, count):
    def make():
        x, one = torch.randn(count, dtype=dtype), torch.tensor(0.7, dtype=dtype)

        def function(x):
            y = torch.tanh(x * one) + one
            z = one - y / (x.abs() + 2.0) ** 3
            turned = (one - z).exp() * one * 3.0 - 1.0
            return torch.maximum(y, turned) - z, one * one, torch.atan2(one, y)

        return function, lambda number: (x + number,), (x, one)

    both(make)


def test_types_do_not_mix():
    def make():
        a, b = torch.randn(3), torch.randn(3).double()
        return (
            lambda: ((a * 2.0).exp() * b.cos() - b, (a + a).double() * b, a / 3.0),
            lambda number: (),
            (a, b),
        )

    both(make)


def test_numbers_that_are_none_or_too_large_stay_what_they_are():
    def make():
        def function(x):
            return (x * 2.0 - x).exp(), (x / x).relu(), torch.minimum(x, -x) * 0.5, (x**2.0).sqrt()

        numbers = [float("nan"), float("inf"), -float("inf"), 1e38, -0.0, 1e-45]
        return function, lambda number: (torch.tensor(numbers),), ()

    both(make)


def test_parts_of_what_lies_in_registers_are_read_there():
    def make():
        def function(x):
            y = x * 2.0
            first, rest, last = y[:1], y[1:4], y[4]
            z = rest - first + last * rest.exp()
            return z * y[2:5], (y.view(2, 3)[1] + 1.0) * z, y.expand(2, 6) * 2.0 - y

        return function, lambda number: (torch.randn(6),), ()

    both(make)


def test_what_is_written_meanwhile_is_fetched_again():
    def make():
        weight, count = torch.randn(4), torch.zeros(())

        def function(x):
            before = weight * x + 1.0
            weight.add_(0.5)
            count.add_(1.0)
            after = weight * x - before
            weight[1] = 3.0
            return before * 2.0, after * count, (weight - after) * 2.0

        return function, lambda number: (torch.randn(4),), (weight, count)

    both(make)


def test_buffers_that_a_layer_writes_to_are_fetched_again():
    def make():
        layer = torch.nn.BatchNorm1d(3)

        def function(x):
            before = layer.running_mean * 2.0 - 1.0
            y = layer(x)
            after = layer.running_mean * 2.0 - before
            return y, before * 3.0, after / 2.0

        return function, lambda number: (torch.randn(5, 3),), (layer,)

    both(make)


def test_steps_of_simulations_give_the_bits_and_gradients_of_eager():
    def make():
        force = torch.zeros(12, requires_grad=True)
        optimizer = torch.optim.Adam([force], lr=0.1)

        def function():
            angle, speed, cost = torch.tensor(3.0), torch.tensor(0.0), 0.0
            for at in range(12):
                speed = speed + 0.05 * (9.8 * torch.sin(angle) + force[at])
                angle = angle + 0.05 * speed
                cost = cost + angle**2 + 0.1 * speed**2 + 0.001 * force[at] ** 2
            optimizer.zero_grad()
            cost.backward()
            optimizer.step()
            return cost.detach()

        return function, lambda number: (), (force, optimizer)

    both(make, 12)


def test_a_rate_that_changes_is_read_anew():
    def make():
        weight = torch.randn(3, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.1, momentum=0.5)

        def function():
            optimizer.zero_grad()
            loss = ((weight * 2.0 - 1.0) ** 2).sum()
            loss.backward()
            optimizer.step()
            return loss.detach() * 2.0 - 1.0

        return function, lambda number: (), (weight, optimizer)

    def slower(number, things):
        things[1].param_groups[0]["lr"] = 0.1 / (number + 1)

    compiled = run_both(make, 12, slower)
    assert compiled.programs, compiled.reason


def test_many_runs_in_one_call_are_many_calls():
    def make():
        state = torch.randn(2, dtype=torch.float64)

        def function():
            speed = state * 0.5 + 1.0
            state.copy_(state + 0.1 * torch.sin(speed) * speed)
            return state * 2.0

        return function, lambda number: (), (state,)

    both(make)
    repeat_both(make, 40)


def test_more_than_fits_into_registers_of_its_own_is_read_where_it_lies():
    def make():
        parts = [torch.randn(64) for _ in range(80)]

        def function():
            total = parts[0] * 1.0
            for part in parts:
                total = total + part * 0.5 - 1.0
            return total

        return function, lambda number: (), parts

    both(make)

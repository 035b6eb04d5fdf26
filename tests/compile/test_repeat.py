"""Many steps in one call."""

import pytest
import rushlight as torch
from compiling import state_of

pytestmark = pytest.mark.own


def last_of(step, count, is_repeated):
    """Take a step so many times, as a row or one by one, and return what the last one returns."""
    if is_repeated:
        return torch.compiler.repeat(step, count)
    for _ in range(count - 1):
        step()
    return step()


def training():
    torch.manual_seed(0)
    model = torch.nn.Linear(3, 1)
    optimizer = torch.optim.Adam(model.parameters())

    def step(x, y):
        optimizer.zero_grad()
        loss = ((model(x) - y) ** 2).mean()
        loss.backward()
        optimizer.step()
        return loss

    batches = [(torch.randn(4, 3), torch.randn(4, 1)) for _ in range(3)]
    return model, step, batches


def test_steps_that_are_repeated_do_what_as_many_calls_do():
    model, step, batches = training()
    losses = [step(*batches[number % 3]) for number in range(50)]
    repeated, step, batches = training()
    loss = torch.compiler.repeat(step, 50, over=batches)
    assert torch.equal(loss, losses[-1])
    for one, other in zip(model.parameters(), repeated.parameters(), strict=True):
        assert torch.equal(one, other)


def test_more_steps_than_are_verified_at_once_are_all_done():
    count = torch.zeros((), dtype=torch.int64)

    def step():
        return count.add_(1)

    assert torch.compiler.repeat(step, 2500).item() == 2500
    assert count.item() == 2500


def test_it_ends_where_it_is_told_to():
    total = torch.zeros(())
    found = torch.compiler.repeat(lambda x: total.add_(x), 100, over=torch.ones(5), until=lambda x: x > 20)
    assert found.item() == 21


def test_progress_is_told_and_ends_with_the_last_step():
    total, told = torch.zeros(()), []
    torch.compiler.repeat(
        lambda: total.add_(1), 300, progress=lambda done, found: told.append((done, found.item()))
    )
    assert told[-1] == (300, 300.0)


def test_nothing_is_done_no_times_and_there_is_something_to_go_over():
    assert torch.compiler.repeat(lambda: 1, 0) is None
    with pytest.raises(ValueError, match="there is nothing to go over"):
        torch.compiler.repeat(lambda x: x, 3, over=[])


def test_an_error_in_a_step_is_the_function_s_own():
    index = [torch.tensor([[0]]), torch.tensor([[9]])]
    rows = torch.ones(1, 3)
    compiled = torch.compile(lambda i: rows.gather(1, i))
    torch.compiler.repeat(compiled, 8, over=index[:1])
    with pytest.raises(RuntimeError, match="index 9 is out of bounds"):
        torch.compiler.repeat(compiled, 8, over=index)


def test_batches_of_other_shapes_among_them_do_what_as_many_calls_do():
    model, step, batches = training()
    batches += [(torch.randn(2, 3), torch.randn(2, 1)), batches[0]]
    start = [parameter.clone() for parameter in model.parameters()]
    losses = [step(*batches[number % 5]) for number in range(60)]
    repeated, step, _ = training()
    assert all(torch.equal(a, b) for a, b in zip(start, repeated.parameters(), strict=True))
    assert torch.equal(torch.compiler.repeat(step, 60, over=batches), losses[-1])
    for one, other in zip(model.parameters(), repeated.parameters(), strict=True):
        assert torch.equal(one, other)


def test_a_batch_that_is_a_parameter_itself_is_seen_to_be():
    weight = torch.zeros(3)

    def step(x):
        return weight.add_(x.mean() + 1)

    def total(count, batches):
        weight.zero_()
        for number in range(count):
            step(batches[number % len(batches)])
        return weight.clone()

    batches = [torch.ones(3), weight, torch.ones(3)]
    expected = total(6, batches)
    weight.zero_()
    assert torch.equal(torch.compiler.repeat(step, 6, over=batches), expected)
    weight.zero_()
    step = torch.compile(step)
    expected = total(7, batches)
    for _ in range(3):
        weight.zero_()
        assert torch.equal(torch.compiler.repeat(step, 7, over=batches), expected)


def test_a_schedule_counts_every_step_of_many():
    model, _, batches = training()
    optimizer = torch.optim.SGD(model.parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    def step(x, y):
        optimizer.zero_grad()
        ((model(x) - y) ** 2).mean().backward()
        optimizer.step()
        scheduler.step()

    torch.compiler.repeat(step, 20, over=batches)
    assert scheduler.last_epoch == 20
    assert optimizer.param_groups[0]["lr"] == 0.5**20


@pytest.mark.parametrize("kind", ["Adam", "SGD", "NAdam", "AMSGrad"])
def test_nobody_can_tell_how_many_steps_were_done_in_a_row(kind):
    found = []
    for repeated in (False, True):
        torch.manual_seed(0)
        model, x, y = torch.nn.Linear(3, 2), torch.randn(8, 3), torch.randn(8, 2)
        make = {
            "AMSGrad": lambda p: torch.optim.Adam(p, amsgrad=True),
            "SGD": lambda p: torch.optim.SGD(p, 0.1, 0.9),
        }
        optimizer = make.get(kind, getattr(torch.optim, kind, None))(model.parameters())

        def step(optimizer=optimizer, model=model, x=x, y=y):
            optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            return loss

        loss = last_of(step, 700, repeated)
        found.append(state_of(loss, model, optimizer))
    assert found[0] == found[1]


def test_gradients_that_add_up_add_up_in_a_row_too():
    found = []
    for repeated in (False, True):
        torch.manual_seed(0)
        weight, x = torch.randn(4, requires_grad=True), torch.randn(4)

        def step(weight=weight, x=x):
            loss = (weight * x).tanh().sum()
            loss.backward()
            with torch.no_grad():
                weight -= 0.01 * weight.grad
            return loss

        loss = last_of(step, 300, repeated)
        found.append(state_of(loss, weight))
    assert found[0] == found[1]


@pytest.mark.parametrize("late", [False, True])
def test_a_step_that_goes_another_way_in_the_middle_of_a_row_is_done_as_it_is_written(late):
    found = []
    for repeated in (False, True):
        torch.manual_seed(0)
        weight = torch.ones(3, requires_grad=True)
        optimizer = torch.optim.SGD([weight], lr=0.01)

        def step(weight=weight, optimizer=optimizer):
            optimizer.zero_grad()
            loss = weight.square().sum()
            if not late and loss < 1.0:
                return loss * 1000
            loss.backward()
            optimizer.step()
            if late and weight.detach().sum() < 1.0:
                return loss * 1000
            return loss

        loss = last_of(step, 200, repeated)
        found.append(state_of(loss, weight))
    assert found[0] == found[1]


def test_a_matrix_that_stops_being_positive_in_a_row_is_an_error_at_that_step():
    found = []
    for repeated in (False, True):
        shift = torch.zeros(())
        matrix = torch.eye(3)

        def step(shift=shift, matrix=matrix):
            found = torch.linalg.cholesky(matrix - shift)
            shift.add_(1 / 128)
            return found.sum()

        with pytest.raises(RuntimeError):
            last_of(step, 1000, repeated)
        found.append(shift.item())
    assert 0.0 < found[0] == found[1] < 1.0

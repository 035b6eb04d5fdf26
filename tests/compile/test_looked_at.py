"""Truth values and integers that a function looks at: its program runs where they are what they were."""

import pytest
import rushlight as torch
from compiling import run_both, state_of

pytestmark = pytest.mark.own

distributions = torch.distributions


def test_each_way_of_a_branch_is_a_program():
    def make():
        w = torch.randn(3, requires_grad=True)

        def step(x):
            loss = (w * x).sum()
            if loss > 0:
                loss = loss * 2
            w.grad = None
            loss.backward()
            with torch.no_grad():
                w.sub_(w.grad, alpha=0.1)
            return loss.detach()

        return step, lambda number: (torch.randn(3),), (w,)

    compiled = run_both(make, 40)
    assert len(compiled.programs) == 2


def test_a_branch_after_a_write_undoes_the_write_where_it_goes_the_other_way():
    def make():
        total = torch.zeros(3)

        def step(x):
            total.add_(x)
            noise = torch.randn(3)
            if (total > 2).any():
                total.zero_()
            return total + noise

        return step, lambda number: (torch.full((3,), 0.3),), (total,)

    assert run_both(make, 40).programs


def test_numbers_that_are_others_each_time_are_no_program():
    compiled = torch.compile(lambda x: x * int(x.argmax()), backend="eager")
    for number in range(60):
        assert compiled(torch.eye(60)[number]).sum().item() == number
    assert not compiled.programs


@pytest.mark.parametrize(
    "make",
    [
        lambda y: -distributions.Categorical(logits=y).log_prob(torch.zeros(6, dtype=torch.long)).mean(),
        lambda y: distributions.Normal(y, y.exp()).rsample().square().mean(),
        lambda y: distributions.kl_divergence(
            distributions.Normal(y, y.exp()), distributions.Normal(0.0, 1.0)
        ).mean(),
        lambda y: (y * torch.nn.functional.one_hot(torch.arange(6) % 3, 3)).mean(),
    ],
    ids=["categorical", "normal", "divergence", "one hot"],
)
def test_what_is_validated_is_recorded(make):
    def program():
        model, x = torch.nn.Linear(4, 3), torch.randn(6, 4)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

        def step():
            optimizer.zero_grad()
            loss = make(model(x))
            loss.backward()
            optimizer.step()
            return loss

        return step, lambda number: (), (model, optimizer)

    compiled = run_both(program, 10)
    assert compiled.programs, compiled.reason


def test_what_is_not_valid_is_refused_as_without():
    states = []
    for compiling in (False, True):
        torch.manual_seed(0)
        count = torch.zeros(())

        def step(x, count=count):
            count.add_(1)
            return distributions.Normal(torch.zeros(2), x).sample()

        step = torch.compile(step, backend="eager") if compiling else step
        found = []
        for number in range(12):
            try:
                found.append(state_of(step(torch.full((2,), -1.0 if number in (8, 10) else 1.0))))
            except ValueError as error:
                found.append(str(error).split("\n")[0])
            found.append(state_of(count, torch.get_rng_state()))
        states.append(found)
    assert states[0] == states[1]
    assert step.programs, step.reason


def test_a_program_that_fails_on_its_way_leaves_what_the_function_does():
    def make():
        state = torch.zeros(2)

        def step(x):
            state.add_(1)
            return torch.bernoulli(x) + state

        return step, state

    states = []
    for compiling in (False, True):
        torch.manual_seed(0)
        step, state = make()
        step = torch.compile(step, backend="eager") if compiling else step
        found = []
        for number in range(12):
            try:
                found.append(state_of(step(torch.full((2,), 2.0 if number == 8 else 0.5))))
            except RuntimeError as error:
                found.append(str(error))
            found.append(state_of(state, torch.get_rng_state()))
        states.append(found)
    assert states[0] == states[1]
    assert step.programs, step.reason


@pytest.mark.parametrize("draw", ["shuffled", "chosen", "assigned"])
def test_batches_that_are_drawn_are_recorded(draw):
    def make():
        data = torch.randn(20, 3)

        def step():
            if draw == "shuffled":
                return data[torch.randperm(20)[:5]]
            if draw == "chosen":
                return data[torch.randint(0, 20, (5,))]
            x = data.clone().requires_grad_()
            y = x * 2
            y[0] = 0.0
            y.sum().backward()
            return x.grad

        return step, lambda number: (), (data,)

    compiled = run_both(make, 9)
    assert compiled.programs, compiled.reason


def test_what_runs_often_is_judged_once():
    from rushlight.compiler.watch import Watch

    judged = []

    class Judging(Watch):
        def _see(self, frame, event, arg):
            judged.append((event, frame.f_code.co_name))
            return super()._see(frame, event, arg)

    def helper(x):
        return torch.tanh(layer(x)) * len(str(x.shape))

    layer = torch.nn.GRUCell(3, 3)
    with Judging() as watch:
        for _ in range(50):
            helper(torch.ones(2, 3))
    assert helper.__code__ in watch.codes and watch.unclear is None
    assert len(judged) < 60


def test_what_runs_is_watched_again_after_an_import():
    from rushlight.compiler.watch import Watch

    def helper(x):
        import colorsys  # noqa: F401

        return x

    with Watch() as watch:
        helper(1)
        helper(2)
        print(end="")
    assert watch.unclear is not None and "print" in watch.unclear
    assert helper.__code__ in watch.codes

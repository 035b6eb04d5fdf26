"""Schedulers of the learning rate: the rates epoch by epoch, states, and misuse."""

import pytest
import rushlight as torch

S = torch.optim.lr_scheduler


def optimizer(rate=0.1):
    return torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=rate)


def rates(make, epochs=6):
    steps = optimizer()
    scheduler = make(steps)
    found = [steps.param_groups[0]["lr"]]
    for _ in range(epochs):
        steps.step()
        scheduler.step()
        found.append(steps.param_groups[0]["lr"])
    assert scheduler.get_last_lr() == found[-1:]
    return found


@pytest.mark.parametrize(
    "make, expected",
    [
        (lambda o: S.LambdaLR(o, lambda epoch: 1 / (1 + epoch)), [0.1 / (1 + n) for n in range(7)]),
        (lambda o: S.MultiplicativeLR(o, lambda epoch: 0.5), [0.1 * 0.5**n for n in range(7)]),
        (lambda o: S.StepLR(o, 3), [0.1] * 3 + [0.01] * 3 + [0.001]),
        (lambda o: S.MultiStepLR(o, [4, 2, 4]), [0.1, 0.1, 0.01, 0.01, 1e-4, 1e-4, 1e-4]),
        (lambda o: S.ConstantLR(o, 0.5, 2), [0.05, 0.05] + [0.1] * 5),
        (lambda o: S.LinearLR(o, 0.5, 1.0, 5), [0.05, 0.06, 0.07, 0.08, 0.09, 0.1, 0.1]),
        (lambda o: S.ExponentialLR(o, 0.9), [0.1 * 0.9**n for n in range(7)]),
        (lambda o: S.PolynomialLR(o, 4, 2.0), [0.1 * (1 - n / 4) ** 2 for n in range(5)] + [0, 0]),
        (lambda o: S.CosineAnnealingLR(o, 2), [0.1, 0.05, 0, 0.05, 0.1, 0.05, 0]),
    ],
)
def test_the_rate_follows_the_formula(make, expected):
    assert rates(make) == pytest.approx(expected, abs=1e-12)


def test_the_rate_falls_when_a_measure_stays_where_it_is():
    steps = optimizer()
    scheduler = S.ReduceLROnPlateau(steps, patience=1)
    found = []
    for _ in range(6):
        scheduler.step(torch.tensor(1.0))
        found.append(steps.param_groups[0]["lr"])
    assert found == pytest.approx([0.1, 0.1, 0.01, 0.01, 0.001, 0.001])


def test_a_state_loaded_into_another_scheduler_goes_on_where_it_was():
    first, second = optimizer(), optimizer()
    one, other = S.StepLR(first, 2), S.StepLR(second, 2)
    first.step()
    one.step()
    other.load_state_dict(one.state_dict())
    second.step()
    other.step()
    assert other.last_epoch == 2
    assert second.param_groups[0]["lr"] == pytest.approx(0.01)


def test_a_scheduler_that_steps_before_its_optimizer_warns():
    scheduler = S.StepLR(optimizer(), 1)
    with pytest.warns(UserWarning, match="Detected call of `lr_scheduler.step\\(\\)` before"):
        scheduler.step()


def test_a_step_that_took_the_place_of_another_is_warned_of():
    under = optimizer()
    scheduler = S.StepLR(under, 1)
    step = under.step
    under.step = lambda: step()
    under.step()
    with pytest.warns(UserWarning, match="`optimizer.step\\(\\)` has been overridden after"):
        scheduler.step()


def test_two_schedulers_whose_states_are_the_same_have_the_same_attributes():
    for make in (
        lambda: S.StepLR(optimizer(), 3),
        lambda: S.MultiStepLR(optimizer(), [2, 3]),
        lambda: S.CyclicLR(optimizer(), 0.1, 1.0, mode="triangular2", cycle_momentum=False),
        lambda: S.CosineAnnealingWarmRestarts(optimizer(), 3),
    ):
        one, other = make(), make()
        for _ in range(3):
            one.optimizer.step()
            one.step()
        other.load_state_dict(one.state_dict())
        assert {**vars(one), "optimizer": 0} == {**vars(other), "optimizer": 0}


@pytest.mark.parametrize(
    "make, kind, message",
    [
        (lambda: S.StepLR(3, 1), TypeError, "int is not an Optimizer"),
        (lambda: S.LambdaLR(optimizer(), [1, 2]), ValueError, "Expected 1 lr_lambdas, but got 2"),
        (
            lambda: S.ConstantLR(optimizer(), 2.0),
            ValueError,
            "Constant multiplicative factor expected to be between 0 and 1.",
        ),
        (lambda: S.ReduceLROnPlateau(optimizer(), factor=1.0), ValueError, "Factor should be < 1.0."),
        (lambda: S.ReduceLROnPlateau(optimizer(), "x"), ValueError, "mode x is unknown!"),
    ],
)
def test_misuse_is_told_in_the_same_words(make, kind, message):
    with pytest.raises(kind) as caught:
        make()
    assert str(caught.value) == message


def test_a_scheduler_of_ones_own_knows_whether_an_epoch_begins_and_whether_it_is_the_first():
    seen = []

    class Own(torch.optim.lr_scheduler.LRScheduler):
        def get_lr(self):
            seen.append((self._get_lr_called_within_step, self._is_initial))
            return [0.5 for _ in self.optimizer.param_groups]

    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    scheduler = Own(optimizer)
    optimizer.step()
    scheduler.step()
    assert seen == [(True, True), (True, False)]
    assert not scheduler._get_lr_called_within_step
    assert {"_is_initial", "_get_lr_called_within_step"} <= set(scheduler.state_dict())


def test_what_happens_on_a_plateau_can_be_replaced():
    seen = []

    class Own(torch.optim.lr_scheduler.ReduceLROnPlateau):
        def _reduce_lr(self, epoch):
            seen.append(epoch)

    optimizer = torch.optim.SGD([torch.ones(1, requires_grad=True)], lr=0.1)
    scheduler = Own(optimizer, patience=0)
    scheduler.step(1.0)
    scheduler.step(2.0)
    assert seen == [2]
    assert optimizer.param_groups[0]["lr"] == 0.1


def test_tensors_that_were_given_may_change_afterwards():
    def halved(make, *names):
        given = {name: torch.tensor(0.5) for name in names}
        rate = torch.tensor(0.25)
        optimizer = torch.optim.SGD([torch.zeros(1)], lr=rate)
        schedule = make(optimizer, **given)
        [group] = optimizer.param_groups
        before = {name: float(value) for name, value in group.items() if name in (*names, "initial_lr")}
        for value in (rate, *given.values()):
            value.mul_(0.5)
        optimizer.step()
        schedule.step()
        assert {name: float(group[name]) for name in before} == before
        return schedule

    schedulers = torch.optim.lr_scheduler
    cyclic = halved(
        lambda optimizer, **given: schedulers.CyclicLR(optimizer, base_lr=0.25, **given),
        *("max_lr", "base_momentum", "max_momentum"),
    )
    assert cyclic.max_lrs == [0.5]
    halved(
        lambda optimizer, **given: schedulers.OneCycleLR(optimizer, total_steps=10, **given),
        *("max_lr", "base_momentum", "max_momentum"),
    )
    halved(torch.optim.swa_utils.SWALR, "swa_lr")


def test_a_cycle_goes_the_way_that_an_old_state_has_as_a_function():
    optimizer = torch.optim.SGD([torch.zeros(1)], lr=1.0)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=5, cycle_momentum=False)
    del schedule._anneal_func_type
    way = torch.optim.lr_scheduler.OneCycleLR._annealing_linear
    schedule.load_state_dict({**schedule.state_dict(), "anneal_func": way})
    rates = []
    for _ in range(3):
        optimizer.step()
        schedule.step()
        rates.append(round(schedule.get_last_lr()[0], 4))
    assert rates == [0.8571, 0.5714, 0.2857]
    assert torch.optim.lr_scheduler.OneCycleLR._annealing_cos(1, 0.0, 0.5) == 0.5

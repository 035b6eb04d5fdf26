"""Steps of every optimiser, and schedules that are stepped in a compiled function: recorded, to the bit."""

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own
optim, schedules = torch.optim, torch.optim.lr_scheduler

OPTIMISERS = [
    ("SGD", {}), ("SGD", {"momentum": 0.9, "nesterov": True, "weight_decay": 0.1}), ("SGD", {"maximize": True}),
    ("Adam", {}), ("Adam", {"amsgrad": True}), ("Adam", {"fused": True}), ("AdamW", {}), ("AdamW", {"amsgrad": True}),
    ("RMSprop", {}), ("RMSprop", {"centered": True, "momentum": 0.9}), ("Adagrad", {}), ("Adagrad", {"lr_decay": 0.1}),
    ("Adadelta", {}), ("Adadelta", {"weight_decay": 0.1, "maximize": True}), ("Adamax", {}), ("Adamax", {"weight_decay": 0.1}),
    ("NAdam", {}), ("NAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("RAdam", {"betas": (0.5, 0.9)}),
    ("RAdam", {"decoupled_weight_decay": True, "weight_decay": 0.1}), ("ASGD", {}), ("ASGD", {"t0": 4, "weight_decay": 0.1}),
    ("Rprop", {}), ("Adafactor", {}), ("Adafactor", {"weight_decay": 0.1}), ("Muon", {}),
]  # fmt: skip


def training(optimiser, options, schedule=None, inside=True):
    """What makes a step that trains a model, and a schedule that is stepped inside of it or between the calls."""

    def make():
        model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2))
        parameters = [one for one in model.parameters() if one.dim() == 2 or optimiser != "Muon"]
        optimizer = getattr(optim, optimiser)(parameters, **options)
        stepping = None if schedule is None else schedule(optimizer)
        rates = torch.zeros(len(optimizer.param_groups))

        def step(x, y):
            optimizer.zero_grad()
            loss = (model(x) - y).square().mean()
            loss.backward()
            optimizer.step()
            if stepping is not None and inside:
                stepping.step()
            return loss

        def arguments(number):
            if stepping is not None and not inside and number:
                stepping.step()
            # What there is of the rates, from outside of the function.
            rates.copy_(torch.tensor([group["lr"] for group in optimizer.param_groups]))
            return torch.randn(5, 4), torch.randn(5, 2)

        return step, arguments, (model, optimizer, rates)

    return make


@pytest.mark.parametrize(
    ("name", "options"), OPTIMISERS, ids=[f"{name}{options}" for name, options in OPTIMISERS]
)
def test_a_step_of_an_optimiser_is_recorded(name, options):
    compiled = run_both(training(name, options), 30)
    assert compiled.programs, compiled.reason


@pytest.mark.parametrize("name", ["Adamax", "NAdam", "RAdam", "ASGD", "Adadelta"])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_step_at_once_rounds_as_the_one_in_operations(name, dtype):
    at_once = getattr(optim, name)
    in_operations = type(name, (at_once,), {"_descent": lambda self, group: None})
    found = []
    for kind in (at_once, in_operations):
        torch.manual_seed(0)
        parameters = [
            torch.randn(37, 5, dtype=dtype, requires_grad=True),
            torch.randn(3, dtype=dtype, requires_grad=True),
        ]
        optimizer = kind(parameters, weight_decay=0.1)
        for _ in range(25):
            for parameter in parameters:
                parameter.grad = torch.randn_like(parameter)
            optimizer.step()
        states = [value for state in optimizer.state.values() for _, value in sorted(state.items())]
        found.append([value.tolist() for value in (*parameters, *states)])
    assert found[0] == found[1]


SCHEDULES = {
    "StepLR": lambda optimizer: schedules.StepLR(optimizer, 3),
    "MultiStepLR": lambda optimizer: schedules.MultiStepLR(optimizer, [4, 9]),
    "ExponentialLR": lambda optimizer: schedules.ExponentialLR(optimizer, 0.9),
    "CosineAnnealingLR": lambda optimizer: schedules.CosineAnnealingLR(optimizer, 20),
    "CosineAnnealingWarmRestarts": lambda optimizer: schedules.CosineAnnealingWarmRestarts(optimizer, 4),
    "OneCycleLR": lambda optimizer: schedules.OneCycleLR(optimizer, 0.1, total_steps=40),
    "CyclicLR": lambda optimizer: schedules.CyclicLR(optimizer, 0.01, 0.1, 3),
    "LinearLR": lambda optimizer: schedules.LinearLR(optimizer, 0.2, total_iters=12),
    "PolynomialLR": lambda optimizer: schedules.PolynomialLR(optimizer, 40, 2.0),
    "LambdaLR": lambda optimizer: schedules.LambdaLR(optimizer, lambda epoch: 0.9**epoch),
    "SequentialLR": lambda optimizer: schedules.SequentialLR(
        optimizer, [schedules.LinearLR(optimizer, 0.1, total_iters=5), schedules.ExponentialLR(optimizer, 0.9)], [6]
    ),
    "ChainedScheduler": lambda optimizer: schedules.ChainedScheduler(
        [schedules.ExponentialLR(optimizer, 0.9), schedules.StepLR(optimizer, 4)]
    ),
}  # fmt: skip
MOVED = [
    ("SGD", {"lr": 0.1, "momentum": 0.9}), ("Adam", {}), ("RMSprop", {"momentum": 0.5}), ("NAdam", {}), ("Adamax", {}), ("RAdam", {}),
]  # fmt: skip


@pytest.mark.parametrize("name", list(SCHEDULES))
@pytest.mark.parametrize(("optimiser", "options"), MOVED, ids=[name for name, _ in MOVED])
@pytest.mark.parametrize("inside", [True, False])
def test_a_schedule_costs_no_new_recording(name, optimiser, options, inside):
    compiled = run_both(training(optimiser, options, SCHEDULES[name], inside), 30)
    assert len(compiled.programs) == 1, compiled.reason


def test_where_a_rate_is_fixed_a_schedule_costs_a_recording_when_it_moves():
    compiled = run_both(training("Muon", {}, SCHEDULES["StepLR"]), 24)
    assert len(compiled.programs) > 1, compiled.reason


def test_a_schedule_of_ones_own_is_stepped_too():
    class Halving(schedules.LRScheduler):
        def get_lr(self):
            return [
                group["lr"] * (0.5 if self.last_epoch % 3 == 2 else 1.0)
                for group in self.optimizer.param_groups
            ]

    compiled = run_both(training("Adam", {}, Halving), 20)
    assert len(compiled.programs) == 1, compiled.reason


def test_a_schedule_whose_step_is_another_runs_as_it_is_written():
    class Printing(schedules.ExponentialLR):
        steps = 0

        def step(self, epoch=None):
            Printing.steps += 1
            super().step(epoch)

    def patched(optimizer):
        schedule = schedules.ExponentialLR(optimizer, 0.9)
        plain = schedule.step
        schedule.step = lambda: plain()
        return schedule

    for schedule in (patched, lambda optimizer: Printing(optimizer, 0.9)):
        compiled = run_both(training("SGD", {"lr": 0.1}, schedule), 12)
        assert not compiled.programs
    assert Printing.steps == 26


def small(change, calls=20):
    """Call a step of a small model, which `change` does something in, compiled and not."""

    def make():
        w = torch.ones(3, requires_grad=True)
        optimizer = optim.SGD([w], lr=0.1)
        stepping = schedules.StepLR(optimizer, 2, 0.5)
        seen = torch.zeros(())

        def step(x):
            optimizer.zero_grad()
            (w * x).sum().backward()
            change(optimizer, stepping, seen)
            return w.detach().clone()

        return step, lambda _: (torch.randn(3),), (w, seen)

    return run_both(make, calls)


def before(optimizer, stepping, seen):
    stepping.step()
    optimizer.step()


def looking(optimizer, stepping, seen):
    optimizer.step()
    stepping.step()
    seen.fill_(stepping.get_last_lr()[0])


def counting(optimizer, stepping, seen):
    optimizer.step()
    stepping.step()
    seen.fill_(stepping.last_epoch)


def jumping(optimizer, stepping, seen):
    optimizer.step()
    stepping.step(3)


def twice(optimizer, stepping, seen):
    optimizer.step()
    stepping.step()
    stepping.step()


def again(optimizer, stepping, seen):
    optimizer.step()
    stepping.step()
    optimizer.step()


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("change", [before, looking, counting, jumping, twice, again])
def test_other_uses_of_a_schedule_do_what_they_do_elsewhere(change):
    compiled = small(change)
    assert bool(compiled.programs) == (change is twice), compiled.reason


def test_the_last_step_of_a_schedule_fails_as_elsewhere():
    def last(optimizer, stepping, seen):
        optimizer.step()
        stepping.step()

    w = torch.ones(2, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    stepping = schedules.OneCycleLR(optimizer, 0.1, total_steps=9, cycle_momentum=False)

    @torch.compile
    def step():
        optimizer.zero_grad()
        w.sum().backward()
        last(optimizer, stepping, None)

    for _ in range(9):
        step()
    held = w.detach().clone()
    with pytest.raises(ValueError, match="Tried to step 10 times"):
        step()
    assert step.programs
    assert not torch.equal(w, held)


@pytest.mark.filterwarnings("ignore:Detected call of `lr_scheduler.step")
def test_a_schedule_of_what_is_differentiated_outside_is_not_stepped_twice():
    w = torch.ones(2, requires_grad=True)
    optimizer = optim.SGD([w], lr=0.1)
    stepping = schedules.ExponentialLR(optimizer, 0.9)

    @torch.compile
    def loss():
        stepping.step()
        return (w * w).sum()

    for _ in range(8):
        loss().backward()
        optimizer.step()
    assert stepping.last_epoch == 8


def test_repeated_steps_step_their_schedule():
    make = training("SGD", {"lr": 0.1}, SCHEDULES["ExponentialLR"])
    ends = []
    for many in (False, True):
        torch.manual_seed(0)
        step, arguments, things = make()
        batch = arguments(0)
        compiled = torch.compile(step)
        if many:
            torch.compiler.repeat(compiled, 50, over=[batch])
        else:
            for _ in range(50):
                step(*batch)
        ends.append([thing.tolist() for thing in things[0].parameters()] + [things[1].param_groups[0]["lr"]])
    assert ends[0] == ends[1]


def test_a_step_with_a_schedule_is_not_exported():
    step, arguments, _ = training("SGD", {"lr": 0.1}, SCHEDULES["ExponentialLR"])()
    with pytest.raises(RuntimeError, match="no form for a step of a schedule in files"):
        torch.compiler.export(step, arguments(0))


def test_a_mean_of_all_models_so_far_is_recorded():
    def make():
        model = torch.nn.Linear(3, 2)
        average = torch.optim.swa_utils.AveragedModel(model)
        optimizer = optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            average.update_parameters(model)
            return loss

        return step, lambda _: (torch.randn(4, 3),), (model, average)

    compiled = run_both(make, 20)
    assert compiled.programs, compiled.reason

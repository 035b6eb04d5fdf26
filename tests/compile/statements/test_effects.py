"""Statements of a step that count, add up, keep or print numbers: they are done when its program has run."""

import io
import logging
import sys

import pytest
import rushlight as torch
from compiling import Meter, same_outcome, stepping, training

pytestmark = [
    pytest.mark.own,
    pytest.mark.skipif(sys.version_info < (3, 11), reason="numbers that leave are not followed there"),
]

TOTAL, LOSSES, COUNT, STATS = 0.0, [], 0, {"loss": [], "total": 0.0, "best": None}


def adding_up():
    net, optimizer = training()
    total, losses = 0.0, []

    def step(x, y):
        nonlocal total
        loss = stepping(net, optimizer, x, y)
        total += loss.item()
        losses.append(loss.item())
        return loss

    return step, lambda: (total, losses)


def of_the_module():
    global TOTAL, LOSSES, COUNT, STATS
    net, optimizer = training()
    TOTAL, LOSSES, COUNT, STATS = 0.0, [], 0, {"loss": [], "total": 0.0, "best": None}

    def step(x, y):
        global TOTAL, COUNT
        loss = stepping(net, optimizer, x, y)
        COUNT += 1
        TOTAL += float(loss.detach()) * len(x)
        LOSSES.append((COUNT, loss.item()))
        STATS["loss"].append(round(loss.item(), 4))
        STATS["total"] += loss.item()
        STATS["last"] = loss.item()

    return step, lambda: (TOTAL, LOSSES, COUNT, STATS)


def of_an_object():
    class Trainer:
        def __init__(self):
            self.net, self.optimizer = training()
            self.total, self.losses, self.best, self.turns = 0.0, [], float("inf"), 0

        def step(self, x, y):
            loss = stepping(self.net, self.optimizer, x, y)
            self.total += loss.item()
            self.losses.append(loss.item())
            self.turns += 1
            if loss.item() < self.best:
                self.best = loss.item()
            return loss.detach()

    trainer = Trainer()
    return trainer.step, lambda: (trainer.total, trainer.losses, trainer.best, trainer.turns)


def keeping_tensors():
    net, optimizer = training()
    history = []

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        history.append(loss.detach())
        history.extend([loss.detach(), x[0, 0]])
        return loss

    return step, lambda: [one.item() for one in history]


def keeping_arguments():
    net, optimizer = training()
    history, given = [], []

    def step(x, y):
        history.append(x)
        given.append(y)
        return stepping(net, optimizer, x, y)

    return step, lambda: (len({id(one) for one in history}), [one.tolist() for one in history], len(given))


def by_a_name():
    net, optimizer = training()
    losses, right = [], []

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        value = loss.item()
        losses.append(value)
        correct = (net(x).argmax(1) == y).sum().item()
        right.append(correct / 4)
        return value, correct

    return step, lambda: (losses, right)


def in_a_loop():
    net, optimizer = training()
    losses = []

    def step(x, y):
        for row in x:
            losses.append(row.sum().item())
        return stepping(net, optimizer, x, y)

    return step, lambda: losses


def printing():
    net, optimizer = training()
    count = 0

    def step(x, y):
        nonlocal count
        loss = stepping(net, optimizer, x, y)
        count += 1
        if count % 3 == 0:
            print(f"{count}: {loss.item():.3f} {loss:.4f}", "of", len(x))
            print("loss %.2f" % loss.item(), "and {:.1f}".format(loss.item()), sep="; ")  # noqa: UP031, UP032
        return loss

    return step, lambda: count


def the_best():
    net, optimizer = training()
    best, stopped = None, False

    def step(x, y):
        nonlocal best, stopped
        loss = stepping(net, optimizer, x, y)
        best = loss.item() if best is None else min(best, loss.item())
        stopped = best < 0.3 and not stopped
        return loss

    return step, lambda: (best, stopped)


def gathered_without_gradients():
    net, optimizer = training()
    seen = set()

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        with torch.no_grad():
            seen.add(net(x).sum().item())
        return loss

    return step, lambda: sorted(seen)


def by_an_object_in_the_end():
    net, optimizer = training()
    meter = Meter()

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        meter.update(loss.item(), x.size(0))
        print(f"average {meter.average:.3f}", loss)
        return loss

    return step, lambda: vars(meter)


def by_a_log_in_the_end():
    net, optimizer = training()
    log = logging.Logger("steps")
    written = io.StringIO()
    handler = logging.StreamHandler(written)
    handler.setFormatter(logging.Formatter("%(funcName)s:%(lineno)d %(message)s"))
    log.addHandler(handler)

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        log.info("loss %.3f", loss.item())
        return loss

    return step, written.getvalue


def by_a_name_in_the_end():
    net, optimizer = training()
    meter = Meter()

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        value = loss.item()
        meter.update(value, len(x))
        return value

    return step, lambda: vars(meter)


def by_an_attribute_in_the_end():
    class Trainer:
        def __init__(self):
            self.net, self.optimizer = training()
            self.meter, self.rates = Meter(), []

        def step(self, x, y):
            loss = stepping(self.net, self.optimizer, x, y)
            if self.meter.count % 8 == 0:
                self.rates.append(1 / loss.item())
            self.meter.update(loss.item())

    trainer = Trainer()
    return trainer.step, lambda: (vars(trainer.meter), trainer.rates)


def by_a_schedule_in_the_end():
    net, _ = training()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.5)
    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=1)

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        schedule.step(loss.item())
        return loss

    return step, lambda: (optimizer.param_groups[0]["lr"], schedule.best, schedule.num_bad_epochs)


WAITING = [
    adding_up, of_the_module, of_an_object, keeping_tensors, keeping_arguments, by_a_name, in_a_loop, printing, the_best,
    gathered_without_gradients, by_an_object_in_the_end, by_a_name_in_the_end, by_a_log_in_the_end, by_an_attribute_in_the_end, by_a_schedule_in_the_end,
]  # fmt: skip


@pytest.mark.parametrize("make", WAITING, ids=lambda make: make.__name__)
def test_statements_wait_for_the_end_of_a_program(make, capsys):
    compiled = same_outcome(make, capsys)
    assert compiled.programs, compiled.reason


class Model(torch.nn.Module):
    """A module that tells of itself in the end."""

    def __init__(self):
        super().__init__()
        self.inner, self.drop = torch.nn.Linear(3, 3), Dropout()
        self.seen = 0

    def forward(self, x):
        y = self.drop(self.inner(x))
        self.seen += 1
        print(self.training, f"{y.sum():.3f}")
        return y


class Dropout(torch.nn.Dropout):
    """One that says how much it drops."""

    def forward(self, x):
        return super().forward(x)


def test_what_is_told_of_in_the_end_is_looked_at_all_the_same(capsys):
    outcomes = []
    for compiling in (False, True):
        torch.manual_seed(0)
        model = Model()
        called = torch.compile(model.forward, backend="eager") if compiling else model.forward
        found = []
        for number in range(24):
            model.train(number < 8 or number > 16)
            model.drop.p = 0.5 if number < 20 else 0.1
            found.append(called(torch.ones(2, 3)).tolist())
        outcomes.append((found, model.seen, capsys.readouterr().out))
    assert outcomes[0] == outcomes[1]
    assert called.programs


def test_what_numbers_are_left_in_may_be_another_list(capsys):
    outcomes = []
    for compiling in (False, True):
        step, _ = of_the_module()
        step = torch.compile(step, backend="eager") if compiling else step
        torch.manual_seed(1)
        epochs = []
        for _ in range(12):
            LOSSES.clear()
            globals()["LOSSES"] = []
            for _ in range(5):
                step(torch.randn(4, 3), torch.randint(0, 2, (4,)))
            epochs.append(list(LOSSES))
        outcomes.append(epochs)
    assert outcomes[0] == outcomes[1] and len(step.programs) == 1


def test_numbers_are_left_in_what_is_seen_from_now_on(capsys):
    """Where the list becomes one that the step reads, it is no longer appended to in the end."""
    outcomes = []
    for compiling in (False, True):
        weights, found = [1.0, 2.0], []
        kept = found

        def step(x):
            kept.append(x.sum().item())  # noqa: B023
            return x * sum(weights)  # noqa: B023

        compiled = torch.compile(step, backend="eager") if compiling else step
        results = []
        for number in range(20):
            if number == 12:
                kept = weights
            results.append(compiled(torch.full((2,), float(number))).tolist())
        outcomes.append((results, weights, found))
    assert outcomes[0] == outcomes[1]


def test_what_was_done_before_a_failure_stays(capsys):
    outcomes = []
    for compiling in (False, True):
        losses = []

        def step(x, at):
            losses.append(x.sum().item())  # noqa: B023
            y = x[at]
            losses.append(y.item())  # noqa: B023
            return y

        compiled = torch.compile(step, backend="eager") if compiling else step
        x = torch.arange(3.0)
        for number in range(20):
            at = torch.tensor(7 if number in (1, 3, 4, 8, 15) else 1)
            try:
                compiled(x, at)
            except IndexError as error:
                losses.append(str(error))
        outcomes.append(losses)
    assert outcomes[0] == outcomes[1]


def test_many_steps_leave_all_their_numbers(capsys):
    outcomes = []
    for compiling in (False, True):
        step, state = adding_up()
        x, y = torch.ones(4, 3), torch.tensor([0, 1, 0, 1])
        if compiling:
            compiled = torch.compile(step, backend="eager")
            torch.compiler.repeat(compiled, 300, over=[(x, y)])
            assert compiled.programs
        else:
            for _ in range(300):
                step(x, y)
        outcomes.append(state())
    assert outcomes[0] == outcomes[1] and len(outcomes[0][1]) == 300


def test_what_is_left_in_variables_has_no_form_in_files():
    step, _ = adding_up()
    with pytest.raises(RuntimeError, match="what it leaves in variables and lists"):
        torch.compiler.export(step, (torch.ones(4, 3), torch.tensor([0, 1, 0, 1])))

"""Statements that wait in functions, methods and modules which a compiled step calls."""

import sys

import pytest
import rushlight as torch
from compiling import Meter, same_outcome, stepping, training

pytestmark = [
    pytest.mark.own,
    pytest.mark.skipif(sys.version_info < (3, 11), reason="numbers that leave are not followed there"),
]

LOSSES, COUNT = [], 0


def log(loss):
    global COUNT
    COUNT += 1
    LOSSES.append(loss.item())


def twice(loss, times=1):
    log(loss)
    log(loss * times)
    return loss * 2


def of_the_module():
    global COUNT
    net, optimizer = training()
    LOSSES.clear()
    COUNT = 0

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        log(loss)
        with torch.no_grad():
            net.bias.mul_(0.99)
        return loss

    return step, lambda: (LOSSES, COUNT)


def of_one_that_calls_another():
    step, state = of_the_module()

    def outer(x, y):
        loss = twice(step(x, y), times=3)
        return twice(loss) + 1

    return outer, state


def that_computes():
    net, optimizer = training()
    history, best = [], None

    def loss_of(x, y):
        nonlocal best
        loss = torch.nn.functional.cross_entropy(net(x), y)
        history.append((len(x), loss.item()))
        best = loss.item() if best is None else min(best, loss.item())
        print(f"{loss:.4f}")
        return loss

    def step(x, y):
        optimizer.zero_grad()
        loss = loss_of(x, y)
        loss.backward()
        optimizer.step()
        return loss

    return step, lambda: (history, best)


def of_a_method():
    class Trainer:
        def __init__(self):
            self.net, self.optimizer = training()
            self.logged, self.turns, self.meter = {"loss": 0.0, "all": []}, 0, Meter()

        def log(self, name, value):
            self.logged["loss"] += value.item()
            self.logged["all"].append((name, value.item()))
            self.turns += 1

        def step(self, x, y):
            loss = stepping(self.net, self.optimizer, x, y)
            self.log("first", loss)
            for scale in (2, 3):
                self.log(name=f"times {scale}", value=loss * scale)
            return loss + 1

    trainer = Trainer()
    return trainer.step, lambda: (trainer.logged, trainer.turns)


def of_a_module():
    class Counting(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.inner, self.seen, self.norms = torch.nn.Linear(3, 2), 0, []

        def forward(self, x):
            y = self.inner(x)
            self.seen += 1
            self.norms.append(y.norm().item())
            return y

    torch.manual_seed(0)
    net = Counting()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    return _stepping(net, optimizer), lambda: (net.seen, net.norms)


def _stepping(net, optimizer):
    def step(x, y):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step


def at_the_end():
    net, optimizer = training()
    meter, rates = Meter(), []

    def tell(loss, count):
        meter.update(loss.item(), count)
        rates.append(1 / loss.item())
        print(f"average {meter.average:.4f}")

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        tell(loss, len(x))
        return loss

    return step, lambda: (vars(meter), rates)


WAITING = [of_the_module, of_one_that_calls_another, that_computes, of_a_method, of_a_module, at_the_end]


@pytest.mark.parametrize("make", WAITING, ids=lambda make: make.__name__)
def test_statements_of_functions_wait(make, capsys):
    compiled = same_outcome(make, capsys)
    assert compiled.programs, compiled.reason


def a_number_is_used():
    net, optimizer = training()
    losses = []

    def number_of(loss):
        losses.append(loss.item())
        return loss.item()

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        return loss / (1 + abs(number_of(loss)))

    return step, lambda: losses


def a_list_is_read():
    net, optimizer = training()
    losses = []

    def keep(loss):
        losses.append(loss.item())

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        keep(loss)
        return loss * len(losses)

    return step, lambda: losses


def what_is_returned_is_another_then():
    net, optimizer = training()
    latest, losses = torch.zeros(3), []

    def keep(loss):
        nonlocal latest
        losses.append(1 / loss.item())
        latest = loss.detach() * 2

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        keep(loss)
        return latest

    return step, lambda: losses


def what_is_returned_is_bound_in_the_end():
    net, optimizer = training()
    latest = torch.zeros(3)

    def step(x, y):
        nonlocal latest
        stepping(net, optimizer, x, y)
        if int((net(x) > 0).sum()) > 2:
            latest = net(x).relu()
        return latest

    return step, lambda: latest.tolist()


def it_fails_in_between():
    net, optimizer = training()
    losses = []

    def keep(loss):
        losses.append(loss.item())

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        keep(loss)
        try:
            keep(loss * 2)
            return loss
        finally:
            keep(loss * 3)

    return step, lambda: losses


def it_is_called_in_another_way_too():
    net, optimizer = training()
    losses, count = [], 0

    def keep(loss):
        nonlocal count
        count += 1
        losses.append(float(count))

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        keep(loss)
        [keep(one) for one in (loss, loss)]
        return loss

    return step, lambda: (losses, count)


def a_failure_is_caught():
    net, optimizer = training()
    losses = []

    def keep(loss, bound):
        losses.append(loss.item())
        if loss > bound:
            raise ValueError
        losses.append(0.0)

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        try:
            keep(loss, 0.8)
        except ValueError:
            loss = loss * 2
        keep(loss, 100.0)
        return loss

    return step, lambda: losses


STAYING = [
    a_number_is_used, a_list_is_read, it_is_called_in_another_way_too, a_failure_is_caught, it_fails_in_between,
    what_is_returned_is_another_then, what_is_returned_is_bound_in_the_end,
]  # fmt: skip


@pytest.mark.parametrize("make", STAYING, ids=lambda make: make.__name__)
def test_nothing_is_lost_where_they_cannot_wait(make, capsys):
    same_outcome(make, capsys)


def test_another_function_takes_the_place(monkeypatch):
    outcomes = []
    for compiling in (False, True):
        step, state = of_the_module()
        compiled = torch.compile(step, backend="eager") if compiling else step
        torch.manual_seed(1)
        found = []
        for number in range(24):
            if number == 12:
                monkeypatch.setitem(globals(), "log", lambda loss: LOSSES.append((12, loss.item())))
            found.append(compiled(torch.randn(4, 3), torch.randint(0, 2, (4,))).item())
        monkeypatch.undo()
        outcomes.append(repr((found, state())))
    assert outcomes[0] == outcomes[1]


def test_a_module_gets_a_hook():
    outcomes = []
    for compiling in (False, True):
        step, state = of_a_module()
        net = next(cell.cell_contents for cell in step.__closure__ if callable(cell.cell_contents))
        compiled = torch.compile(step, backend="eager") if compiling else step
        torch.manual_seed(1)
        found = []
        for number in range(24):
            if number == 12:
                net.register_forward_hook(lambda module, args, result: result * 2)
            found.append(compiled(torch.randn(4, 3), torch.randint(0, 2, (4,))).item())
        outcomes.append(repr((found, state())))
    assert outcomes[0] == outcomes[1]


def test_modules_that_are_compiled_count(capsys):
    outcomes = []
    for compiling in (False, True):
        step, state = of_a_module()
        net = next(cell.cell_contents for cell in step.__closure__ if callable(cell.cell_contents))
        if compiling:
            net.compile()
        torch.manual_seed(1)
        found = [step(torch.randn(4, 3), torch.randint(0, 2, (4,))).item() for _ in range(20)]
        outcomes.append(repr((found, state())))
    assert outcomes[0] == outcomes[1] and net.forward.programs


def test_the_whole_of_it_can_be_asked_for(capsys):
    step, _ = that_computes()
    compiled = torch.compile(step, fullgraph=True)
    for _ in range(8):
        compiled(torch.randn(4, 3), torch.randint(0, 2, (4,)))
    assert compiled.programs

"""Numbers that a step counts up from call to call, and that only its branches look at."""

import pytest
import rushlight as torch
from compiling import same_outcome, training

pytestmark = pytest.mark.own

TURNS = 0


def gradients_of_several_calls():
    net, optimizer = training()
    turns = 0

    def step(x, y):
        nonlocal turns
        loss = torch.nn.functional.cross_entropy(net(x), y) / 2
        loss.backward()
        turns += 1
        if turns % 2 == 0:
            optimizer.step()
            optimizer.zero_grad(set_to_none=False)
        return loss.detach()

    return step, lambda: (turns, net.weight.tolist())


def of_an_object():
    class Trainer:
        def __init__(self):
            self.net, self.optimizer = training()
            self.count, self.every = 0, 3

        def step(self, x, y):
            loss = torch.nn.functional.cross_entropy(self.net(x), y)
            loss.backward()
            self.count += 1
            if not self.count % self.every:
                self.optimizer.step()
                self.optimizer.zero_grad(set_to_none=False)
            scale = 2 if 3 * self.count > 7 and self.count < 100 else 1
            return loss.item(), loss.detach() * scale

    trainer = Trainer()
    return trainer.step, lambda: (trainer.count, trainer.net.weight.tolist())


def of_the_module():
    global TURNS
    net, optimizer = training()
    TURNS = 5

    def step(x, y):
        global TURNS
        scale = 0.5 if TURNS < 12 else 2.0
        for _ in range(len(x)):
            TURNS += 2
            if (TURNS - 1) // 4 % 2 and -TURNS < 0:
                scale = scale * 1.5
        TURNS -= 7
        loss = torch.nn.functional.cross_entropy(net(x), y) * scale
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss.detach()

    return step, lambda: (TURNS, net.weight.tolist())


def warming_up():
    net, optimizer = training()
    count, losses = 0, []

    def step(x, y):
        nonlocal count
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(net(x), y)
        loss.backward()
        if count > 10:
            optimizer.step()
        count += 1
        losses.append((count, loss.item()))
        return loss

    return step, lambda: (count, losses)


COUNTING = [gradients_of_several_calls, of_an_object, of_the_module, warming_up]


@pytest.mark.parametrize("make", COUNTING, ids=lambda make: make.__name__)
def test_branches_ask_what_is_counted(make, capsys):
    compiled = same_outcome(make, capsys)
    assert compiled.programs, compiled.reason


def it_is_calculated_with():
    net, _ = training()
    turns = 1

    def step(x, y):
        nonlocal turns
        turns += 1
        if turns % 2 == 0:
            x = x * turns
        return net(x)

    return step, lambda: turns


def it_is_compared_with_a_tensor():
    net, _ = training()
    turns = 1

    def step(x, y):
        nonlocal turns
        turns += 1
        if turns < x.sum() * 3:
            return net(x).detach()
        bound = y.sum()
        return net(x * 2).detach() if turns == bound else net(x * 3).detach()

    return step, lambda: turns


def it_is_no_integer():
    net, _ = training()
    share = 0.0

    def step(x, y):
        nonlocal share
        share += 1
        if share > 4:
            share = 0.1
        return net(x).detach() * (2 if share > 2 else 1)

    return step, lambda: share


def it_is_counted_by_another_function_too():
    class Trainer:
        def __init__(self):
            self.net, _ = training()
            self.count, self.losses = 0, []

        def tick(self, loss):
            self.count += 1
            self.losses.append(loss.item())

        def step(self, x, y):
            loss = self.net(x).sum().detach()
            self.count += 2
            self.tick(loss)
            return loss * 2 if self.count % 2 == 0 else loss * 3

    trainer = Trainer()
    return trainer.step, lambda: (trainer.count, trainer.losses)


def it_is_counted_under_two_names():
    class Counter:
        count = 0

    net, _ = training()
    counter = other = Counter()
    counter.count = 0

    def step(x, y):
        counter.count += 2
        other.count += 1
        return net(x).detach() * (2 if counter.count % 2 == 0 else 3)

    return step, lambda: counter.count


STAYING = [
    it_is_calculated_with, it_is_compared_with_a_tensor, it_is_no_integer, it_is_counted_by_another_function_too,
    it_is_counted_under_two_names,
]  # fmt: skip


@pytest.mark.parametrize("make", STAYING, ids=lambda make: make.__name__)
def test_what_else_is_done_with_it_is_right(make, capsys):
    same_outcome(make, capsys)


def test_what_leads_back_is_differentiated_as_it_was_called():
    outcomes = []
    for compiling in (False, True):
        net, _ = training()
        turns = 0

        def step(x):
            nonlocal turns
            turns += 1
            return net(x).tanh() * 2 if turns % 2 == 0 else net(x)  # noqa: B023

        called = torch.compile(step, backend="eager") if compiling else step
        found = []
        for number in range(12):
            x = torch.full((2, 3), 0.1 * number, requires_grad=True)
            (slope,) = torch.autograd.grad(called(x).sum(), x, create_graph=True)
            found.append((slope.tolist(), turns))
        outcomes.append(found)
    assert outcomes[0] == outcomes[1]


def test_it_may_be_set_in_between():
    outcomes = []
    for compiling in (False, True):
        make = of_an_object()
        trainer = make[0].__self__
        step = torch.compile(make[0], backend="eager") if compiling else make[0]
        torch.manual_seed(1)
        found = []
        for number in range(30):
            if number % 7 == 6:
                trainer.count = number
            if number == 20:
                trainer.every = 2
            if number == 25:
                trainer.count = 3.5
            found.append(step(torch.randn(4, 3), torch.randint(0, 2, (4,)))[0])
        outcomes.append((found, trainer.count, trainer.net.weight.tolist()))
    assert outcomes[0] == outcomes[1]

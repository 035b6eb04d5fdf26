"""What changes between calls of a compiled function has the effect that it has without."""

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own

SCALE = 2.0
SETTINGS = {"scale": 2.0}


def double(x):
    return x * 2


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 3)
        self.norm = torch.nn.BatchNorm1d(3)
        self.scale = 1.0

    def forward(self, x):
        x = self.norm(self.inner(x))
        return torch.relu(x) * self.scale if self.training else x


def step_of(net, optimizer):
    x = torch.randn(5, 3)

    def step():
        optimizer.zero_grad()
        loss = (net(x) ** 2).sum()
        loss.backward()
        optimizer.step()
        return loss.detach().clone()

    return step


def make_net():
    net = Net()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1, momentum=0.5)
    return step_of(net, optimizer), lambda number: (), (net, optimizer)


def set_rate(net, optimizer):
    optimizer.param_groups[0]["lr"] = 0.5


def add_parameter(net, optimizer):
    optimizer.add_param_group({"params": [torch.nn.Parameter(torch.ones(2))]})


def evaluate(net, optimizer):
    net.eval()


def set_attribute(net, optimizer):
    net.scale = 3.0


def load(net, optimizer):
    net.load_state_dict({name: value * 0.5 for name, value in net.state_dict().items()})


def add_forward_hook(net, optimizer):
    net.inner.register_forward_hook(lambda module, inputs, output: output * 2)


def add_tensor_hook(net, optimizer):
    net.inner.weight.register_hook(lambda gradient: gradient * 3)


def freeze(net, optimizer):
    net.inner.bias.requires_grad_(False)


def replace_module(net, optimizer):
    torch.manual_seed(3)
    net.inner = torch.nn.Linear(3, 3)


def set_data(net, optimizer):
    net.inner.weight.data = torch.ones(3, 3)


def patch_forward(net, optimizer):
    net.forward = lambda x: net.inner(x) + 1


def write_parameter(net, optimizer):
    with torch.no_grad():
        net.inner.weight.fill_(0.25)


CHANGES = [
    set_rate,
    add_parameter,
    evaluate,
    set_attribute,
    load,
    add_forward_hook,
    add_tensor_hook,
    freeze,
    replace_module,
    set_data,
    patch_forward,
    write_parameter,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_a_change_between_calls_counts(change):
    def changes(number, things):
        if number == 8:
            change(*things)

    run_both(make_net, 16, changes)


def test_the_step_that_is_changed_is_recorded():
    compiled = run_both(make_net, 8)
    assert compiled.programs, compiled.reason


def test_a_number_of_a_closure_counts():
    def make():
        number = 1.0

        def scaled(x):
            return x * number

        def change(at):
            nonlocal number
            number = float(at // 6)

        return scaled, lambda at: (change(at), (torch.ones(2),))[1], ()

    compiled = run_both(make, 18)
    assert compiled.programs, compiled.reason


def test_a_global_counts(monkeypatch):
    def make():
        monkeypatch.setitem(globals(), "SCALE", 2.0)
        return lambda x: x * SCALE, lambda at: (torch.ones(2),), ()

    def changes(number, things):
        if number == 7:
            monkeypatch.setitem(globals(), "SCALE", 5.0)

    assert run_both(make, 14, changes).programs


def test_what_a_global_dictionary_has_counts(monkeypatch):
    def make():
        monkeypatch.setitem(SETTINGS, "scale", 2.0)
        return lambda x: x * SETTINGS["scale"], lambda at: (torch.ones(2),), ()

    def changes(number, things):
        if number == 7:
            monkeypatch.setitem(SETTINGS, "scale", 5.0)

    assert run_both(make, 14, changes).programs


def test_a_function_that_is_replaced_counts(monkeypatch):
    def make():
        monkeypatch.undo()
        return lambda x: double(x) + 1, lambda at: (torch.ones(2),), ()

    def changes(number, things):
        if number == 7:
            monkeypatch.setitem(globals(), "double", lambda x: x * 3)

    assert run_both(make, 14, changes).programs


def test_a_function_of_the_library_that_is_replaced_counts(monkeypatch):
    def make():
        monkeypatch.undo()
        return lambda x: torch.nn.functional.relu(x), lambda at: (torch.tensor([-1.0, 1.0]),), ()

    def changes(number, things):
        if number == 7:
            monkeypatch.setattr(torch.nn.functional, "relu", lambda x: x * 3)

    assert run_both(make, 14, changes).programs


def test_numbers_and_texts_that_are_passed_count():
    def make():
        def scaled(x, number, kind):
            return x * number if kind == "times" else x + number

        return scaled, lambda at: (torch.ones(2), float(at // 8), ("times", "plus")[at // 8 % 2]), ()

    assert run_both(make, 24).programs


def test_minus_zero_is_not_zero():
    def make():
        return lambda x, number: x * number, lambda at: (torch.ones(2), -0.0 if at > 7 else 0.0), ()

    run_both(make, 12)


def test_the_grad_mode_and_the_default_type_count():
    def make():
        torch.set_default_dtype(torch.float32)
        return lambda x: (x * torch.ones(2)).sum() / 3, lambda at: (torch.ones(2),), ()

    def changes(number, things):
        if number == 8:
            torch.set_default_dtype(torch.float64)

    try:
        assert run_both(make, 16, changes).programs
    finally:
        torch.set_default_dtype(torch.float32)


def test_arguments_that_share_memory_count():
    def make():
        def write(x, y):
            x.add_(1)
            return x + y

        def arguments(at):
            x = torch.zeros(3)
            return (x, x[:] if at > 8 else torch.zeros(3))

        return write, arguments, ()

    run_both(make, 20)


def test_a_branch_by_a_number_of_a_tensor_is_taken_each_time():
    def make():
        return lambda x: x * 2 if x.sum() > 3 else x + 1, lambda at: (torch.full((2,), float(at % 4)),), ()

    assert len(run_both(make, 16).programs) == 2


def test_a_gradient_that_is_set_between_calls_counts():
    def make():
        w = torch.ones(2, requires_grad=True)

        def step():
            (w * 2).sum().backward()
            return w.grad * 1

        return step, lambda at: (), (w,)

    def changes(number, things):
        if number == 8:
            things[0].grad = None
        if number == 12:
            things[0].grad = torch.full((2,), 5.0)

    run_both(make, 18, changes)


def test_indices_that_are_passed_count():
    def make():
        table, x = torch.nn.Embedding(8, 3), torch.randn(8, 3)

        def pick(index):
            return x[index] + x.gather(0, index[:, None].expand(-1, 3)) + table(index).detach()

        return pick, lambda at: (torch.tensor([at % 8, at * 3 % 8]),), (table, x)

    compiled = run_both(make, 14)
    assert compiled.programs, compiled.reason


def test_an_index_that_is_not_there_is_refused_each_time():
    table = torch.nn.Embedding(4, 3)
    compiled = torch.compile(lambda index: table(index).detach(), backend="eager")
    for _ in range(8):
        compiled(torch.tensor([1]))
    assert compiled.programs, compiled.reason
    for _ in range(2):
        with pytest.raises(IndexError, match="index out of range in self"):
            compiled(torch.tensor([4]))
        assert torch.equal(compiled(torch.tensor([2]))[0], table.weight[2])


def test_a_matrix_that_is_not_positive_is_refused_each_time():
    compiled = torch.compile(lambda a: torch.linalg.cholesky(a) + 1, backend="eager")
    for _ in range(8):
        compiled(torch.eye(3))
    assert compiled.programs, compiled.reason
    with pytest.raises(torch.linalg.LinAlgError, match="not positive-definite"):
        compiled(-torch.eye(3))
    assert compiled(torch.eye(3) * 4)[0, 0] == 3


@pytest.mark.parametrize("kind", ["sgd", "momentum", "adam", "adamw", "rmsprop", "adagrad"])
def test_a_learning_rate_that_is_scheduled_is_read_anew(kind):
    def make():
        model = torch.nn.Linear(3, 2)
        makes = {
            "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
            "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
            "adam": lambda p: torch.optim.Adam(p, lr=0.1),
            "adamw": lambda p: torch.optim.AdamW(p, lr=0.1),
            "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.1),
            "adagrad": lambda p: torch.optim.Adagrad(p, lr=0.1),
        }
        groups = [{"params": [model.weight]}, {"params": [model.bias], "lr": 0.1}]
        optimizer = makes[kind](groups)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        return step, lambda number: (torch.randn(4, 3),), (model, optimizer)

    def schedule(number, things):
        for place, group in enumerate(things[1].param_groups):
            group["lr"] = 0.1 / (1 + number // (2 - place))

    compiled = run_both(make, 20, schedule)
    assert len(compiled.programs) == 1, compiled.reason


@pytest.mark.parametrize("name", ["StepLR", "CosineAnnealingLR", "ExponentialLR", "LambdaLR"])
def test_a_scheduler_that_steps_outside_leaves_one_program(name):
    scheduler = torch.optim.lr_scheduler
    make_scheduler = {
        "StepLR": lambda o: scheduler.StepLR(o, 3),
        "CosineAnnealingLR": lambda o: scheduler.CosineAnnealingLR(o, 10),
        "ExponentialLR": lambda o: scheduler.ExponentialLR(o, 0.9),
        "LambdaLR": lambda o: scheduler.LambdaLR(o, lambda epoch: 0.9**epoch),
    }[name]

    schedulers = []

    def make():
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        schedulers.append(make_scheduler(optimizer))

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        return step, lambda number: (torch.randn(4, 3),), (model, optimizer)

    compiled = run_both(make, 16, lambda number, things: number and schedulers[-1].step())
    assert len(compiled.programs) == 1, compiled.reason


def test_a_schedule_that_is_told_numbers_is_told_of():
    model = torch.nn.Linear(3, 2)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    # Nothing but its count changes, once the rate is the least.
    rates = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, patience=0, min_lr=0.1)

    def step(x):
        optimizer.zero_grad()
        model(x).square().mean().backward()
        optimizer.step()
        rates.step(1.0)

    compiled = torch.compile(step, backend="eager")
    for _ in range(8):
        compiled(torch.ones(4, 3))
    assert "changes what it depends on: last_epoch was" in compiled.reason, compiled.reason
    assert rates.last_epoch == 8


def test_a_learning_rate_that_the_function_looks_at_counts():
    def make():
        model = torch.nn.Linear(3, 2)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss if optimizer.param_groups[0]["lr"] > 0.05 else loss.detach() * 2

        return step, lambda number: (torch.randn(4, 3),), (model, optimizer)

    def schedule(number, things):
        things[1].param_groups[0]["lr"] = 0.1 if number < 8 else 0.01

    assert run_both(make, 16, schedule).programs


def test_what_it_was_called_with_is_not_what_it_sees_besides():
    weight = torch.zeros(3)

    @torch.compile
    def step(x):
        return weight.add_(x.mean() + 1)

    for _ in range(8):
        weight.zero_()
        assert torch.equal(step(weight), torch.ones(3))
    other = torch.full((3,), 2.0)
    for number in range(1, 8):
        assert torch.equal(step(other), torch.full((3,), 1 + 3.0 * number))
    assert torch.equal(other, torch.full((3,), 2.0))


def test_what_it_was_called_with_and_sees_besides_has_its_own_history():
    weight = torch.randn(3, requires_grad=True)
    seen = weight * 2

    def product(x):
        return (x * seen).sum()

    compiled = torch.compile(product)
    for argument in [seen] * 8 + [(weight * 3).detach()] * 8 + [seen]:
        (expected,) = torch.autograd.grad(product(argument), weight, retain_graph=True)
        (found,) = torch.autograd.grad(compiled(argument), weight, retain_graph=True)
        assert torch.equal(found, expected)

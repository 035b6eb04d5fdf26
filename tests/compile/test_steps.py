"""Whole steps that are compiled: forward, backward and optimiser, with the same bits as without."""

from contextlib import nullcontext

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own


def training(optimise, zero_first=True):
    def make():
        model = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Tanh(), torch.nn.Linear(16, 1))
        optimizer = optimise(model.parameters())
        x, y = torch.randn(8, 2), torch.randn(8, 1)

        def step():
            if zero_first:
                optimizer.zero_grad()
            loss = ((model(x) - y) ** 2).mean()
            loss.backward()
            optimizer.step()
            if not zero_first:
                optimizer.zero_grad()
            return loss

        return step, lambda number: (), (model, optimizer)

    return make


OPTIMISERS = {
    "sgd": lambda p: torch.optim.SGD(p, lr=0.1),
    "momentum": lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9),
    "adam": lambda p: torch.optim.Adam(p, lr=0.01),
    "adamw": lambda p: torch.optim.AdamW(p, lr=0.01),
    "rmsprop": lambda p: torch.optim.RMSprop(p, lr=0.01),
}


@pytest.mark.parametrize("zero_first", [True, False])
@pytest.mark.parametrize("name", OPTIMISERS)
def test_a_training_step_is_recorded_and_has_the_same_bits(name, zero_first):
    compiled = run_both(training(OPTIMISERS[name], zero_first), 12)
    assert compiled.programs, compiled.reason


KINDS = {
    "half": lambda: torch.randn(3, 2).bfloat16(),
    "complex": lambda: torch.randn(3, 2, dtype=torch.complex64),
    "strided": lambda: torch.randn(2, 3).t(),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_step_of_adam_is_recorded_that_the_engine_has_no_loop_for(kind):
    def make():
        weight = torch.nn.Parameter(KINDS[kind]())
        optimizer = torch.optim.Adam([weight], lr=0.01)
        x = torch.randn(4, 3).to(weight.dtype)

        def step():
            optimizer.zero_grad()
            loss = (x @ weight).abs().square().mean()
            loss.backward()
            optimizer.step()
            return loss

        return step, lambda number: (), (weight, optimizer)

    compiled = run_both(make, 12)
    assert compiled.programs, compiled.reason


def test_a_function_without_gradients_is_recorded():
    def make():
        w = torch.randn(4, 4)
        return lambda x: torch.relu(x @ w) + 1, lambda number: (torch.full((3, 4), float(number)),), (w,)

    assert run_both(make, 10).programs


def test_a_gradient_is_recorded():
    def make():
        w, b = torch.randn(4, 4), torch.randn(4)

        def gradient(x):
            x = x.detach().requires_grad_()
            (found,) = torch.autograd.grad(torch.tanh(w @ x + b).sum(), x)
            return found

        return gradient, lambda number: (torch.full((4,), float(number)),), (w, b)

    compiled = run_both(make, 10)
    assert compiled.programs, compiled.reason


def test_gradients_accumulate():
    def make():
        w = torch.ones(3, requires_grad=True)

        def step(x):
            (w * x).sum().backward()
            return w.grad.sum()

        return step, lambda number: (torch.full((3,), float(number)),), (w,)

    compiled = run_both(make, 10)
    assert compiled.programs, compiled.reason


def test_a_module_is_recorded_where_it_is():
    import copy

    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.ReLU())
    plain = copy.deepcopy(model)
    model.compile(backend="eager")
    x = torch.randn(4, 2)
    with torch.no_grad():
        for _ in range(8):
            assert torch.equal(model(x), plain(x))
    assert model.forward.programs, model.forward.reason
    again = copy.deepcopy(model)
    with torch.no_grad():
        again[0].weight.zero_()
        for _ in range(8):
            assert torch.equal(model(x), plain(x)) and not torch.equal(again(x), plain(x))
    model(x).sum().backward()
    assert model[0].weight.grad is not None and again[0].weight.grad is None


def test_random_numbers_are_drawn_anew():
    def make():
        drop = torch.nn.Dropout(0.5)
        return lambda x: drop(x) + torch.randn(8), lambda number: (torch.ones(8),), (drop,)

    compiled = run_both(make, 10)
    assert compiled.programs, compiled.reason


def test_writes_and_views_are_those_of_the_function():
    def make():
        x = torch.zeros(4, 4)

        def write(number):
            x[1:3].add_(number)
            x.t()[0] = 7
            return x.sum(0)

        return write, lambda number: (torch.tensor(float(number)),), (x,)

    compiled = run_both(make, 10)
    assert compiled.programs, compiled.reason


def test_each_shape_has_a_program():
    def make():
        return lambda x: x * 2 + 1, lambda number: (torch.ones(number % 3 + 1),), ()

    assert len(run_both(make, 24).programs) == 3


def test_what_is_returned_is_what_the_function_returns():
    def make():
        def both(x):
            y = x + 1
            return {"x": x, "y": [y, y], "text": "text", "number": 3}

        return both, lambda number: (torch.ones(2),), ()

    torch.manual_seed(0)
    both = torch.compile(make()[0], backend="eager")
    for _ in range(8):
        x = torch.ones(2)
        found = both(x)
        assert found["x"] is x and found["y"][0] is found["y"][1] and found["text"] == "text"
        assert found["y"][0].tolist() == [2.0, 2.0]
    assert both.programs, both.reason


def test_a_loss_that_backward_has_been_through_is_returned_as_one():
    w = torch.ones(2, requires_grad=True)

    @torch.compile(backend="eager")
    def step():
        w.grad = None
        loss = (w * w).sum()
        loss.backward()
        return loss

    for _ in range(8):
        loss = step()
        assert loss.requires_grad and loss.grad_fn.name() == "SumBackward0"
        with pytest.raises(RuntimeError, match="backward through the graph a second time"):
            loss.backward()
    assert step.programs, step.reason


def attention():
    model, x = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), torch.randn(2, 4, 8)
    return model, lambda: (model(x) ** 2).mean()


def images():
    conv, norm, head = torch.nn.Conv2d(1, 4, 3), torch.nn.BatchNorm2d(4), torch.nn.Linear(36, 2)
    pool, x = torch.nn.MaxPool2d(2), torch.randn(3, 1, 8, 8)
    model = torch.nn.ModuleList([conv, norm, head])
    return model, lambda: head(pool(torch.relu(norm(conv(x)))).flatten(1)).square().mean()


def encoder():
    model = torch.nn.ModuleList([torch.nn.Linear(6, 4), torch.nn.Linear(2, 6)])
    x = torch.rand(5, 6)

    def loss():
        mean, spread = model[0](x).chunk(2, 1)
        y = model[1](mean + torch.randn_like(mean) * torch.exp(0.5 * spread))
        return torch.nn.functional.mse_loss(y, x) - 0.5 * (1 + spread - mean**2 - spread.exp()).sum()

    return model, loss


def second_derivatives():
    model = torch.nn.Sequential(torch.nn.Linear(1, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))

    def loss():
        x = torch.linspace(0, 1, 6).reshape(-1, 1).requires_grad_()
        u = model(x)
        (first,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        return ((second + u) ** 2).mean()

    return model, loss


def process():
    x, y = torch.randn(6, 2, dtype=torch.float64), torch.randn(6, dtype=torch.float64)
    model = torch.nn.ParameterList(
        [torch.zeros(2, dtype=torch.float64), torch.zeros((), dtype=torch.float64)]
    )

    def loss():
        scaled = x / model[0].exp()
        covariance = (
            torch.exp(-0.5 * torch.cdist(scaled, scaled) ** 2) + model[1].exp() * torch.eye(6).double()
        )
        factor = torch.linalg.cholesky(covariance)
        weights = torch.cholesky_solve(y[:, None], factor)
        return 0.5 * (y @ weights[:, 0]) + factor.diagonal().log().sum()

    return model, loss


def repeated():
    model = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))

    def loss():
        y = torch.ones(3, 2)
        for _ in range(5):
            y = y + 0.1 * model(y)
        return (y**2).sum()

    return model, loss


def steps(of):
    def make():
        model, loss = of()
        optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)

        def step():
            optimizer.zero_grad()
            found = loss()
            found.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            return found

        return step, lambda number: (), (model, optimizer)

    return make


def normalised():
    model = torch.nn.ModuleList([torch.nn.LayerNorm(64), torch.nn.GroupNorm(2, 4), torch.nn.BatchNorm2d(4)])
    x = torch.randn(3, 4, 8, 8)
    return model, lambda: (model[2](model[1](x)).flatten(2) + model[0](x.flatten(2))).pow(3).mean()


def wide_attention():
    model = torch.nn.TransformerEncoderLayer(64, 4, 128, activation="gelu", batch_first=True)
    x = torch.randn(4, 32, 64)
    return model, lambda: (model(x) ** 2).mean()


def robust():
    model, x, y = torch.nn.Linear(8, 8), torch.randn(40, 8), torch.rand(40, 8)
    losses = torch.nn.functional.smooth_l1_loss, torch.nn.functional.huber_loss

    def loss():
        found = model(x)
        likely = torch.nn.functional.binary_cross_entropy(found.sigmoid(), y)
        return losses[0](found, y) + losses[1](found, y, reduction="sum") + likely

    return model, loss


def gated():
    model = torch.nn.ModuleList(
        [torch.nn.GRU(3, 4, num_layers=2, bidirectional=True), torch.nn.GRUCell(8, 5)]
    )
    x = torch.randn(6, 2, 3)
    return model, lambda: model[1](model[0](x)[0][-1]).square().mean()


def overwritten():
    model, x = torch.nn.Linear(3, 4), torch.randn(2, 3)

    def loss():
        y = model(x)
        y.mul_(y.sigmoid()).sin_()
        return (y.exp_() * 2).div_(y.detach() + 3).pow_(3).mean()

    return model, loss


def matrices():
    model = torch.nn.ParameterList([torch.randn(4, 4) + 4 * torch.eye(4)])

    def loss():
        found = torch.linalg.solve(model[0], torch.ones(4)).sum() + torch.logdet(model[0] @ model[0].mT)
        return found + torch.linalg.matrix_exp(model[0] / 8).square().sum()

    return model, loss


KINDS_OF_STEPS = [
    attention,
    encoder,
    gated,
    images,
    matrices,
    normalised,
    overwritten,
    process,
    repeated,
    robust,
    second_derivatives,
    wide_attention,
]


@pytest.mark.parametrize("of", KINDS_OF_STEPS)
def test_steps_of_all_kinds_are_recorded(of):
    compiled = run_both(steps(of), 10)
    assert compiled.programs, compiled.reason


@pytest.mark.parametrize("of", KINDS_OF_STEPS)
def test_a_step_that_is_profiled_has_the_same_bits(of):
    found = []
    for watches in (nullcontext, torch.profiler.profile):
        torch.manual_seed(0)
        model, loss = of()
        with watches():
            loss().backward()
        found.append([parameter.grad.tolist() for parameter in model.parameters()])
    assert found[0] == found[1]


def test_a_step_is_recorded_although_the_collector_would_run_finalizers():
    import gc

    class Finalized:
        def __init__(self):
            self.itself = self

        def __del__(self):
            print(end="")

    def step(x):
        kept = [[Finalized(), [x]] for _ in range(200)]
        del kept
        found = [[x + 1] for _ in range(200)]
        return found[0][0]

    compiled = torch.compile(step, backend="eager")
    before = gc.get_threshold()
    gc.set_threshold(20, 2, 2)
    try:
        for _ in range(8):
            compiled(torch.ones(2))
    finally:
        gc.set_threshold(*before)
    assert compiled.programs, compiled.reason
    assert gc.isenabled()

"""Programs as people write them: each is recorded, and trains with the same bits as without."""

import pytest
import rushlight as torch
from compiling import run_both
from custom_functions.square import Square

pytestmark = pytest.mark.own

nn, functional = torch.nn, torch.nn.functional


def lenet():
    model = nn.Sequential(
        nn.Conv2d(1, 3, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(48, 10)
    )  # fmt: skip
    x, y = torch.randn(4, 1, 8, 8), torch.randint(0, 10, (4,))
    return model, lambda: functional.cross_entropy(model(x), y)


def residual_block():
    layers, norms = [nn.Conv2d(4, 4, 3, padding=1) for _ in range(2)], [nn.BatchNorm2d(4) for _ in range(2)]
    model, x = nn.ModuleList([*layers, *norms]), torch.randn(2, 4, 6, 6)

    def loss():
        inner = torch.relu(norms[0](layers[0](x)))
        return torch.relu(norms[1](layers[1](inner)) + x).square().mean()

    return model, loss


def recurrent(kind):
    def make():
        model, x = kind(4, 8), torch.randn(5, 3, 4)
        return model, lambda: model(x)[0].square().mean()

    return make


def attention():
    model, x = nn.TransformerEncoderLayer(8, 2, 16, 0.1, batch_first=True), torch.randn(2, 6, 8)
    return model, lambda: model(x).square().mean()


def embedded():
    model = nn.Sequential(nn.Embedding(20, 8), nn.Flatten(), nn.Linear(32, 5), nn.LogSoftmax(1))
    x, y = torch.randint(0, 20, (6, 4)), torch.randint(0, 5, (6,))
    return model, lambda: functional.nll_loss(model(x), y)


def autoencoder():
    encoder, decoder, x = nn.Linear(8, 6), nn.Linear(3, 8), torch.rand(4, 8)

    def loss():
        mean, spread = encoder(x).chunk(2, 1)
        y = decoder(mean + torch.randn_like(mean) * torch.exp(0.5 * spread))
        far = functional.binary_cross_entropy_with_logits(y, x, reduction="sum")
        return far - 0.5 * torch.sum(1 + spread - mean**2 - spread.exp())

    return nn.ModuleList([encoder, decoder]), loss


def equation():
    model, points = (
        nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1)),
        torch.linspace(0, 1, 9)[:, None],
    )

    def loss():
        x = points.detach().requires_grad_()
        u = model(x)
        (first,) = torch.autograd.grad(u.sum(), x, create_graph=True)
        (second,) = torch.autograd.grad(first.sum(), x, create_graph=True)
        return ((second + u) ** 2).mean()

    return model, loss


def process():
    x, y, noise = torch.randn(10, 2).double(), torch.randn(10).double(), torch.eye(10).double()
    model = nn.ParameterList([torch.zeros(2).double(), torch.zeros(()).double()])

    def loss():
        scaled = x / model[0].exp()
        factor = torch.linalg.cholesky(
            torch.exp(-0.5 * torch.cdist(scaled, scaled) ** 2) + model[1].exp() * noise
        )
        weights = torch.cholesky_solve(y[:, None], factor)
        return 0.5 * (y @ weights[:, 0]) + factor.diagonal().log().sum()

    return model, loss


def differential():
    model, start = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)), torch.randn(4, 2)

    def loss():
        y = start
        for _ in range(5):
            y = y + 0.1 * model(y)
        return (y**2).mean()

    return model, loss


def policy():
    model = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    states, rewards = torch.randn(16, 4), torch.randn(16)

    def loss():
        likely = torch.log_softmax(model(states), 1)
        actions = torch.multinomial(likely.exp().detach(), 1)
        return -(likely.gather(1, actions)[:, 0] * rewards).mean()

    return model, loss


def checkpointed():
    from rushlight.utils.checkpoint import checkpoint

    model, x = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.Linear(8, 2)), torch.randn(5, 4)
    return model, lambda: checkpoint(model, x, use_reentrant=False).square().mean()


def custom():
    model, x = nn.Linear(4, 2), torch.randn(5, 4)
    return model, lambda: Square.apply(model(x)).mean()


def noisy():
    model, x = nn.Linear(4, 2), torch.randn(5, 4)
    return model, lambda: (model(x) * torch.bernoulli(torch.full((5, 2), 0.5))).square().mean()


PROGRAMS = {
    "lenet": lenet, "residual block": residual_block, "lstm": recurrent(nn.LSTM), "gru": recurrent(nn.GRU),
    "attention": attention, "embedding": embedded, "autoencoder": autoencoder, "equation": equation,
    "process": process, "differential equation": differential, "policy": policy, "checkpoint": checkpointed,
    "custom function": custom, "bernoulli": noisy,
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_that_trains_is_recorded(name):
    def make():
        model, loss = PROGRAMS[name]()
        optimizer = torch.optim.Adam(model.parameters(), lr=0.01)

        def step():
            optimizer.zero_grad()
            found = loss()
            found.backward()
            optimizer.step()
            return found

        return step, lambda number: (), (model, optimizer)

    compiled = run_both(make, 10)
    assert compiled.programs, compiled.reason


@pytest.mark.parametrize(
    "function",
    [
        lambda w: torch.func.grad(lambda v: (torch.tanh(v) ** 2).sum())(w),
        lambda w: torch.func.jvp(lambda v: (torch.tanh(v) ** 2).sum(), (w,), (w,)),
        lambda w: torch.func.hessian(lambda v: (torch.tanh(v) ** 2).sum())(w),
        lambda w: torch.func.vmap(torch.func.grad(lambda v: v.exp().prod()))(w.expand(3, 4)),
        lambda w: (w.argmax(), w.argmin(0), (w.argmax() == 1).float()),
        lambda w: torch.logdet(torch.outer(w, w) + torch.eye(4)),
    ],
    ids=["grad", "jvp", "hessian", "vmap", "argmax", "logdet"],
)
def test_a_function_that_transforms_is_recorded(function):
    compiled = run_both(lambda: (function, lambda number: (torch.randn(4),), ()), 8)
    assert compiled.programs, compiled.reason

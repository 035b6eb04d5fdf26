"""What programs do that could be recorded in a less obvious way: draws in place, masks, answers whose parts have names."""

import pytest
import rushlight as torch
from compiling import run_both

pytestmark = pytest.mark.own


@pytest.mark.parametrize(
    "draw",
    [
        lambda x: torch.empty_like(x).normal_(),
        lambda x: x.clone().uniform_(-1, 1),
        lambda x: torch.empty(4).exponential_(),
        lambda x: x.clone().bernoulli_(0.3),
        lambda x: torch.empty_like(x).bernoulli_(x.sigmoid()),
        lambda x: torch.poisson(x.exp()),
        lambda x: torch.distributions.Exponential(x.exp()).rsample(),
        lambda x: torch.distributions.Binomial(9, x.sigmoid()).sample(),
        lambda x: torch.distributions.Dirichlet(x.exp()).sample(),
    ],
    ids=[
        "normal_",
        "uniform_",
        "exponential_",
        "bernoulli_",
        "bernoulli_ of each",
        "poisson",
        "exponential",
        "binomial",
        "dirichlet",
    ],
)
def test_draws_in_place_are_drawn_anew(draw):
    compiled = run_both(lambda: (draw, lambda number: (torch.randn(4),), ()), 9)
    assert compiled.programs, compiled.reason


@pytest.mark.parametrize(
    "function",
    [
        lambda x: x[x > -10] * 2,
        lambda x: torch.nonzero(x),
        lambda x: torch.searchsorted(x.sort()[0], x),
        lambda x: torch.isclose(x, x + 1e-9),
        lambda x: x if torch.allclose(x, x) and not torch.equal(x, x + 1) else -x,
        lambda x: torch.bincount((x > 0).long(), minlength=2),
        lambda x: x.repeat_interleave((x > -9).long() * 2),
        lambda x: torch.linalg.lu_factor(torch.outer(x, x) + torch.eye(4) * 9),
    ],
    ids=["mask", "nonzero", "searchsorted", "isclose", "whole tensors", "bincount", "repeats", "lu_factor"],
)
def test_answers_of_the_same_shape_are_recorded(function):
    compiled = run_both(lambda: (function, lambda number: (torch.randn(4),), ()), 9)
    assert compiled.programs, compiled.reason


def test_elements_that_a_mask_names_are_overwritten_whatever_their_number():
    def make():
        def function(x):
            y = x.clone()
            y[x > 0] = 0.5
            y[x < -1] += x.sum()
            return y

        return function, lambda number: (torch.randn(7),), ()

    compiled = run_both(make, 12)
    assert compiled.reason is None or "in most calls at" in compiled.reason


def test_a_mask_that_names_another_number_of_elements_gives_as_many():
    def make():
        return (
            lambda x: x[x > 0],
            lambda number: (torch.tensor([1.0, -1.0, 2.0 if number != 7 else -2.0]),),
            (),
        )

    compiled = run_both(make, 10)
    assert compiled.programs


@pytest.mark.parametrize("kind", ["max", "sort", "topk", "eigh", "qr"])
def test_answers_whose_parts_have_names_are_returned_as_such(kind):
    call = {
        "max": lambda x: x.max(1),
        "sort": lambda x: torch.sort(x),
        "topk": lambda x: {"best": x.topk(2)},
        "eigh": lambda x: torch.linalg.eigh(x @ x.t()),
        "qr": lambda x: torch.linalg.qr(x),
    }[kind]
    compiled = torch.compile(call, backend="eager")
    for _ in range(8):
        x = torch.randn(3, 3)
        own, plain = compiled(x), call(x)
        own, plain = (own["best"], plain["best"]) if kind == "topk" else (own, plain)
        assert type(own) is type(plain) and all(map(torch.equal, own, plain))
        assert repr(own) == repr(plain)
    assert compiled.programs, compiled.reason


def test_a_loss_is_scaled_and_the_scale_adapts():
    def make():
        model, x = torch.nn.Linear(3, 2), torch.randn(4, 3)
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        scaler = torch.amp.GradScaler("cpu", init_scale=8.0, growth_interval=3)
        scales = [torch.zeros(())]

        def step(x):
            optimizer.zero_grad()
            loss = model(x).square().mean()
            scaler.scale(loss).backward()
            scaler.step(optimizer)
            scaler.update()
            scales[0].copy_(scaler._scale)
            return loss.detach()

        # What is not finite leaves a step out.
        return step, lambda number: (x * float("inf") if number == 8 else x,), (model, scales[0])

    compiled = run_both(make, 14)
    assert compiled.programs, compiled.reason


def test_what_is_another_in_each_call_is_named():
    counts = [0]
    told = torch.compile(lambda x: x * counts[0], backend="eager")
    for _ in range(12):
        counts[0] += 1
        told(torch.ones(2))
    assert not told.programs and "a list of 1 elements has other ones" in told.reason
    told = torch.compile(lambda x: x * 2, backend="eager")
    for size in range(1, 12):
        told(torch.ones(size))
    assert not told.programs and "now of shape [" in told.reason


@pytest.mark.parametrize(
    ("name", "function"),
    [
        ("nonzero", lambda x: torch.nonzero(x > 0)),
        ("a number that it looks at", lambda x: x * int((x > 0).sum())),
        ("a number that it looks at", lambda x: x if torch.equal(x > 0, torch.rand(9) > 0.5) else -x),
    ],
)
def test_what_is_another_in_most_calls_is_named_with_its_line(name, function):
    compiled = run_both(lambda: (function, lambda _: (torch.randn(9),), ()), 40)
    if not compiled.programs:
        assert compiled.reason.startswith(("what it sees is another in each call: " + name, name)), (
            compiled.reason
        )
        assert "test_more_is_recorded.py:" in compiled.reason

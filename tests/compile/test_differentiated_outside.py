"""Compiled functions whose results are differentiated by whoever called them: gradients have the same bits as without."""

from functools import partial

import pytest
import rushlight as torch
from compiling import run_both, state_of

pytestmark = pytest.mark.own


def modules():
    return {
        "linear": torch.nn.Linear(3, 2),
        "network": torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 2)),
        "dropout": torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Dropout(0.5), torch.nn.ReLU()),
        "normalised": torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.BatchNorm1d(8), torch.nn.Sigmoid()),
        "flattened": torch.nn.Sequential(torch.nn.Conv1d(1, 4, 2), torch.nn.ReLU(), torch.nn.Flatten()),
    }


@pytest.mark.parametrize("name", modules())
def test_a_model_is_compiled_and_its_loss_is_not(name):
    def make():
        model = modules()[name]
        optimizer = torch.optim.Adam(model.parameters(), lr=0.05)

        def step(x):
            optimizer.zero_grad()
            loss = step.forward(x).square().mean()
            loss.backward()
            optimizer.step()
            return loss.detach()

        step.forward = lambda x: model(x)
        shape = (4, 1, 3) if name == "flattened" else (4, 3)
        return step, lambda number: (torch.randn(shape),), (model, optimizer), model

    states = []
    for compiling in (False, True):
        torch.manual_seed(0)
        step, arguments, things, model = make()
        if compiling:
            step.forward = torch.compile(model.forward, backend="eager")
        states.append([state_of(step(*arguments(number)), *things) for number in range(12)])
        forward = step.forward
    assert states[0] == states[1]
    assert forward.programs, forward.reason


def same(function, differentiate, calls=9):
    """Hold what `differentiate` gives for a function, compiled and not, against each other."""
    states = []
    for compiling in (False, True):
        torch.manual_seed(0)
        w = torch.randn(3, 3, requires_grad=True)
        own = partial(function, w=w)
        if compiling:
            own = compiled = torch.compile(own, backend="eager")
        found = []
        for _ in range(calls):
            w.grad = None
            found.append(state_of(*differentiate(own, torch.randn(3, 3), w), w))
        states.append(found)
    for number, (plain, other) in enumerate(zip(*states, strict=True)):
        assert plain == other, f"call {number} differs"
    return compiled


def test_results_of_which_some_are_differentiated():
    def function(x, w):
        hidden = torch.tanh(x @ w)
        return hidden, (hidden * w).sum(), x * 2

    def first(own, x, w):
        one, two, _ = own(x)
        one.sum().backward()
        return w.grad, two

    def second(own, x, w):
        one, two, three = own(x)
        two.backward()
        return w.grad, one, three

    def both(own, x, w):
        one, two, _ = own(x)
        (one.exp().mean() + two).backward()
        return (w.grad,)

    for differentiate in (first, second, both):
        assert same(function, differentiate).programs


def test_an_argument_with_a_history_gets_its_gradient():
    def differentiate(own, x, w):
        x.requires_grad_()
        loss = own(x * 2 + 1).square().sum()
        loss.backward()
        return x.grad, loss.detach()

    assert same(lambda x, w: torch.relu(x @ w) + x, differentiate).programs


def test_an_argument_that_requires_grad_gets_its_gradient():
    def differentiate(own, x, w):
        x.requires_grad_()
        own(x).sum().backward()
        return (x.grad,)

    assert same(lambda x, w: (x * w).cumsum(0), differentiate).programs


@pytest.mark.parametrize(
    "gradient", [lambda y: torch.randn(3, 3).t(), torch.randn_like, lambda y: torch.ones(1).expand(3, 3)]
)
def test_gradients_may_lie_as_they_like(gradient):
    def differentiate(own, x, w):
        y = own(x)
        y.backward(gradient(y))
        return (y.detach(),)

    assert same(lambda x, w: torch.tanh(x @ w).softmax(1), differentiate).programs


def test_a_graph_can_be_gone_through_twice_if_it_is_retained():
    def differentiate(own, x, w):
        y = own(x)
        y.sum().backward(retain_graph=True)
        (y * 2).sum().backward()
        with pytest.raises(RuntimeError, match="a second time"):
            y.sum().backward()
        return (y.detach(),)

    assert same(lambda x, w: torch.exp(x @ w), differentiate).programs


def test_gradients_of_gradients():
    def differentiate(own, x, w):
        x.requires_grad_()
        (slope,) = torch.autograd.grad(own(x).sum(), x, create_graph=True)
        slope.square().sum().backward()
        return w.grad, slope.detach(), x.grad

    assert same(lambda x, w: torch.tanh(x @ w).square(), differentiate).programs


def test_gradients_of_gradients_draw_the_same_random_numbers():
    def differentiate(own, x, w):
        x.requires_grad_()
        (slope,) = torch.autograd.grad(own(x).sum(), x, create_graph=True)
        slope.square().sum().backward()
        return w.grad, torch.randn(2)

    function = lambda x, w: torch.nn.functional.dropout(torch.tanh(x @ w), 0.5).square()  # noqa: E731
    assert same(function, differentiate).programs


def test_what_is_kept_for_backward_may_not_be_written_to():
    def differentiate(own, x, w):
        y = own(x)
        y.add_(1)
        with pytest.raises(RuntimeError, match="modified by an inplace operation"):
            y.sum().backward()
        return (y.detach(),)

    assert same(lambda x, w: torch.exp(x @ w), differentiate).programs


def test_a_hook_on_a_result_sees_its_gradient():
    seen = []

    def differentiate(own, x, w):
        y = own(x)
        y.register_hook(lambda gradient: seen.append(gradient.clone()) or gradient * 2)
        y.sum().backward()
        return seen[-1], w.grad

    assert same(lambda x, w: x @ w, differentiate).programs


def test_a_hook_on_the_way_is_called_each_time():
    seen = []

    def function(x, w):
        hidden = x @ w
        hidden.register_hook(lambda gradient: seen.append(1))
        return hidden.tanh()

    def differentiate(own, x, w):
        own(x).sum().backward()
        return (w.grad,)

    compiled = same(function, differentiate)
    assert len(seen) == 18 and not compiled.programs


def test_what_changes_after_a_call_is_an_error_where_the_call_is_had_again():
    w, scale = torch.ones(2, requires_grad=True), [2.0]
    compiled = torch.compile(lambda x: (x * w).exp() * scale[0], backend="eager")
    for _ in range(6):
        y = compiled(torch.ones(2))
    assert compiled.programs
    scale[0] = 3.0
    with pytest.raises(RuntimeError, match="has to be called once more"):
        torch.autograd.grad(y.sum(), w, create_graph=True)


def test_a_view_that_is_returned_is_one():
    def make():
        base = torch.zeros(4, 4)
        return (
            lambda x: (x[1:], (x * 2).t(), base[0]),
            lambda number: (torch.full((3, 2), float(number)),),
            (base,),
        )

    compiled = run_both(make, 9)
    assert compiled.programs, compiled.reason
    x = torch.ones(3, 2)
    first, second, third = compiled(x)
    assert first._base is x and second._base.shape == (3, 2) and third._is_view()
    first.zero_()
    assert x.tolist() == [[1, 1], [0, 0], [0, 0]]


def test_a_tensor_that_is_used_inside_and_outside_gets_its_gradients_in_the_same_order():
    def function(x, w):
        return torch.tanh(x @ w) + torch.sin(w * x) * w

    def first(own, x, w):
        before = (w**2).sum()
        ((own(x) ** 2).sum() + before * 0.1).backward()
        return (w.grad,)

    def last(own, x, w):
        found = own(x)
        ((w.exp() * 0.3).sum() + (found * w).sum() + found.sum()).backward()
        return (w.grad,)

    for differentiate in (first, last):
        assert same(function, differentiate, calls=12).programs


def test_an_argument_with_a_history_that_leads_to_what_the_function_sees():
    def outside(own, x, w):
        h = torch.tanh(x @ w)
        (gradient,) = torch.autograd.grad(own(h).sum(), w, create_graph=True)
        gradient.square().sum().backward()
        return (w.grad,)

    assert same(lambda h, w: (h * w).sin() + w, outside).programs


def test_a_graph_of_backward_where_the_call_has_written_to_what_it_sees():
    states = []
    for compiling in (False, True):
        torch.manual_seed(0)
        w, state = torch.randn(3, 3, requires_grad=True), torch.zeros(3, 3)

        def function(x, w=w, state=state):
            y = (x * w).tanh() * (state + 1)
            state.add_(x)
            return y.sum()

        function = torch.compile(function, backend="eager") if compiling else function
        found = []
        for _ in range(10):
            (gradient,) = torch.autograd.grad(function(torch.randn(3, 3)), w, create_graph=True)
            found.append(state_of(gradient, state))
        states.append(found)
    assert states[0] == states[1]
    assert function.programs, function.reason

"""Callbacks that are queued during backward, and called when it is done."""

import pytest
import rushlight as torch
from rushlight.autograd import Function, Variable
from support import raises

queue = Variable._execution_engine.queue_callback


class Queues(Function):
    """Passes its input on, and queues `then` on the way back."""

    @staticmethod
    def forward(ctx, x, then):
        ctx.then = then
        return x.clone()

    @staticmethod
    def backward(ctx, gradient):
        queue(ctx.then)
        return gradient, None


def test_a_callback_is_called_once_when_gradients_are_there():
    x, seen = torch.ones(2, requires_grad=True), []
    Queues.apply(x, lambda: seen.append(x.grad.tolist())).sum().backward()
    assert seen == [[1.0, 1.0]]
    x.sum().backward()
    assert len(seen) == 1


def test_hooks_can_queue_too_and_callbacks_as_well():
    x, log = torch.ones(2, requires_grad=True), []

    def first():
        log.append("first")
        queue(lambda: log.append("second"))

    y = x * 2
    y.register_hook(lambda gradient: queue(first))
    torch.autograd.grad(y.sum(), x)
    assert log == ["first", "second"]


def test_a_callback_belongs_to_the_innermost_run():
    x, log = torch.ones(2, requires_grad=True), []

    def hook(gradient):
        with torch.enable_grad():
            y = Queues.apply(torch.ones(2, requires_grad=True), lambda: log.append("inner")).sum()
        y.backward()
        log.append("hook is done")

    y = Queues.apply(x, lambda: log.append("outer"))
    y.register_hook(hook)
    y.sum().backward()
    assert log == ["inner", "hook is done", "outer"]


def test_what_a_callback_raises_comes_out_of_backward():
    x = torch.ones(2, requires_grad=True)
    with pytest.raises(ZeroDivisionError):
        Queues.apply(x, lambda: 1 / 0).sum().backward()
    x.sum().backward()


def test_a_run_that_fails_calls_nothing():
    x, log = torch.ones(2, requires_grad=True), []
    y = x * 2
    y.register_hook(lambda gradient: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        Queues.apply(y, lambda: log.append(1)).sum().backward()
    x.sum().backward()
    assert log == []


def test_outside_of_backward_nothing_can_be_queued():
    with raises(RuntimeError, "Final callbacks can only be installed during backward pass."):
        queue(lambda: None)


def test_a_callback_knows_the_run_that_it_ends():
    x, numbers = torch.ones(2, requires_grad=True), []

    def tell():
        numbers.append(torch._C._current_graph_task_id())

    def first():
        tell()
        with torch.enable_grad():
            torch.ones(2, requires_grad=True).sum().backward()
        queue(tell)

    y = x * 2
    y.register_hook(lambda gradient: (tell(), queue(first))[1])
    y.sum().backward()
    assert numbers == [numbers[0]] * 3
    assert numbers[0] >= 0
    assert torch._C._current_graph_task_id() == -1

"""What hooks and functions can ask about the backward pass that they run in."""

import threading

import pytest
import rushlight as torch
from rushlight import _C
from support import raises

current = _C._current_autograd_node
order = _C._current_graph_task_execution_order
keeps_graph = _C._autograd._get_current_graph_task_keep_graph


def test_outside_of_a_run_there_is_no_node():
    assert current() is None
    (torch.ones(2, requires_grad=True) * 2).sum().backward()
    assert current() is None


def test_hooks_find_the_node_that_they_belong_to():
    seen = {}

    def note(name):
        return lambda *_: seen.__setitem__(name, current())

    x = torch.ones(2, requires_grad=True)
    y = x.exp()
    x.register_hook(note("leaf"))
    x.register_post_accumulate_grad_hook(note("accumulated"))
    y.register_hook(note("tensor"))
    y.grad_fn.register_prehook(note("before"))
    y.grad_fn.register_hook(note("after"))
    accumulates = y.grad_fn.next_functions[0][0]
    y.sum().backward()
    assert seen == {
        "tensor": y.grad_fn,
        "before": y.grad_fn,
        "after": y.grad_fn,
        "leaf": accumulates,
        "accumulated": accumulates,
    }


def test_the_hook_of_a_gradient_that_is_only_handed_back_finds_its_node():
    seen = []
    y = torch.ones(2, requires_grad=True).exp()
    y.register_hook(lambda gradient: seen.append(current()))
    torch.autograd.grad((y * 2).sum(), y)
    assert seen == [y.grad_fn]


def test_unpacking_finds_the_node_that_saved():
    seen = []

    def unpack(tensor):
        seen.append(current())
        return tensor

    with torch.autograd.graph.saved_tensors_hooks(lambda tensor: tensor, unpack):
        y = torch.ones(2, requires_grad=True).sin()
    y.sum().backward()
    assert seen == [y.grad_fn]


def test_a_run_inside_of_a_run_has_nodes_of_its_own():
    seen = []

    class Nested(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            seen.append(current() is ctx)
            with torch.enable_grad():
                inner = torch.ones(1, requires_grad=True).sin()
            inner.register_hook(lambda gradient: seen.append(current() is inner.grad_fn))
            inner.backward()
            seen.append(current() is ctx)
            return gradient

    Nested.apply(torch.ones(2, requires_grad=True)).sum().backward()
    assert seen == [True, True, True]


def test_a_failure_leaves_no_node_behind():
    def fail(gradient):
        raise ValueError("no")

    x = torch.ones(2, requires_grad=True)
    x.register_hook(fail)
    with raises(ValueError, "no"):
        x.exp().sum().backward()
    assert current() is None


def test_another_thread_is_not_in_the_run():
    seen = []

    def look():
        seen.append((current(), _C._current_graph_task_id()))

    def hook(gradient):
        thread = threading.Thread(target=look)
        thread.start()
        thread.join()

    x = torch.ones(2, requires_grad=True)
    x.register_hook(hook)
    x.sum().backward()
    assert seen == [(None, -1)]


def names(nodes):
    return [node.name().removesuffix("0") for node in nodes]


def network():
    a, b = (torch.ones((), requires_grad=True) for _ in range(2))
    p, q = a.exp(), b.sin()
    return a, b, p, (p * b) + (q * a)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (
            lambda a, b, p: None,
            "AddBackward MulBackward MulBackward SinBackward torch::autograd::AccumulateGrad "
            "ExpBackward torch::autograd::AccumulateGrad",
        ),
        (
            lambda a, b, p: b,
            "AddBackward MulBackward MulBackward SinBackward torch::autograd::AccumulateGrad",
        ),
        (lambda a, b, p: p, "AddBackward MulBackward ExpBackward"),
    ],
)
def test_nodes_are_listed_in_the_order_in_which_they_will_run(wanted, expected):
    seen = []
    a, b, p, result = network()
    result.register_hook(lambda gradient: seen.extend(order()))
    with torch.autograd.set_multithreading_enabled(False):
        if (target := wanted(a, b, p)) is None:
            result.backward()
        else:
            torch.autograd.grad(result, target)
    assert " ".join(names(seen)) == expected


@pytest.mark.own
def test_the_order_can_be_asked_for_at_any_time_of_the_run():
    seen = []
    x = torch.ones((), requires_grad=True)
    y = x.exp()
    for tensor in (x, y):
        tensor.register_hook(lambda gradient: seen.append(names(order())))
    with torch.autograd.set_multithreading_enabled(False):
        (y * 2).backward()
    assert seen == [["MulBackward", "ExpBackward", "torch::autograd::AccumulateGrad"]] * 2


def test_the_order_is_refused_outside_of_a_run_and_with_several_threads():
    with raises(
        RuntimeError, "_current_graph_task_execution_order should only be called during the backward pass"
    ):
        order()
    x = torch.ones((), requires_grad=True)
    x.register_hook(lambda gradient: order())
    text = (
        "get_current_graph_task_execution_order expects the current backward to be executed with multithreading "
        "disabled, e.g. by running:\n\n>>> with torch.autograd.set_multithreading_enabled(False):\n"
        "...     torch.autograd.grad(...)\n"
    )
    with raises(RuntimeError, text):
        (x * 2).backward()


@pytest.mark.parametrize("retain_graph", [True, False])
def test_a_run_tells_whether_the_graph_is_kept(retain_graph):
    seen = []
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda gradient: seen.append(keeps_graph()))
    x.sum().backward(retain_graph=retain_graph)
    assert seen == [retain_graph] and keeps_graph()

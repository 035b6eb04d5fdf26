"""Hooks: where they stand, in which order they run, what they may answer."""

import pytest
import rushlight as torch
from rushlight.autograd import graph
from support import raises
from support import single_leaf as leaf


def accumulator(x):
    return x.view(-1).grad_fn.next_functions[0][0]


def test_hooks_of_a_tensor_run_before_those_of_its_node_and_retain_comes_last():
    log = []
    x = leaf()
    y = x * 2
    y.retain_grad()
    y.grad_fn.register_prehook(lambda gradients: log.append("before"))
    y.grad_fn.register_hook(lambda inputs, outputs: log.append("after"))
    y.register_hook(lambda gradient: log.append("first"))
    y.register_hook(lambda gradient: (log.append("second"), gradient * 10)[1])
    x.register_hook(lambda gradient: log.append("leaf"))
    accumulator(x).register_prehook(lambda gradients: log.append("leaf before"))
    accumulator(x).register_hook(lambda inputs, outputs: log.append("leaf after"))
    x.register_post_accumulate_grad_hook(lambda tensor: log.append("accumulated"))
    y.sum().backward()
    assert log[:5] == ["first", "second", "before", "after", "leaf"]
    assert set(log[5:]) <= {"leaf before", "leaf after", "accumulated"}
    assert y.grad.tolist() == [10.0, 10.0]


def test_a_hook_belongs_to_the_value_that_the_tensor_had():
    log = []
    y = leaf() * 2
    y.register_hook(lambda gradient: log.append(("before", gradient.tolist())))
    y.mul_(3)
    y.register_hook(lambda gradient: log.append(("after", gradient.tolist())))
    y.sum().backward()
    assert log == [("after", [1.0, 1.0]), ("before", [3.0, 3.0])]


def test_retained_gradients_move_on_with_a_write():
    y = leaf() * 2
    y.retain_grad()
    y.mul_(3)
    y.sum().backward()
    assert y.grad.tolist() == [1.0, 1.0]


def test_retained_gradients_come_also_where_they_are_only_handed_back():
    y = leaf() * 2
    y.retain_grad()
    torch.autograd.grad(y.sum(), y)
    assert y.grad.tolist() == [1.0, 1.0]


def test_hooks_change_what_is_handed_back():
    log = []
    x = leaf()
    y = x * 2
    y.register_hook(lambda gradient: (log.append("tensor"), gradient * 3)[1])
    y.grad_fn.register_prehook(lambda gradients: (log.append("node"), (gradients[0] * 5,))[1])
    (only,) = torch.autograd.grad(y.sum(), y)
    _, second = torch.autograd.grad(y.sum(), [y, x])
    assert only.tolist() == [3.0, 3.0]
    assert second.tolist() == [30.0, 30.0]
    assert log == ["tensor", "tensor", "node"]


def test_a_hook_hears_of_outputs_without_gradient():
    log = []
    first, second = torch.ones(2, 2, requires_grad=True).unbind(0)
    second.register_hook(lambda gradient: log.append("second"))
    first.register_hook(log.append)
    second.sum().backward()
    assert log == ["second", None]


def test_hooks_can_be_removed_and_added_while_they_run():
    log = []
    x = leaf()
    later = []

    def first(gradient):
        log.append(1)
        later[0].remove()
        x.register_hook(lambda gradient: log.append(4))

    x.register_hook(first)
    later.append(x.register_hook(lambda gradient: log.append(2)))
    x.register_hook(lambda gradient: log.append(3))
    x.sum().backward()
    assert log[0] == 1
    assert 4 not in log
    log.clear()
    x.sum().backward()
    assert log == [1, 3, 4]


def test_a_handle_removes_at_the_end_of_its_block():
    log = []
    x = leaf()
    with x.register_hook(lambda gradient: log.append(1)) as handle:
        assert isinstance(handle, torch.utils.hooks.RemovableHandle)
        x.sum().backward()
    x.sum().backward()
    handle.remove()
    assert log == [1]


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (lambda g: 1, TypeError, "expected Variable, but hook returned 'int'"),
        (lambda g: g[:1], RuntimeError, "hook '<lambda>' has changed the size of value"),
        (
            lambda g: g.double(),
            RuntimeError,
            "hook '<lambda>' has changed the type of value (was torch.Float",
        ),
    ],
)
def test_a_hook_must_answer_something_alike(answer, kind, text):
    x = leaf()
    x.register_hook(answer)
    with raises(kind, text):
        x.sum().backward()


@pytest.mark.parametrize(
    ("answer", "kind", "text"),
    [
        (lambda inputs, outputs: 1, TypeError, "expected tuple, but hook returned 'int'"),
        (
            lambda inputs, outputs: (outputs[0],),
            RuntimeError,
            "hook '<lambda>' has returned an incorrect number of values (got 1, but expected 2)",
        ),
        (
            lambda inputs, outputs: (outputs[0], outputs[0]),
            RuntimeError,
            "can't replace a None gradient with a non-None value",
        ),
    ],
)
def test_a_hook_of_a_node_must_answer_as_many(answer, kind, text):
    y = leaf() * 2
    y.grad_fn.register_hook(answer)
    with raises(kind, text):
        y.sum().backward()


def test_hooks_of_the_accumulating_node_see_what_will_be_added():
    x = leaf()
    log = []
    node = accumulator(x)
    node.register_prehook(lambda gradients: (gradients[0] * 7,))
    node.register_hook(lambda inputs, outputs: log.append((inputs, outputs[0].tolist())))
    x.sum().backward()
    assert x.grad.tolist() == [7.0, 7.0]
    assert log == [((), [7.0, 7.0])]


def test_an_exception_of_a_hook_is_what_backward_raises():
    x = leaf()
    x.register_hook(lambda gradient: 1 / 0)
    with raises(ZeroDivisionError, "division by zero"):
        x.sum().backward()


def test_hooks_are_recorded_where_the_gradients_are():
    seen = []
    x = leaf()
    x.register_hook(lambda gradient: seen.append((torch.is_grad_enabled(), gradient.requires_grad)))
    torch.autograd.grad((x * x).sum(), x, create_graph=True)
    torch.autograd.grad((x * x).sum(), x)
    assert seen == [(True, True), (False, False)]


def test_a_hook_on_several_tensors_waits_for_all_that_will_come():
    log = []
    x, y, unused = leaf(), leaf(3, 4), leaf()
    z = x * y
    handle = graph.register_multi_grad_hook(
        (x, y, z, unused), lambda gradients: log.append([g if g is None else g.tolist() for g in gradients])
    )
    z.sum().backward()
    assert log == [[[3.0, 4.0], [1.0, 2.0], [1.0, 1.0], None]]
    handle.remove()
    (x * y).sum().backward()
    assert len(log) == 1


def test_a_hook_on_any_of_several_tensors_runs_once_a_pass():
    log = []
    x, y = leaf(), leaf(3, 4)
    z = (x * y).sum()
    graph.register_multi_grad_hook((x, y), lambda gradient: log.append(gradient.tolist()), mode="any")
    z.backward(retain_graph=True)
    z.backward()
    assert len(log) == 2
    with raises(ValueError, "Expects mode to be one of ('all', 'any') but got one"):
        graph.register_multi_grad_hook((x,), print, mode="one")


def test_a_hook_after_accumulation_has_nothing_to_return():
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda tensor: torch.ones(2))
    with pytest.raises(RuntimeError) as caught:
        x.sum().backward()
    assert str(caught.value) == "Tensor post accumulate grad hooks should return None."


def test_a_tensor_that_is_detached_in_place_keeps_its_hooks():
    log = []
    y = leaf() * 2
    y.register_hook(lambda gradient: log.append(gradient.tolist()))
    y.detach_().requires_grad_()
    y.sum().backward()
    assert log == [[1.0, 1.0]]


class Dropped(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        return None


def test_those_who_watch_a_leaf_are_told_of_a_gradient_that_is_none():
    x = torch.ones(2, requires_grad=True)
    seen = []
    node = (x * 2).grad_fn.next_functions[0][0]
    node.register_hook(lambda inputs, outputs: seen.append(("after", inputs, outputs)))
    x.register_post_accumulate_grad_hook(lambda leaf: seen.append(("accumulated", leaf.grad)))
    Dropped.apply(x).sum().backward()
    assert seen == [("accumulated", None), ("after", (), (None,))]


def test_a_node_that_was_freed_is_not_passed_without_a_gradient_either():
    x = torch.ones(2, requires_grad=True)
    kept, nothing = Dropped.apply(x.exp()).sum(), Dropped.apply(x + 1).sum()
    kept.backward(retain_graph=True)
    kept.backward()
    with raises(RuntimeError, "Trying to backward through the graph a second time"):
        kept.backward()
    nothing.backward()
    nothing.backward()


def test_hooks_that_are_added_while_backward_runs_are_called_if_it_has_not_been_there():
    log = []
    x = leaf()
    a = x * 2
    b = a * 3

    def add(gradient):
        a.retain_grad()
        a.register_hook(lambda gradient: (log.append("tensor"), gradient * 10)[1])
        a.grad_fn.register_prehook(lambda gradients: log.append("before"))
        a.grad_fn.register_hook(lambda inputs, outputs: log.append("after"))
        x.register_hook(lambda gradient: log.append("leaf"))

    b.register_hook(add)
    b.sum().backward()
    assert log == ["tensor", "before", "after", "leaf"]
    assert a.grad.tolist() == [30.0, 30.0] and x.grad.tolist() == [60.0, 60.0]


def test_a_function_can_hook_its_own_node_while_it_runs():
    log = []

    class Watched(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            y.grad_fn.register_hook(lambda inputs, outputs: log.append("after"))
            return gradient * 2

    y = Watched.apply(leaf())
    y.sum().backward()
    assert log == ["after"]


def test_hooks_that_are_added_are_called_on_the_calling_thread_when_several_run():
    from threading import get_ident

    threads = []
    x = torch.rand(400, 400, requires_grad=True)
    branches = [x.sin() for _ in range(4)]
    whole = sum(branch.exp() for branch in branches)

    def add(gradient):
        for branch in branches:
            branch.register_hook(lambda gradient: threads.append(get_ident()))

    whole.register_hook(add)
    whole.sum().backward()
    assert threads == [get_ident()] * 4


def test_a_hook_on_several_tensors_hears_of_those_that_are_on_the_way():
    seen = []
    a = leaf()
    b, c = a * 2, a * 3
    d = (b * c).sum()
    graph.register_multi_grad_hook((b, c, a), lambda all_of_them: seen.append(all_of_them))
    torch.autograd.grad(d, b, retain_graph=True)
    assert [part is None for part in seen.pop()] == [False, True, True]
    with raises(
        RuntimeError,
        "A leaf node was passed to _will_engine_execute_node but we are currently running autograd.grad(). "
        "This is currently not supported.",
    ):
        torch.autograd.grad(d, a, retain_graph=True)
    d.backward(inputs=[a])
    assert [part.tolist() for part in seen.pop()] == [[3.0, 6.0], [2.0, 4.0], [12.0, 24.0]]


def test_a_hook_after_accumulation_may_return_its_leaf():
    x = leaf()
    x.register_post_accumulate_grad_hook(lambda tensor: tensor)
    x.sum().backward()
    assert x.grad.tolist() == [1.0, 1.0]


def test_there_are_no_hooks_where_only_other_places_have_some():
    x, y = leaf(), leaf() * 2
    x.register_post_accumulate_grad_hook(lambda tensor: None)
    y.retain_grad()
    y.grad_fn.register_hook(lambda inputs, outputs: None)
    assert x._backward_hooks is None and y._backward_hooks is None
    handle = y.register_hook(lambda gradient: None)
    handle.remove()
    assert y._backward_hooks is not None and len(y._backward_hooks) == 0
    y._backward_hooks = None
    assert y._backward_hooks is None

"""`utils.checkpoint`: the same gradients, less kept, in both ways."""

import contextlib
import gc
import warnings
import weakref

import pytest
import rushlight as torch
from checkpoint.parts import Counted, body, both, leaf
from rushlight.utils._python_dispatch import TorchDispatchMode
from rushlight.utils.checkpoint import (
    CheckpointError,
    DefaultDeviceType,
    GraphExecGroup,
    checkpoint,
    detach_variable,
    get_device_states,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
    set_device_states,
)
from support import raises


@both
def test_values_and_gradients_are_those_of_the_function(use_reentrant):
    x, y = leaf(), leaf(1.0, 0.5, -0.2)
    plain = body(x, y)
    plain.sum().backward()
    expected = x.grad.clone(), y.grad.clone()
    x.grad = y.grad = None
    result = checkpoint(body, x, y, use_reentrant=use_reentrant)
    assert torch.equal(result, plain)
    result.sum().backward()
    assert torch.equal(x.grad, expected[0]) and torch.equal(y.grad, expected[1])


@both
def test_the_function_runs_once_more_in_backward(use_reentrant):
    function = Counted(body)
    total = checkpoint(function, leaf(), use_reentrant=use_reentrant).sum()
    assert function.calls == 1
    total.backward()
    assert function.calls == 2


@both
def test_several_outputs_and_other_arguments_pass(use_reentrant):
    def function(x, scale, name):
        assert name == "n"
        return x * scale, "text", (x * x).sum()

    x = leaf(1.0, 2.0)
    first, text, second = checkpoint(function, x, 3.0, "n", use_reentrant=use_reentrant)
    assert text == "text"
    (first.sum() + second).backward()
    assert x.grad.tolist() == [5.0, 7.0]


def test_the_reentrant_way_is_one_node():
    y = checkpoint(body, leaf(), use_reentrant=True)
    assert y.grad_fn.name() == "CheckpointFunctionBackward"


def test_the_other_way_records_the_part():
    y = checkpoint(lambda x: x.sin().exp(), leaf(), use_reentrant=False)
    assert y.grad_fn.name() == "ExpBackward0"
    assert y.grad_fn.next_functions[0][0].name() == "SinBackward0"


def test_keyword_arguments_pass_the_other_way():
    x, y = leaf(), leaf(1.0, 2.0, 3.0)
    checkpoint(lambda x, *, y: (x * y).sin(), x, y=y, use_reentrant=False).sum().backward()
    assert torch.allclose(x.grad, (x * y).cos() * y) and torch.allclose(y.grad, (x * y).cos() * x)


def test_keyword_arguments_are_unexpected_the_reentrant_way():
    with raises(ValueError, "Unexpected keyword arguments: a,b"):
        checkpoint(body, leaf(), use_reentrant=True, a=1, b=2)


def test_tensors_in_containers_take_part_the_other_way():
    x = leaf()
    checkpoint(
        lambda pair: pair["x"].sin() * pair["k"], {"x": x, "k": 2.0}, use_reentrant=False
    ).sum().backward()
    assert torch.allclose(x.grad, x.cos() * 2)


def test_without_a_choice_there_is_a_warning_and_the_reentrant_way():
    with pytest.warns(UserWarning) as caught:
        y = checkpoint(body, leaf())
    assert str(caught[0].message) == (
        "torch.utils.checkpoint: the use_reentrant parameter should be passed explicitly. Starting in PyTorch 2.9, calling "
        "checkpoint without use_reentrant will raise an exception. use_reentrant=False is recommended, but if you need to "
        "preserve the current default behavior, you can pass use_reentrant=True. Refer to docs for more details on the "
        "differences between the two variants."
    )
    assert y.grad_fn.name() == "CheckpointFunctionBackward"


def test_the_reentrant_way_warns_when_no_input_requires_grad():
    w = leaf()
    with pytest.warns(
        UserWarning, match="None of the inputs have requires_grad=True. Gradients will be None"
    ):
        y = checkpoint(lambda x: x * w, torch.ones(3, dtype=torch.float64), use_reentrant=True)
    assert not y.requires_grad


def test_the_other_way_needs_no_input_that_requires_grad():
    w = leaf()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        y = checkpoint(lambda x: (x * w).sin(), torch.ones(3, dtype=torch.float64), use_reentrant=False)
    y.sum().backward()
    assert torch.allclose(w.grad, w.cos())


def test_the_reentrant_way_needs_an_output_that_requires_grad():
    y = checkpoint(lambda x: x.detach(), leaf(), use_reentrant=True)
    with raises(RuntimeError, "none of output has requires_grad=True, this checkpoint() is not necessary"):
        y.sum().backward()


@pytest.mark.parametrize(
    "run",
    [
        lambda y, x: torch.autograd.grad(y, x),
        lambda y, x: y.backward(inputs=[x]),
        lambda y, x: torch.autograd.backward(y, inputs=x),
    ],
)
def test_the_reentrant_way_is_only_for_backward_to_all_leaves(run):
    x = leaf()
    with raises(
        RuntimeError,
        "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or passing an `inputs` parameter to "
        ".backward(). To resolve this error, you can either set use_reentrant=False, or call .backward() without passing "
        "the `inputs` argument.",
    ):
        run(checkpoint(body, x, use_reentrant=True).sum(), x)
    run(checkpoint(body, x, use_reentrant=False).sum(), x)


@pytest.mark.parametrize("given", [{"debug": True}, {"context_fn": lambda: noop_context_fn()}])
def test_the_reentrant_way_has_no_contexts_and_no_debugging(given):
    with raises(ValueError, "Passing `context_fn` or `debug` is only supported when use_reentrant=False."):
        checkpoint(body, leaf(), use_reentrant=True, **given)


def test_debugging_does_not_go_with_contexts():
    text = "debug=True is incompatible with non-default context_fn"
    given = {"use_reentrant": False, "context_fn": lambda: noop_context_fn()}
    with raises(ValueError, text):
        checkpoint(body, leaf(), debug=True, **given)
    with set_checkpoint_debug_enabled(True), raises(ValueError, text):
        checkpoint(body, leaf(), **given)
    with set_checkpoint_debug_enabled(False):
        checkpoint(body, leaf(), debug=True, **given)


@both
def test_random_numbers_are_drawn_again(use_reentrant):
    x = leaf(1.0, 1.0, 1.0)
    drawn = []

    def function(x):
        drawn.append(torch.rand(3, dtype=torch.float64))
        return (x * drawn[-1]).exp()

    y = checkpoint(function, x, use_reentrant=use_reentrant)
    torch.rand(5)
    before = torch.get_rng_state()
    y.sum().backward()
    assert torch.equal(drawn[0], drawn[1])
    assert torch.equal(before, torch.get_rng_state())


@both
def test_the_random_state_may_be_left_alone(use_reentrant):
    drawn = []

    def function(x):
        drawn.append(torch.rand(3, dtype=torch.float64))
        return (x * drawn[-1]).exp()

    y = checkpoint(function, leaf(), use_reentrant=use_reentrant, preserve_rng_state=False)
    y.sum().backward()
    assert not torch.equal(drawn[0], drawn[1])


def test_without_recording_the_function_just_runs():
    function = Counted(body)
    with torch.no_grad():
        y = checkpoint(function, leaf(), use_reentrant=False)
    assert not y.requires_grad and function.calls == 1


def test_nothing_inside_is_kept_until_backward():
    seen = []

    def function(x):
        y = x.exp()
        seen.append(weakref.ref(y))
        return y.sin()

    y = checkpoint(function, leaf(), use_reentrant=False)
    gc.collect()
    assert seen[0]() is None
    y.sum().backward()
    gc.collect()
    assert len(seen) == 2 and seen[1]() is None


def test_a_part_that_is_done_with_leaves_nothing_behind():
    x = leaf()
    inner = leaf()
    reference = weakref.ref(inner)
    y = checkpoint(lambda x, z: (x * z).sin(), x, inner * 1, use_reentrant=False)
    y.sum().backward()
    del y, inner
    gc.collect()
    assert reference() is None


def test_a_retained_graph_is_computed_again_each_time():
    x, function = leaf(), Counted(body)
    y = checkpoint(function, x, use_reentrant=False).sum()
    y.backward(retain_graph=True)
    first = x.grad.clone()
    y.backward()
    assert function.calls == 3 and torch.equal(x.grad, first * 2)
    with pytest.raises(RuntimeError, match="Trying to backward through the graph a second time"):
        y.backward()


def test_derivatives_of_derivatives_pass_a_part_the_other_way():
    x = leaf()
    y = checkpoint(lambda x: x.sin() * x, x, use_reentrant=False).sum()
    (first,) = torch.autograd.grad(y, x, create_graph=True)
    first.sum().backward()
    assert torch.allclose(x.grad, 2 * x.cos() - x * x.sin())


def test_what_a_node_keeps_can_be_looked_at():
    x, function = leaf(), Counted(lambda x: x.sin().cos())
    y = checkpoint(function, x, use_reentrant=False)
    assert torch.equal(y.grad_fn._saved_self, x.sin())
    assert torch.equal(y.grad_fn._saved_self, x.sin())
    assert function.calls == 3
    y.sum().backward()
    assert torch.allclose(x.grad, -x.sin().sin() * x.cos())


@pytest.mark.parametrize("early_stop", [True, False])
def test_the_second_computation_ends_when_all_is_there(early_stop):
    function = Counted(lambda x: x.sin() + 1)
    checkpoint(function, leaf(), use_reentrant=False, early_stop=early_stop).sum().backward()
    assert (function.calls, function.ends) == (2, 1 if early_stop else 2)
    with set_checkpoint_early_stop(early_stop):
        y = checkpoint(function, leaf(), use_reentrant=False, early_stop=not early_stop)
    y.sum().backward()
    assert (function.calls, function.ends) == (4, 2 if early_stop else 4)


MATRIX = torch.ones(2, 2)


class Counting(TorchDispatchMode):
    """Notes what runs."""

    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.name().removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize(
    ("function", "again"),
    [
        (lambda x: x.sin(), []),
        (lambda x: x * x, []),
        (lambda x: torch.mv(MATRIX, x.sin()), ["sin"]),
        (lambda x: x.sin().cos(), ["sin"]),
        (lambda x: x.exp(), ["exp"]),
        (lambda x: x.sin().exp() + 1, ["sin", "exp"]),
        (lambda x: torch.cat([x, x.cos()]), []),
        (lambda x: x[x > 0].log(), ["gt.Scalar", "index.Tensor"]),
    ],
)
def test_an_operation_whose_inputs_were_the_last_to_be_kept_does_not_run_again(function, again):
    second = Counting()
    y = checkpoint(
        function,
        torch.ones(2, requires_grad=True),
        use_reentrant=False,
        context_fn=lambda: (contextlib.nullcontext(), second),
    )
    y.sum().backward()
    assert [name for name in second.seen if name != "detach"] == again


def test_a_module_is_checkpointed_with_its_parameters():
    torch.manual_seed(0)
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.Tanh(), torch.nn.Linear(4, 2))
    x = torch.randn(5, 3, requires_grad=True)
    module(x).sum().backward()
    expected = [p.grad.clone() for p in module.parameters()]
    for way in (True, False):
        module.zero_grad()
        checkpoint(module, x, use_reentrant=way).sum().backward()
        assert all(torch.equal(p.grad, e) for p, e in zip(module.parameters(), expected, strict=True))


def test_contexts_are_entered_for_the_first_and_the_second_computation():
    seen, where = [], []

    @contextlib.contextmanager
    def context(name):
        where.append(name)
        yield
        where.pop()

    def function(x):
        seen.append(list(where))
        return x.sin() + 1

    def contexts():
        return context("first"), context("second")

    checkpoint(function, leaf(), use_reentrant=False, context_fn=contexts, early_stop=False).sum().backward()
    assert seen == [["first"], ["second"]]


def test_an_exception_of_the_function_comes_out():
    def function(x):
        x.sin()
        raise KeyError("inside")

    for way in (True, False):
        with raises(KeyError, "'inside'"):
            checkpoint(function, leaf(), use_reentrant=way)
    assert checkpoint(body, leaf(), use_reentrant=False).requires_grad


def test_a_context_must_not_swallow_an_exception():
    def function(x):
        raise KeyError("inside")

    with raises(
        RuntimeError,
        "torch.utils.checkpoint: the forward context provided by context_fn suppressed an exception raised during the "
        "checkpointed forward. This is not supported because checkpoint cannot return a value for a failed forward.",
    ):
        checkpoint(
            function,
            leaf(),
            use_reentrant=False,
            context_fn=lambda: (contextlib.suppress(KeyError), contextlib.nullcontext()),
        )


def test_in_a_group_a_part_is_computed_again_once():
    x, function = leaf(), Counted(lambda x: x.sin().exp() * 2)
    y = checkpoint(function, x, use_reentrant=False)
    middle = y.grad_fn.next_functions[0][0]
    assert middle is not None
    with GraphExecGroup():
        torch.autograd.grad(y.sum(), x, retain_graph=True)
        assert function.calls == 2
        with raises(
            CheckpointError,
            "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked once. Performing two "
            "backward calls that overlap (i.e. require the same saved activation in order to compute gradients) is not "
            "allowed while under the torch.utils.checkpoint.GraphExecGroup context. If you are calling ctx.saved_tensors in "
            "backward, make sure to do so only once.",
        ):
            torch.autograd.grad(y.sum(), x, retain_graph=True)


def test_groups_do_not_nest():
    with (
        GraphExecGroup() as group,
        raises(RuntimeError, f"GraphExecGroup contexts cannot be nested. Already inside group {group}"),
    ):
        with GraphExecGroup():
            pass


def test_inputs_are_detached_as_leaves_that_require_grad_as_before():
    x = leaf()
    y, number = detach_variable((x * 2, 3))
    assert y.requires_grad and y.is_leaf and number == 3
    assert not detach_variable((x.detach(),))[0].requires_grad
    with raises(RuntimeError, "Only tuple of tensors is supported. Got Unsupported input type: list"):
        detach_variable([x])


def test_a_part_may_be_mapped_but_not_differentiated_by_a_transform():
    def part(x):
        return checkpoint(torch.sin, x, use_reentrant=False)

    x = torch.tensor([0.5, 1.0])
    torch.testing.assert_close(torch.vmap(part)(x), x.sin())
    with raises(
        RuntimeError,
        "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue "
        "with your use case.",
    ):
        torch.func.grad(lambda x: part(x).sum())(x)


def test_there_are_no_devices_to_keep_the_state_of():
    assert get_device_states(leaf(), 3, [leaf()]) == ([], [])
    set_device_states([], [])
    assert DefaultDeviceType.get_device_type() == "cpu"
    DefaultDeviceType.set_device_type("meta")
    try:
        assert DefaultDeviceType.get_device_type() == "meta"
    finally:
        DefaultDeviceType.set_device_type("cpu")


def test_tangents_pass_a_checkpoint():
    function = lambda x: checkpoint(lambda y: y.sin() * y, x, use_reentrant=False)  # noqa: E731
    x = torch.tensor([1.0, 2.0])
    value, tangent = torch.func.jvp(function, (x,), (torch.ones(2),))
    torch.testing.assert_close(value, x.sin() * x)
    torch.testing.assert_close(tangent, x.cos() * x + x.sin())
    torch.testing.assert_close(torch.func.jacfwd(function)(x), torch.diag(tangent))


@pytest.mark.parametrize("early_stop", [True, False])
def test_a_part_may_push_tangents_forward(early_stop):
    def part(x):
        return torch.func.jvp(lambda x: (x * x).sin(), (x,), (x,))[1].sum()

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    again = torch.autograd.grad(checkpoint(part, x, use_reentrant=False, early_stop=early_stop), x)
    torch.testing.assert_close(again, torch.autograd.grad(part(x), x))

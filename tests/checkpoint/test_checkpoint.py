"""`utils.checkpoint`: the same gradients, less kept, in both ways."""

import contextlib
import gc
import logging
import warnings
import weakref

import pytest
import rushlight as torch
from rushlight.utils.checkpoint import (
    CheckpointError,
    DefaultDeviceType,
    GraphExecGroup,
    checkpoint,
    checkpoint_sequential,
    detach_variable,
    get_device_states,
    noop_context_fn,
    set_checkpoint_debug_enabled,
    set_checkpoint_early_stop,
    set_device_states,
)
from support import raises

both = pytest.mark.parametrize("use_reentrant", [True, False], ids=["reentrant", "recorded"])


def leaf(*values):
    return torch.tensor(values or (0.3, -1.2, 2.0), dtype=torch.float64, requires_grad=True)


def body(x, y=None):
    z = x.sin().exp() * x
    return z if y is None else z * y.cos()


class Counted:
    """A function that counts its calls and how often it was computed to the end."""

    def __init__(self, function):
        self.function, self.calls, self.ends = function, 0, 0

    def __call__(self, *args, **kwargs):
        self.calls += 1
        result = self.function(*args, **kwargs)
        self.ends += 1
        return result


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


def test_derivatives_of_derivatives_the_other_way():
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


def test_parts_within_parts():
    calls = []

    def inner(x):
        calls.append("inner")
        return x.sin().exp()

    def outer(x):
        calls.append("outer")
        return checkpoint(inner, x.cos(), use_reentrant=False).sin()

    x = leaf()
    checkpoint(outer, x, use_reentrant=False).sum().backward()
    got = x.grad.clone()
    x.grad = None
    x.cos().sin().exp().sin().sum().backward()
    assert torch.allclose(got, x.grad)
    assert calls[:2] == ["outer", "inner"] and calls.count("outer") == 2 and calls.count("inner") == 3


@pytest.mark.filterwarnings("ignore:None of the inputs")
@pytest.mark.parametrize(("first", "second"), [(True, True), (True, False), (False, True)])
def test_parts_within_parts_of_any_kind(first, second):
    x = leaf()
    y = checkpoint(
        lambda x: checkpoint(lambda x: x.sin().exp(), x.cos(), use_reentrant=second).sin(),
        x,
        use_reentrant=first,
    )
    y.sum().backward()
    got = x.grad.clone()
    x.grad = None
    x.cos().sin().exp().sin().sum().backward()
    assert torch.allclose(got, x.grad)


def test_ten_parts_within_each_other():
    def deeper(x, depth):
        x = x.sin()
        return checkpoint(deeper, x, depth - 1, use_reentrant=False) if depth else x

    x, y = leaf(), leaf()
    deeper(x, 10).sum().backward()
    z = y
    for _ in range(11):
        z = z.sin()
    z.sum().backward()
    assert torch.allclose(x.grad, y.grad)


def test_backward_inside_of_a_part():
    def function(x):
        y = x.sin()
        (g,) = torch.autograd.grad(y.cos().sum(), x, create_graph=True)
        return y * g

    x, z = leaf(), leaf()
    checkpoint(function, x, use_reentrant=False).sum().backward()
    function(z).sum().backward()
    assert torch.allclose(x.grad, z.grad)


@pytest.mark.parametrize("early_stop", [True, False])
def test_backward_inside_of_a_part_that_frees_its_graph(early_stop):
    def function(x):
        z = x.sin().cos()
        (g,) = torch.autograd.grad(z.sum(), x)
        return x.cos() * g

    x, y = leaf(), leaf()
    checkpoint(function, x, use_reentrant=False, early_stop=early_stop).sum().backward()
    function(y).sum().backward()
    assert torch.allclose(x.grad, y.grad)


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


# -- what differs the second time -----------------------------------------------------------------------


def changing(*bodies):
    """A function that computes something else at each call."""
    rest = iter(bodies)
    return lambda x: next(rest)(x)


def run(function, **given):
    checkpoint(function, leaf(), use_reentrant=False, **given).sum().backward()


@pytest.mark.parametrize("early_stop", [True, False])
def test_fewer_tensors_the_second_time(early_stop):
    function = changing(lambda x: x.sin().cos().exp(), lambda x: x.sin())
    with raises(
        CheckpointError,
        "torch.utils.checkpoint: A different number of tensors was saved during the original forward and recomputation.\n"
        "Number of tensors saved during forward: 3\nNumber of tensors saved during recomputation: 1.\n\nTip: To see a more "
        "detailed error message, either pass `debug=True` to\n",
    ):
        run(function, early_stop=early_stop)


def test_more_tensors_the_second_time():
    bodies = lambda x: x.sin(), lambda x: x.sin().cos().exp()
    with raises(
        CheckpointError,
        "torch.utils.checkpoint: trying to save more tensors during recomputation than during the original forward pass.\n\n"
        "Tip: To see",
    ):
        run(changing(*bodies), early_stop=False)
    run(changing(*bodies))


def test_other_shapes_the_second_time():
    function = changing(lambda x: x.sin().sum(), lambda x: torch.cat([x, x]).sin().sum())
    with raises(
        CheckpointError,
        "torch.utils.checkpoint: Recomputed values for the following tensors have different metadata than during the forward "
        "pass.\ntensor at position 0:\nsaved metadata: {'shape': torch.Size([3]), 'dtype': torch.float64, 'device': "
        "device(type='cpu')}\nrecomputed metadata: {'shape': torch.Size([6]), 'dtype': torch.float64, 'device': "
        "device(type='cpu')}\n.\n\nTip: To see",
    ):
        run(function)


def test_other_types_the_second_time():
    function = changing(lambda x: x.sin().sum(), lambda x: x.float().sin().double().sum())
    with pytest.raises(CheckpointError, match="have different metadata"):
        run(function)


def test_the_check_may_be_left_out():
    bodies = lambda x: x.sin() * 1, lambda x: torch.cat([x, x])[:3].sin()
    run(changing(*bodies), determinism_check="none")


def test_other_checks_are_refused():
    with raises(ValueError, "determinism_check should be one of ['default', 'none'], but got exact"):
        run(body, determinism_check="exact")


def test_checkpoint_errors_are_runtime_errors():
    assert issubclass(CheckpointError, RuntimeError)


# -- in segments ----------------------------------------------------------------------------------------


@both
@pytest.mark.parametrize("segments", [1, 2, 3, 4])
def test_a_sequence_in_segments(use_reentrant, segments):
    functions = [torch.sin, torch.exp, torch.cos, torch.tanh]
    x, y = leaf(), leaf()
    result = checkpoint_sequential(functions, segments, x, use_reentrant=use_reentrant)
    result.sum().backward()
    z = y
    for function in functions:
        z = function(z)
    z.sum().backward()
    assert torch.equal(result, z) and torch.allclose(x.grad, y.grad)


@both
def test_a_sequence_of_modules(use_reentrant):
    torch.manual_seed(0)
    module = torch.nn.Sequential(*[torch.nn.Linear(3, 3) for _ in range(5)])
    x = torch.randn(2, 3, requires_grad=True)
    y = checkpoint_sequential(module, 2, x, use_reentrant=use_reentrant)
    assert torch.equal(y, module(x))
    y.sum().backward()
    assert all(p.grad is not None for p in module.parameters())


def test_all_segments_but_the_last_run_again():
    functions = [Counted(torch.sin) for _ in range(5)]
    checkpoint_sequential(functions, 2, leaf(), use_reentrant=False).sum().backward()
    assert [function.calls for function in functions] == [2, 2, 1, 1, 1]


def test_what_is_wrong_with_a_sequence():
    functions = [torch.sin, torch.cos]
    with raises(ValueError, "Unexpected keyword arguments: a"):
        checkpoint_sequential(functions, 2, leaf(), use_reentrant=False, a=1)
    with raises(ValueError, "range() arg 3 must not be zero"):
        checkpoint_sequential(functions, 5, leaf(), use_reentrant=False)
    with raises(ZeroDivisionError, "integer division or modulo by zero"):
        checkpoint_sequential(functions, 0, leaf(), use_reentrant=False)
    with pytest.warns(UserWarning) as caught:
        checkpoint_sequential(functions, 2, leaf())
    assert str(caught[0].message).startswith(
        "torch.utils.checkpoint.checkpoint_sequential: the use_reentrant parameter should be passed explicitly. In version "
        "2.9 we will raise an exception if use_reentrant is not passed. use_reentrant=False is recommended, but"
    )


def test_detached_inputs():
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


@pytest.fixture
def own_logger():
    """The reference writes its log through a logger, which pytest must not look into."""
    yield
    logging.getLogger("LoggingTensor").propagate = True


debugging = pytest.mark.usefixtures("own_logger")


def non_deterministic(x):
    non_deterministic.calls += 1
    y = x.exp() * 2
    y = y.sin() if non_deterministic.calls == 1 else y.sin().cos().cos()
    return y.view(-1)[1:]


def debug_error(early_stop=False):
    non_deterministic.calls = 0
    out = checkpoint(non_deterministic, leaf(), use_reentrant=False, debug=True, early_stop=early_stop)
    with pytest.raises(CheckpointError) as caught:
        out.sum().backward()
    return caught.value


@debugging
def test_debugging_tells_which_operators_ran_each_time():
    error = debug_error()
    text = str(error)
    first, second = text.split("Operations executed during the original forward:\n\n")[1].split(
        "\n\nOperations executed during recomputation:\n\n"
    )
    assert first.splitlines() == [
        "$1: f64[3] = torch._ops.aten.exp.default($0)",
        "$2: f64[3] = torch._ops.aten.mul.Tensor($1, 2)",
        "$3: f64[3] = torch._ops.aten.sin.default($2)",
        "$4: f64[3] = torch._ops.aten.view.default($3, ['-1'])",
        "$5: f64[2] = torch._ops.aten.slice.Tensor($4, 0, 1, 9223372036854775807)",
    ]
    assert "torch._ops.aten.sin.default(" in second
    assert isinstance(error.__cause__, CheckpointError)
    assert str(error.__cause__).startswith(
        "torch.utils.checkpoint: trying to save more tensors during recomputation"
    )


@debugging
def test_debugging_says_how_to_read_the_logs():
    text = str(debug_error())
    assert text.startswith(
        " An error happened while unpacking tensors; dumping logs of latest computation\n"
        "because you passed `debug=True` to `torch.utils.checkpoint.checkpoint()`.\n"
        "Scroll all the way down for guidance on how to navigate these logs.\n"
        "\n"
        f"+{'~' * 78}+\n"
        "|        1. Stack traces of the operators that ran in the original forward     |\n"
        f"+{'-' * 78}+\n"
        "\n"
        "$1: f64[3] = torch._ops.aten.exp.default($0)   (1 of 5 in original)\n"
        "\n"
    )
    assert f"{__file__}:{non_deterministic.__code__.co_firstlineno + 2}:non_deterministic\n" in text
    assert "(1 of" in text.split("2. Stack traces of the operators that ran during recomputation")[1]
    assert text.endswith(
        " 4. Error message                                             <--- You are here\n" + "-" * 80 + "\n"
    )


@debugging
def test_debugging_can_be_enabled_for_all():
    non_deterministic.calls = 0
    with set_checkpoint_debug_enabled(True):
        out = checkpoint(non_deterministic, leaf(), use_reentrant=False, early_stop=False)
    with raises(CheckpointError, " An error happened while unpacking tensors"):
        out.sum().backward()
    non_deterministic.calls = 0
    with set_checkpoint_debug_enabled(False):
        out = checkpoint(non_deterministic, leaf(), use_reentrant=False, debug=True, early_stop=False)
    with raises(CheckpointError, "torch.utils.checkpoint: trying to save more tensors"):
        out.sum().backward()


@debugging
def test_debugging_leaves_what_agrees_alone():
    x = leaf()
    checkpoint(body, x, use_reentrant=False, debug=True).sum().backward()
    y = leaf()
    body(y).sum().backward()
    assert torch.equal(x.grad, y.grad)


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

"""What a profile takes note of: operators, nodes of backward, labels; their shapes, threads and numbers."""

import json
import threading

import pytest
import rushlight as torch
from rushlight.autograd.profiler import profile, record_function
from support import raises


def names(prof):
    return [event.name for event in prof.function_events]


def outermost(prof):
    return [event.name for event in prof.function_events if event.cpu_parent is None]


def test_operators_are_noted_in_the_order_in_which_they_run():
    x = torch.ones(3)
    with profile() as prof:
        assert torch.autograd._profiler_enabled()
        x * 2 + 4
        x.exp()
    assert not torch.autograd._profiler_enabled()
    assert outermost(prof) == ["aten::mul", "aten::add", "aten::exp"]


def test_labels_are_around_what_runs_in_them():
    x = torch.ones(3)
    with profile() as prof:
        with record_function("outer"):
            y = x * 2
            with record_function("inner", "with text"):
                y - 1
    outer = prof.function_events[0]
    assert [child.name for child in outer.cpu_children] == ["aten::mul", "inner"]
    inner = outer.cpu_children[1]
    assert inner.cpu_parent is outer
    assert [child.name for child in inner.cpu_children] == ["aten::sub"]
    assert outer.is_user_annotation and not inner.cpu_children[0].is_user_annotation
    assert (outer.scope, inner.cpu_children[0].scope) == (7, 0)


def test_a_label_is_a_decorator_too():
    @record_function("label")
    def double(x):
        "Twice."
        return x * 2

    assert double.__name__ == "double" and double.__doc__ == "Twice."
    with profile() as prof:
        double(torch.ones(2))
        double(torch.ones(2))
    assert names(prof).count("label") == 2


def test_a_label_outside_of_profiles_does_nothing():
    with record_function("label") as label:
        assert label.name == "label"
    with pytest.raises(AssertionError) as caught:
        record_function("label").__exit__(None, None, None)
    assert str(caught.value) == "Expected record to be set"


def test_a_label_that_is_left_after_the_profile_counts_to_its_end():
    label = record_function("open")
    with profile() as prof:
        label.__enter__()
        torch.ones(2)
    label.__exit__(None, None, None)
    event = prof.function_events[0]
    assert event.name == "open" and event.is_async
    assert event.time_range.elapsed_us() > 0 and event.self_cpu_time_total == 0


def test_a_label_from_before_the_profile_is_not_in_it():
    label = record_function("before")
    label.__enter__()
    with profile() as prof:
        label.__exit__(None, None, None)
    assert names(prof) == []


def test_nodes_of_backward_have_the_numbers_of_their_operators():
    with profile() as prof:
        x = torch.randn(3, 3, requires_grad=True)
        y = torch.randn(3, 3, requires_grad=True)
        (x + y).sum().backward()
    for operator, node in (("aten::add", "AddBackward0"), ("aten::sum", "SumBackward0")):
        found = {
            name: [event for event in prof.function_events if event.name == name]
            for name in (operator, node, f"autograd::engine::evaluate_function: {node}")
        }
        assert [len(events) for events in found.values()] == [1, 1, 1]
        forward, rule, whole = (events[0] for events in found.values())
        assert forward.sequence_nr == rule.sequence_nr == whole.sequence_nr >= 0
        assert (forward.scope, rule.scope, whole.scope) == (0, 1, 0)
        assert rule.cpu_parent is whole
        assert (rule.fwd_thread, forward.fwd_thread) == (forward.thread, 0)
    empty = [event for event in prof.function_events if event.name == "aten::empty"]
    assert empty and all(event.sequence_nr == -1 for event in empty)


def test_what_a_rule_computes_is_inside_of_its_node():
    x = torch.ones(3, requires_grad=True)
    y = (x * x).sum()
    with profile() as prof:
        y.backward()
    (node,) = (event for event in prof.function_events if event.name == "MulBackward0")
    assert [child.name for child in node.cpu_children] == ["aten::mul", "aten::mul"]
    assert all(child.sequence_nr == -1 for child in node.cpu_children)
    (leaf,) = (event for event in prof.function_events if event.name == "torch::autograd::AccumulateGrad")
    assert leaf.cpu_parent.name == "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad"
    assert leaf.sequence_nr == -1


def test_nothing_has_a_number_where_nothing_is_recorded():
    x = torch.ones(3, requires_grad=True)
    with profile() as prof, torch.no_grad():
        x.exp()
    assert [(event.name, event.sequence_nr) for event in prof.function_events] == [("aten::exp", -1)]


def test_functions_of_ones_own_are_noted_by_their_names():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    x = torch.ones(2, requires_grad=True)
    with profile(record_shapes=True) as prof:
        Double.apply(x).sum().backward()
    forward = prof.function_events[0]
    assert (forward.name, forward.input_shapes) == ("Double", [[2]])
    assert [child.name for child in forward.cpu_children] == ["aten::mul"]
    (rule,) = (event for event in prof.function_events if event.name == "DoubleBackward")
    assert rule.sequence_nr == forward.sequence_nr


def test_an_optimiser_labels_its_steps():
    x = torch.ones(2, requires_grad=True)
    optimiser = torch.optim.SGD([x], lr=0.1)
    x.sum().backward()
    with profile() as prof:
        optimiser.step()
        optimiser.zero_grad()
    assert outermost(prof) == ["Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"]


def test_shapes_are_those_of_all_arguments():
    first, second = torch.nn.Linear(4, 3), torch.nn.Linear(3, 2)
    with profile(record_shapes=True) as prof:
        second(first(torch.ones(5, 4)))
        torch.ones(2).sum()
        torch.cat([torch.ones(2), torch.ones(3)])
    shapes = {}
    for event in prof.function_events:
        shapes.setdefault(event.name, []).append(event.input_shapes)
    assert shapes["aten::linear"] == [[[5, 4], [3, 4], [3]], [[5, 3], [2, 3], [2]]]
    assert shapes["aten::sum"] == [[[2], []]]
    assert shapes["aten::cat"] == [[[], []]]


def test_without_record_shapes_there_are_none():
    with profile() as prof:
        torch.ones(2).exp()
    assert all(event.input_shapes == [] for event in prof.function_events)


def test_flops_are_counted_where_they_are_known():
    x, y = torch.ones(2, 3), torch.ones(3, 4)
    with profile(with_flops=True) as prof:
        torch.mm(x, y)
        x * x
    flops = {event.name: event.flops for event in prof.function_events if event.flops}
    assert flops == {"aten::mm": 48, "aten::mul": 6}


def test_memory_is_what_is_in_use_afterwards():
    with profile(profile_memory=True) as prof:
        kept = torch.empty(1000)
    assert kept.numel() == 1000
    (event,) = prof.function_events
    assert 4000 <= event.cpu_memory_usage < 4200
    assert event.cpu_memory_usage == event.self_cpu_memory_usage
    with profile() as prof:
        torch.empty(1000)
    assert prof.function_events[0].cpu_memory_usage == 0


def test_a_profile_is_of_one_thread():
    with profile() as prof:
        thread = threading.Thread(target=lambda: torch.ones(2).exp())
        thread.start()
        thread.join()
    assert names(prof) == []


def test_averages_count_what_has_a_name_in_common():
    x, y = torch.ones(2), torch.ones(3)
    with profile(record_shapes=True) as prof:
        for z in (x, x, y):
            z.exp()
        x.log()
    assert {average.key: average.count for average in prof.key_averages()} == {"aten::exp": 3, "aten::log": 1}
    apart = prof.key_averages(group_by_input_shape=True)
    assert [(average.key, average.count, average.input_shapes) for average in apart] == [
        ("aten::exp", 2, [[2]]),
        ("aten::exp", 1, [[3]]),
        ("aten::log", 1, [[2]]),
    ]
    total = prof.total_average()
    assert (total.key, total.count) == ("Total", 4)
    assert total.self_cpu_time_total == pytest.approx(prof.self_cpu_time_total)


def test_times_of_what_is_inside_are_not_counted_twice():
    with profile() as prof, record_function("outer"):
        torch.ones(2).exp()
    outer = prof.function_events[0]
    inside = sum(child.cpu_time_total for child in outer.cpu_children)
    assert outer.self_cpu_time_total == pytest.approx(outer.cpu_time_total - inside)
    assert prof.self_cpu_time_total == pytest.approx(outer.cpu_time_total)


def test_a_profile_that_was_not_used_says_so():
    prof = profile()
    assert repr(prof) == str(prof) == "<unfinished torch.autograd.profile>"
    assert prof.key_averages() == [] and prof.table() == ""


def test_a_profile_is_used_once():
    prof = profile()
    with prof:
        pass
    with pytest.raises(RuntimeError) as caught:
        prof.__enter__()
    assert str(caught.value) == "Profiler context manager is not reentrant"


def test_a_profile_inside_of_another_takes_its_place():
    x = torch.ones(2)
    with profile() as outer:
        x.exp()
        with profile() as inner:
            x.log()
        x.sin()
    assert (names(outer), names(inner)) == ([], ["aten::log"])


def test_a_profile_that_is_off_does_nothing():
    with profile(False) as prof:
        assert prof is None and not torch.autograd._profiler_enabled()


def test_an_error_leaves_the_profile():
    with pytest.raises(RuntimeError), profile() as prof:
        torch.ones(2).exp() + torch.ones(3)
    assert "aten::exp" in names(prof)
    assert not torch.autograd._profiler_enabled()


@pytest.mark.parametrize(
    ("options", "kind", "text"),
    [
        (
            {"use_cpu": False},
            AssertionError,
            "Device-only events supported only with Kineto (use_kineto=True)",
        ),
        ({"use_cpu": False, "use_kineto": True}, AssertionError, "No activities specified for the profiler"),
        ({"post_processing_timeout_s": -1}, ValueError, "post_processing_timeout_s must be non-negative"),
    ],
)
def test_options_that_make_no_sense_are_refused(options, kind, text):
    with pytest.raises(kind) as caught:
        profile(**options)
    assert str(caught.value) == text


def test_devices_that_are_not_there_are_warned_of():
    with pytest.warns(UserWarning, match="^The foo is not a valid device option.$"):
        profile(use_device="foo")
    with pytest.warns(UserWarning, match="^CUDA is not available, disabling CUDA profiling$"):
        profile(use_device="cuda")


def test_a_trace_has_the_events_with_their_times(tmp_path):
    with profile() as prof:
        torch.ones(2).exp()
    path = tmp_path / "trace.json"
    prof.export_chrome_trace(str(path))
    told = [event for event in json.loads(path.read_text())["traceEvents"] if event["ph"] == "X"]
    (exp,) = (event for event in told if event["name"] == "aten::exp")
    assert exp["cat"] == "cpu_op" and exp["dur"] > 0


def test_stacks_want_to_be_asked_for(tmp_path):
    with profile() as prof:
        torch.ones(2)
    with pytest.raises(AssertionError) as caught:
        prof.export_stacks(str(tmp_path / "stacks"))
    assert str(caught.value) == "export_stacks() requires with_stack=True"


@pytest.mark.own
def test_stacks_say_where_an_operator_was_called():
    x = torch.ones(2, requires_grad=True)

    def inner():
        return x.exp()

    with profile(with_stack=True) as prof:
        inner().sum().backward()
    (event,) = (event for event in prof.function_events if event.name == "aten::exp")
    assert event.stack[0].startswith(f"{__file__}(") and event.stack[0].endswith("inner")
    (rule,) = (event for event in prof.function_events if event.name == "ExpBackward0")
    assert rule.stack == event.stack


@pytest.mark.own
def test_profiling_changes_no_bit():
    x = torch.randn(50, 50, requires_grad=True)

    def gradient():
        return torch.autograd.grad(((x @ x).softmax(0) * x).sum(), x)[0]

    with profile():
        seen = gradient()
    assert torch.equal(seen, gradient())


@pytest.mark.own
def test_modes_see_operators_in_a_profile_as_without():
    from rushlight.utils._python_dispatch import TorchDispatchMode

    class Log(TorchDispatchMode):
        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            seen.append(str(func))
            return func(*args, **(kwargs or {}))

    seen = []
    with Log(), profile() as prof:
        torch.ones(2).exp()
    assert seen == ["aten.ones.default", "aten.exp.default"]
    assert "aten::exp" in names(prof)


def test_a_vendors_tool_that_does_not_listen_is_told_nothing():
    annotation = torch.autograd.profiler.emit_itt()
    with annotation as entered:
        assert entered is annotation
        with pytest.raises(RuntimeError, match="ITT annotation context manager is not reentrant"):
            annotation.__enter__()
    with torch.autograd.profiler.emit_nvtx(enabled=False) as entered:
        assert entered is None


def test_a_label_is_text():
    for name, kind in ((3, "int"), (None, "NoneType")):
        with raises(
            RuntimeError,
            "profiler::_record_function_enter_new() Expected a value of type 'str' for argument 'name' but instead "
            f"found type '{kind}'.\nPosition: 0\nValue: {name}",
        ):
            record_function(name).__enter__()
    with raises(
        RuntimeError, "profiler::_record_function_enter_new() Expected a value of type 'Optional[str]' for"
    ):
        record_function("name", 3).__enter__()

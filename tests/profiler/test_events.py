"""Events made by hand: which is inside of which, averages, tables and what is exported."""

import json

import pytest
import rushlight as torch
from rushlight.autograd.profiler_util import (
    EventList,
    FormattedTimesMixin,
    FunctionEvent,
    FunctionEventAvg,
    Interval,
    Kernel,
)


def event(name, start, end, thread=0, **options):
    return FunctionEvent(id=0, name=name, thread=thread, start_us=start, end_us=end, stack=[], **options)


def tree(*events):
    made = EventList(events)
    made._build_tree()
    return made


def test_what_lies_within_is_inside():
    events = tree(
        event("outer", 0, 100),
        event("first", 10, 20),
        event("second", 30, 60),
        event("deep", 40, 50),
        event("elsewhere", 5, 8, thread=1),
        event("across", 90, 110),
    )
    inside = {one.name: [child.name for child in one.cpu_children] for one in events}
    assert inside["outer"] == ["first", "second"] and inside["second"] == ["deep"]
    assert inside["elsewhere"] == inside["across"] == []
    assert [one.self_cpu_time_total for one in events] == [60, 10, 20, 10, 3, 20]


def test_what_is_alone_inside_of_its_own_name_is_taken_out():
    events = tree(event("same", 0, 10), event("same", 1, 9), event("other", 2, 3))
    assert [one.name for one in events] == ["same", "other"]
    assert events[1].cpu_parent is events[0]


def test_an_event_has_one_parent():
    events = tree(event("outer", 0, 10), event("inner", 1, 2))
    with pytest.raises(AssertionError) as caught:
        events._build_tree()
    assert str(caught.value) == "There is already a CPU parent event for inner"


def test_averages_want_the_tree():
    with pytest.raises(AssertionError) as caught:
        EventList([event("one", 0, 1)]).key_averages()
    assert str(caught.value) == "Expected tree to be built before calling key_averages"


def test_averages_add_up():
    one = FunctionEvent(id=0, node_id=0, name="foo", thread=0, start_us=10, end_us=15)
    average = FunctionEventAvg()
    average.add(one).add(one)
    average += average
    assert (average.key, average.count, average.cpu_time_total, average.cpu_time) == ("foo", 4, 20, 5.0)
    assert average.device_time_total == 0
    assert repr(average) == (
        "<FunctionEventAvg key=foo self_cpu_time=20.000us cpu_time=5.000us  self_cuda_time=0.000us "
        "cuda_time=0.000us input_shapes=None cpu_memory_usage=0 cuda_memory_usage=0>"
    )


def test_averages_are_of_one_key_and_of_events():
    average = FunctionEventAvg().add(event("foo", 0, 1))
    with pytest.raises(AssertionError) as caught:
        average.add(event("bar", 0, 1))
    assert str(caught.value) == "Expected keys to match, but got bar vs foo"
    with pytest.raises(AssertionError) as caught:
        average.add(3)
    assert str(caught.value) == "Expected other to be a FunctionEvent or FunctionEventAvg"


def test_an_event_shows_what_it_is():
    one = FunctionEvent(id=3, name="foo", thread=1, start_us=10, end_us=15, sequence_nr=7)
    assert repr(one) == (
        "<FunctionEvent id=3 name=foo overload_name=None device_type=DeviceType.CPU node_id=-1 "
        "cpu_time=5.000us start_us=10 end_us=15 cpu_children=[] None_time=0.000us name=foo thread=1 "
        "input_shapes=None cpu_memory_usage=0 None_memory_usage=0 is_async=False is_remote=False seq_nr=7 "
        "is_legacy=False>"
    )


@pytest.mark.parametrize(
    ("options", "lines"),
    [
        ({}, ["c           43.75%      70.000us", "a           25.00%      40.000us"]),
        ({"sort_by": "cpu_time_total", "row_limit": 1}, ["a           25.00%      40.000us"]),
        ({"time_unit": "ms", "row_limit": 1}, ["a           25.00%       0.040ms"]),
        ({"top_level_events_only": True}, ["This report only display top-level ops statistics"]),
        ({"header": "Title"}, ["Title", "Self CPU time total: 160.000us"]),
    ],
)
def test_a_table_shows_what_it_is_asked_for(options, lines):
    text = tree(event("a", 0, 90), event("b", 10, 60), event("c", 100, 170)).table(**options)
    shown = [" ".join(line.split()) for line in text.splitlines()]
    for line in lines:
        assert any(found.startswith(" ".join(line.split())) for found in shown), text


def test_a_table_is_this_wide():
    assert tree(event("name", 0, 90), event("long" * 20, 100, 170)).table(row_limit=2) == (
        "-------------------------------------------------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  \n"
        "                                                   Name    Self CPU %      Self CPU   CPU total %     "
        "CPU total  CPU time avg    # of Calls  \n"
        "-------------------------------------------------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  \n"
        "                                                   name        56.25%      90.000us        56.25%      "
        "90.000us      90.000us             1  \n"
        "longlonglonglonglonglonglonglonglonglonglonglonglong...        43.75%      70.000us        43.75%      "
        "70.000us      70.000us             1  \n"
        "-------------------------------------------------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  \n"
        "Self CPU time total: 160.000us\n"
    )


def test_a_table_has_columns_for_what_is_known():
    one = event("one", 0, 10, input_shapes=[[2, 3]], cpu_memory_usage=3000, flops=2000)
    one.stack = ["a.py(1): f", "b.py(2): g"]
    events = EventList([one], profile_memory=True, with_flops=True)
    events._build_tree()
    text = events.table()
    for word in ("CPU Mem", "2.93 KB", "Input Shapes", "[[2, 3]]", "Source Location", "b.py(2): g", "KFLOPs"):
        assert word in text


def test_an_empty_list_has_an_empty_table():
    assert EventList().table() == ""


def test_a_key_that_no_event_has_is_an_error():
    with pytest.raises(AttributeError) as caught:
        tree(event("one", 0, 1)).table(sort_by="foo")
    assert str(caught.value) == "'FunctionEvent' object has no attribute 'foo'"


def test_what_is_exported_can_be_read_again(tmp_path):
    events = tree(event("one", 0, 10, trace_name="one"), event("two", 20, 25.5, trace_name="two"))
    events[0].stack = ["a.py(1): f", "b.py(2): g"]
    trace, stacks = tmp_path / "trace.json", tmp_path / "stacks"
    events.export_chrome_trace(str(trace))
    assert [(one["name"], one["ts"], one["dur"]) for one in json.loads(trace.read_text())] == [
        ("one", 0, 10),
        ("two", 20, 5.5),
    ]
    events.export_stacks(str(stacks), "self_cpu_time_total")
    assert stacks.read_text() == "b.py(2):_g;a.py(1):_f 10\n"
    with pytest.raises(ValueError) as caught:
        events.export_stacks(str(stacks), "foo")
    assert str(caught.value) == (
        "metric should be one of: ['self_cpu_time_total', 'self_cuda_time_total', 'self_xpu_time_total', "
        "'self_privateuse1_time_total']"
    )


def test_former_names_warn():
    one = event("one", 0, 1)
    with pytest.warns(FutureWarning) as caught:
        assert (one.cuda_time, one.cuda_time_total) == (0.0, 0)
    assert [str(warning.message) for warning in caught] == [
        "`cuda_time` is deprecated, please use `device_time` instead.",
        "`cuda_time_total` is deprecated. Use `device_time_total` instead.",
    ]


def test_parents_and_children_are_events():
    one = event("one", 0, 1)
    with pytest.raises(AssertionError, match=r"^Expected child to be a FunctionEvent$"):
        one.append_cpu_child(3)
    with pytest.raises(AssertionError, match=r"^Expected parent to be a FunctionEvent$"):
        one.set_cpu_parent(3)


def test_times_are_shown_with_the_unit_that_fits():
    assert Interval(2, 5).elapsed_us() == 3
    assert Kernel("name", 0, 3).duration == 3
    assert issubclass(FunctionEvent, FormattedTimesMixin)
    assert event("slow", 0, 2_500_000).cpu_time_str == "2.500s"
    assert event("slow", 0, 2500).cpu_time_total_str == "2.500ms"


def test_what_is_to_be_unique_is_seen_once():
    unique = torch.autograd.profiler.EnforceUnique()
    unique.see(1)
    with pytest.raises(RuntimeError, match=r"^duplicate key: \(1,\)$"):
        unique.see(1)

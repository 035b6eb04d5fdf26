"""`torch.profiler`: cycles of steps, and what becomes of each."""

import gzip
import json
import warnings

import pytest
import rushlight as torch
from rushlight.profiler import (
    DeviceType,
    ProfilerAction,
    ProfilerActivity,
    profile,
    record_function,
    schedule,
    supported_activities,
    tensorboard_trace_handler,
)


def outermost(prof):
    return [event.name for event in prof.events() if event.cpu_parent is None]


def test_a_schedule_says_for_each_step_what_happens():
    when = schedule(wait=1, warmup=1, active=2, repeat=2, skip_first=1)
    told = [when(step).name for step in range(10)]
    cycle = ["NONE", "WARMUP", "RECORD", "RECORD_AND_SAVE"]
    assert told == ["NONE", *cycle, *cycle, "NONE"]
    first = schedule(wait=3, warmup=1, active=1, skip_first=2, skip_first_wait=1)
    assert [first(step).value for step in range(6)] == [0, 0, 1, 3, 0, 0]


@pytest.mark.parametrize("wrong", [{"wait": -1}, {"active": 0}, {"repeat": -1}])
def test_a_schedule_that_makes_no_sense_is_refused(wrong):
    given = {"wait": 1, "warmup": 1, "active": 1, "repeat": 0, **wrong}
    with pytest.raises(AssertionError) as caught:
        schedule(**given)
    assert str(caught.value) == (
        f"Invalid profiler schedule arguments. Got wait={given['wait']} (need >= 0), warmup=1 (need >= 0), "
        f"active={given['active']} (need > 0), repeat={given['repeat']} (need >= 0), skip_first=0 (need >= 0)."
    )


def test_a_schedule_without_warmup_is_warned_of():
    with pytest.warns(UserWarning) as caught:
        when = schedule(wait=0, warmup=0, active=1)
    assert str(caught[0].message) == "Profiler won't be using warmup, this can skew profiler results"
    with pytest.raises(AssertionError, match=r"^Step must be non-negative. Got -1.$"):
        when(-1)


def test_every_cycle_is_handed_over_when_it_ends():
    x = torch.ones(2)
    ready = []

    def hand_over(prof):
        steps = [event.trace_name for event in prof.events() if event.cpu_parent is None]
        ready.append((prof.step_num, steps, [average.count for average in prof.key_averages()][:1]))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with profile(
            activities=[ProfilerActivity.CPU],
            schedule=schedule(wait=1, warmup=1, active=2, repeat=2),
            on_trace_ready=hand_over,
        ) as prof:
            for _ in range(10):
                x.exp()
                prof.step()
    assert ready == [
        (4, ["ProfilerStep#2", "ProfilerStep#3"], [2]),
        (8, ["ProfilerStep#6", "ProfilerStep#7"], [2]),
    ]
    assert (prof.step_num, prof.current_action) == (10, ProfilerAction.NONE)


def test_without_a_schedule_everything_is_one_cycle():
    ready = []
    with profile(on_trace_ready=ready.append) as prof:
        with record_function("label"):
            torch.ones(2).exp()
        prof.step()
        torch.zeros(2)
    assert ready == [prof]
    assert outermost(prof) == ["label", "aten::zeros"]


def test_events_of_several_cycles_can_be_kept():
    x = torch.ones(2)
    prof = profile(acc_events=True)
    for function in (torch.exp, torch.log):
        prof.start()
        function(x)
        prof.stop()
    assert sorted(outermost(prof)) == ["aten::exp", "aten::log"]


@pytest.mark.parametrize(
    ("activities", "kind", "text"),
    [
        ([], AssertionError, "No valid profiler activities found"),
        ([3], AssertionError, "No valid profiler activities found"),
        ([ProfilerActivity.CPU, 3], TypeError, "Expected ProfilerActivity or dict, got <class 'int'>"),
        (
            [ProfilerActivity.CPU, ProfilerActivity.CPU],
            ValueError,
            "Activity ProfilerActivity.CPU specified more than once",
        ),
    ],
)
def test_activities_are_looked_at(activities, kind, text):
    with pytest.raises(kind) as caught:
        profile(activities=activities)
    assert str(caught.value) == text


@pytest.mark.parametrize(
    ("call", "purpose"),
    [
        (lambda prof: prof.events(), "accessing events"),
        (lambda prof: prof.key_averages(), "getting key averages"),
        (lambda prof: prof.export_chrome_trace("nowhere"), "exporting chrome trace"),
        (lambda prof: prof.export_stacks("nowhere"), "exporting stacks"),
        (lambda prof: prof.stop(), "stopping trace"),
    ],
)
def test_a_profile_that_never_began_has_nothing(call, purpose):
    with pytest.raises(AssertionError) as caught:
        call(profile())
    assert str(caught.value) == f"Profiler must be initialized before {purpose}"


def test_a_schedule_must_not_stop_devices():
    with pytest.raises(ValueError) as caught:
        profile(schedule=lambda step: ProfilerAction.DEVICE_STOPPED)
    assert str(caught.value) == (
        "ProfilerAction.DEVICE_STOPPED is set internally by the "
        "profiler and must not be returned by a user-provided schedule"
    )


def test_use_cuda_is_deprecated():
    with pytest.warns(FutureWarning) as caught:
        profile(use_cuda=False)
    assert str(caught[0].message) == "`use_cuda` is deprecated, use `activities` argument instead"


@pytest.mark.parametrize("compressed", [False, True])
def test_traces_are_written_for_tensorboard(tmp_path, compressed):
    handler = tensorboard_trace_handler(str(tmp_path / "log"), "worker", use_gzip=compressed)
    with profile(on_trace_ready=handler) as prof:
        prof.add_metadata("who", "a name")
        prof.add_metadata_json("numbers", "[1, 2]")
        torch.ones(2).exp()
    (path,) = (tmp_path / "log").iterdir()
    assert path.name.startswith("worker.")
    assert path.name.endswith(".pt.trace.json.gz" if compressed else ".pt.trace.json")
    with (gzip.open if compressed else open)(path, "rt") as file:
        trace = json.load(file)
    assert "aten::exp" in [one["name"] for one in trace["traceEvents"]]
    assert (trace["who"], trace["numbers"]) == ("a name", [1, 2])


def test_traces_are_named_as_one_wants():
    prof = profile(custom_trace_id_callback=lambda: "mine")
    assert prof.get_trace_id() is None
    with prof:
        pass
    assert prof.get_trace_id() == "mine"


def test_names_are_found_where_they_are_looked_for():
    assert supported_activities() == {ProfilerActivity.CPU}
    assert torch.autograd.ProfilerActivity is ProfilerActivity
    assert torch.autograd.DeviceType is DeviceType
    assert repr(ProfilerActivity.CPU) == "<ProfilerActivity.CPU: 0>"
    assert torch.profiler.kineto_available() and torch.autograd.kineto_available()

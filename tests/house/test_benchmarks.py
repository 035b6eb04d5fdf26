"""The benchmarks measure what is there: each of their cases runs (how fast, no test asks)."""

import ast
import json
from pathlib import Path

import pytest
import rushlight
from cases import EVERY_CASE, Case
from instructions import HOT, KEPT, NotCounted, counted, grown
from steps import STEPS
from steps_worker import with_torch
from survey import measured, summary, wins_of_torch
from survey_cases import SURVEY
from survey_plot import drawn
from worker import Worker


@pytest.mark.parametrize("case", EVERY_CASE, ids=lambda case: case.title)
def test_the_code_of_every_case_runs_twice(case):
    run = Worker("rushlight").prepared(case)
    run()
    run()


# What takes long takes it from what is large: programs on large numbers are those on small ones.
LARGE = ("1000 ×", "1000000", "4096", "8 × 16 × 56", "256 ×", "100000")


@pytest.mark.parametrize(
    "case",
    [case for case in SURVEY if not any(size in case.title for size in LARGE)],
    ids=lambda case: case.title,
)
def test_what_is_surveyed_runs_twice(case):
    run = Worker("rushlight").prepared(case)
    run()
    run()


@pytest.mark.parametrize("name", [name for name in STEPS if "1e6" not in name])
def test_steps_run_as_they_are_written_and_compiled(name):
    for how in ("", "compiled"):
        step, count = with_torch("rushlight", how)(name)
        step()
        step()
        assert count == 1


def test_every_step_is_there_for_what_is_compared_with():
    source = Path(__file__).parents[2] / "benchmarks" / "steps_jax.py"
    there = {
        node.name for node in ast.parse(source.read_text("utf-8")).body if isinstance(node, ast.FunctionDef)
    }
    assert {function for function, _ in STEPS.values()} <= there


def counted_here(code):
    try:
        return counted(Case(code, "x = torch.ones(2, 2); y = torch.ones(2, 2)"), calls=2)
    except NotCounted as reason:
        pytest.skip(str(reason))


def test_instructions_are_those_of_the_module_and_the_same_every_time():
    one, again = counted_here("x + y"), counted_here("x + y")
    assert 100 < 0.99 * one < again < 1.01 * one
    assert counted_here("pass") == 0
    assert 1.9 * one < counted_here("x + y; x + y") < 2.1 * one


def test_hot_paths_are_counted_and_kept():
    kept = json.loads(KEPT.read_text("utf-8"))
    assert kept["instructions"].keys() == {case.title for case in HOT}
    assert len(HOT) >= 12
    assert kept["compiler"].startswith("rustc ")


@pytest.mark.parametrize(
    ("before", "now", "more"), [(1000, 1000, False), (1000, 1030, False), (1000, 1031, True)]
)
def test_three_per_cent_more_are_too_many(before, now, more):
    assert grown(before, now) is more


class Taking:
    """In the place of a library: so many seconds for everything but what it does not have."""

    def __init__(self, seconds, lacking=()):
        self.taken, self.lacking = seconds, lacking

    def seconds(self, case, threads, turn):
        return None if case in self.lacking else self.taken + turn


def test_a_survey_takes_the_least_time_and_leaves_out_what_one_cannot_run():
    outcomes = measured(SURVEY[:3], 1, (Taking(2e-6), Taking(1e-6, SURVEY[1:2])), 2)
    assert [outcome.case for outcome in outcomes] == [SURVEY[0], SURVEY[2]]
    assert [outcome.ratio for outcome in outcomes] == [0.5, 0.5]
    assert "| all | 2 | 0.50× | 2 | 0 |" in summary(outcomes)
    assert wins_of_torch(outcomes).count("2 µs | 1 µs | 0.50×") == 2


def test_what_is_drawn_has_a_bar_for_every_program():
    picture = drawn([(3.0, "small"), (0.5, "large"), (1000.0, "middle")], "One thread")
    assert picture.count('fill="#f2a65a"') == 2  # its legend, and one bar
    assert picture.count("<rect") == 6


def test_a_case_that_a_library_cannot_run_is_noticed():
    with pytest.raises(AttributeError):
        Worker("rushlight").prepared(Case("torch.no_such_operation"))()


def test_the_number_of_threads_can_be_set():
    before = rushlight.get_num_threads()
    try:
        for threads in (1, 2):
            rushlight.set_num_threads(threads)
            assert rushlight.get_num_threads() == threads
    finally:
        rushlight.set_num_threads(before)

"""The benchmarks measure what is there: each of their cases runs (how fast, no test asks)."""

import pytest
import rushlight
from cases import EVERY_CASE, Case
from worker import Worker


@pytest.mark.parametrize("case", EVERY_CASE, ids=lambda case: case.title)
def test_the_code_of_every_case_runs_twice(case):
    run = Worker("rushlight").prepared(case)
    run()
    run()


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

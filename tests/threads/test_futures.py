"""Values that come later: who waits for them, and what follows them."""

import threading

import pytest
import rushlight as torch
from rushlight.futures import Future, collect_all, wait_all

TWICE = (
    "Attempting to mark a completed Future as complete again. Note that a Future can only be marked completed "
    "once."
)


def done(value):
    future = Future()
    future.set_result(value)
    return future


def test_a_value_that_another_thread_sets_is_waited_for():
    future = Future()
    thread = threading.Timer(0.05, lambda: future.set_result(torch.ones(2)))
    thread.start()
    assert future.wait().equal(torch.ones(2))
    thread.join()
    assert future.done()


def test_what_follows_runs_when_the_value_comes_or_at_once():
    future, seen = Future(), []
    later = future.then(lambda one: one.value() + 1)
    future.add_done_callback(lambda one: seen.append(one.value()))
    assert not later.done()
    future.set_result(3)
    assert (later.wait(), future.then(lambda one: one.wait() + 2).value(), seen) == (4, 5, [3])


def test_a_value_is_set_once():
    future = done(3)
    with pytest.raises(RuntimeError) as caught:
        future.set_result(4)
    assert str(caught.value) == TWICE


def test_an_error_is_raised_where_the_value_is_asked_for():
    future = Future()
    future.set_exception(ValueError("foo"))
    for ask in (future.wait, future.value):
        with pytest.raises(ValueError, match="foo"):
            ask()
    with pytest.raises(AssertionError, match=r"3 is of type <class 'int'>, not an Exception\."):
        Future().set_exception(3)


def test_an_error_of_what_follows_is_told_to_who_waits():
    failed = done(1).then(lambda one: one.value() / 0)
    assert failed.done()
    with pytest.raises(
        RuntimeError,
        match="Got the following error when running the callback: ZeroDivisionError: division by zero",
    ):
        failed.wait()


def test_several_are_done_when_all_are():
    first, second = Future(), Future()
    both = collect_all([first, second])
    second.set_result(2)
    assert not both.done()
    first.set_result(1)
    assert [one.value() for one in both.wait()] == [1, 2]
    assert wait_all([first, second]) == [1, 2]
    assert collect_all([]).wait() == []


def test_the_first_error_of_several_is_raised():
    failed = Future()
    failed.set_exception(ValueError("foo"))
    with pytest.raises(ValueError, match="foo"):
        wait_all([done(1), failed])

"""Statements of a step whose numbers are looked at, or that may fail: they are done where they stand."""

import sys

import pytest
from compiling import Meter, outcome, same_outcome, stepping, training

pytestmark = [
    pytest.mark.own,
    pytest.mark.skipif(sys.version_info < (3, 11), reason="numbers that leave are not followed there"),
]


def what_is_read_after():
    net, optimizer = training()
    losses = []

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        losses.append(loss.item())
        return loss * len(losses)

    return step, lambda: losses


def what_a_helper_reads():
    net, optimizer = training()
    total = 0.0

    def scaled(x):
        return x * total

    def step(x, y):
        nonlocal total
        total += x.sum().item()
        return stepping(net, optimizer, scaled(x), y)

    return step, lambda: total


def what_another_name_has():
    net, optimizer = training()
    losses = [1.0]
    same = {"losses": losses}

    def step(x, y):
        losses.append(x.sum().item())
        return stepping(net, optimizer, x * same["losses"][-1], y)

    return step, lambda: losses


def what_may_fail():
    net, optimizer = training()
    rates = []

    def step(x, y):
        rates.append(1 / x.sum().item())
        return stepping(net, optimizer, x, y)

    return step, lambda: rates


def a_tensor_that_is_printed():
    net, optimizer = training()

    def step(x, y):
        print(x)
        return stepping(net, optimizer, x, y)

    return step, lambda: None


def what_an_object_does_before():
    net, optimizer = training()
    meter = Meter()

    def step(x, y):
        meter.update(x.sum().item(), len(x))
        return stepping(net, optimizer, x * meter.average, y)

    return step, lambda: vars(meter)


def what_is_caught():
    net, optimizer = training()
    losses = []

    def step(x, y):
        try:
            losses.append(x.sum().item())
            return stepping(net, optimizer, x, y)
        finally:
            losses.append(0.0)

    return step, lambda: losses


def what_is_in_variables():
    net, optimizer = training()
    found = []

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        found.append((sorted(locals()), loss.item()))
        return loss

    return step, lambda: found


def a_number_that_is_returned_after():
    net, optimizer = training()
    meter = Meter()

    def step(x, y):
        loss = stepping(net, optimizer, x, y)
        meter.update(loss.item(), len(x))
        return loss * meter.average

    return step, lambda: vars(meter)


NOT_WAITING = [
    what_is_read_after, what_a_helper_reads, what_another_name_has, what_may_fail,
    a_tensor_that_is_printed, what_is_caught, what_an_object_does_before, a_number_that_is_returned_after, what_is_in_variables,
]  # fmt: skip


@pytest.mark.parametrize("make", NOT_WAITING, ids=lambda make: make.__name__)
def test_statements_are_done_where_they_stand_if_that_makes_a_difference(make, capsys):
    compiled = same_outcome(make, capsys)
    assert not compiled.programs


def test_a_tensor_that_is_added_up_is_written_to(capsys):
    def make():
        net, optimizer = training()
        total = 0.0

        def step(x, y):
            nonlocal total
            loss = stepping(net, optimizer, x, y)
            total += loss.detach()
            return loss

        return step, lambda: total

    assert outcome(make, False, capsys)[0] == outcome(make, True, capsys)[0]

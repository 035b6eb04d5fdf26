"""Calls of tensors that have few elements in memory and more than any memory to show."""

from targets import calls


def program(dice):
    return calls.program(dice, giants=0.5)

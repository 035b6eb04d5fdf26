"""Contexts that are part of a circle are collected."""

import gc
import weakref

import pytest
import rushlight as torch
from rushlight.autograd import Function


class Twice(Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2


class Witness:
    """Tells by its death that a context is gone."""


def is_collected(make):
    witness = Witness()
    seen = weakref.ref(witness)
    make(torch.ones(2, requires_grad=True), witness)
    del witness
    gc.collect()
    return seen() is None


def test_a_context_goes_with_its_output_at_once():
    witness = Witness()
    seen = weakref.ref(witness)
    y = Twice.apply(torch.ones(2, requires_grad=True))
    y.grad_fn.witness = witness
    del y, witness
    assert seen() is None


def output_on_its_context(x, witness):
    y = Twice.apply(x)
    y.grad_fn.witness, y.grad_fn.output = witness, y


def later_result_on_a_context(x, witness):
    y = Twice.apply(x)
    y.grad_fn.witness, y.grad_fn.later = witness, [(y * 2 + 1).exp()]


def later_context_on_a_context(x, witness):
    y = Twice.apply(x)
    y.grad_fn.witness, y.grad_fn.later = witness, Twice.apply(y * 3)


def hook_that_holds_the_output(x, witness):
    y = Twice.apply(x)
    y.register_hook(lambda gradient: (witness, y))


@pytest.mark.own
@pytest.mark.parametrize(
    "make",
    [
        output_on_its_context,
        later_result_on_a_context,
        later_context_on_a_context,
        hook_that_holds_the_output,
    ],
)
def test_circles_through_contexts_are_collected(make):
    assert is_collected(make)

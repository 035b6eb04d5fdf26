"""Threads that build and differentiate at once, each in its mode; failures stay where they happen."""

import threading

import pytest
import rushlight as torch
from support import run_together


def test_every_thread_computes_in_its_own_mode():
    x = torch.ones(3, requires_grad=True)

    def recording():
        for _ in range(200):
            y = x * 2
            assert y.requires_grad and not y.is_inference() and y._version == 0

    def not_recording():
        for _ in range(200):
            with torch.no_grad():
                assert not (x * 2).requires_grad
            assert (x * 2).requires_grad

    def inferring():
        for _ in range(200):
            with torch.inference_mode():
                assert (x * 2).is_inference()
            assert not (x * 2).is_inference()

    run_together(recording, not_recording, inferring, recording, inferring)


def test_large_backward_passes_run_in_the_mode_of_their_thread():
    def infer():
        w = torch.ones(200, 200, requires_grad=True)
        total = sum(((w * i) @ w).sum() for i in range(6))
        with torch.inference_mode():
            (g,) = torch.autograd.grad(total, w)
        assert g.is_inference()

    def train():
        w = torch.ones(200, 200, requires_grad=True)
        sum(((w * i) @ w).sum() for i in range(6)).backward()
        assert not w.grad.is_inference()
        w.grad.add_(1)

    run_together(infer, train, infer, train)


def test_a_graph_built_by_one_thread_is_differentiated_by_another_in_its_mode():
    x = torch.ones(3, requires_grad=True)
    built, seen = [], []

    def build():
        y = (x * x).sum()
        y.register_hook(lambda g: seen.append((threading.get_ident(), torch.is_grad_enabled())))
        built.append(y)

    def differentiate():
        (g,) = torch.autograd.grad(built[0], x, create_graph=True)
        seen.append((threading.get_ident(), g.requires_grad))

    run_together(build)
    run_together(differentiate)
    assert seen[0] == (seen[1][0], True) and seen[1][1]


def test_failing_threads_leave_a_shared_leaf_to_the_others():
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)

    def fine():
        for _ in range(50):
            (x * 2).sum().backward()

    def failing():
        for _ in range(50):
            y = (x * 3).exp()
            y.register_hook(lambda g: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                y.sum().backward()

    run_together(fine, failing, fine, failing, fine)
    assert x.grad.tolist() == [2.0 * 150] * 4


def test_threads_accumulate_and_clear_leaves_of_their_own_while_sharing_weights():
    w = torch.ones(8, 8, dtype=torch.float64, requires_grad=True)
    rounds, count = 40, 6

    def work():
        mine = torch.ones(8, dtype=torch.float64, requires_grad=True)
        for _ in range(rounds):
            mine.grad = None
            (w @ mine).sum().backward()
            assert mine.grad.tolist() == [8.0] * 8

    run_together(*[work] * count)
    assert w.grad.eq(float(rounds * count)).all().item()

"""Many threads on one graph, one leaf, one process: no gradient is lost, none is counted twice."""

import sys
import threading
import time

import numpy as np
import pytest
import rushlight as torch
from support import assert_tensor, run_together, sample


def test_eight_threads_differentiating_through_shared_leaves_give_the_exact_sum():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    w = torch.tensor([3.0, 5.0], dtype=torch.float64, requires_grad=True)
    rounds = 100

    def work():
        for _ in range(rounds):
            (x * w * 2).sum().backward()

    run_together(*[work] * 8)
    assert_tensor(x.grad, np.array([3.0, 5.0]) * 2 * 8 * rounds)
    assert_tensor(w.grad, np.array([1.0, 2.0]) * 2 * 8 * rounds)


def test_large_gradients_of_eight_threads_give_the_exact_sum():
    x = torch.ones(50_000, requires_grad=True)

    def work():
        for _ in range(10):
            (x * 3).sum().backward()

    run_together(*[work] * 8)
    assert x.grad.eq(3.0 * 80).all().item()


def test_threads_with_graphs_of_their_own_do_not_disturb_each_other():
    matrix = sample(8, 8)
    x = torch.tensor(matrix, requires_grad=True)
    (expected,) = torch.autograd.grad(((x @ x).tanh()).sum(), x)
    results = [None] * 6

    def work(place):
        def run():
            for _ in range(30):
                mine = torch.tensor(matrix, requires_grad=True)
                ((mine @ mine).tanh()).sum().backward()
                results[place] = mine.grad

        return run

    run_together(*[work(i) for i in range(6)])
    assert all(torch.equal(result, expected) for result in results)


def test_builders_and_sweepers_at_once_never_lose_the_gradient_of_a_reused_leaf():
    rounds, shared = 200, torch.ones(4, dtype=torch.float64)
    leaves = [torch.ones(4, dtype=torch.float64, requires_grad=True) for _ in range(6)]
    kept = [None] * 6

    def builder(place):
        def run():
            leaf = leaves[place]
            for _ in range(rounds):
                leaf.grad = None
                y = leaf
                for _ in range(5):
                    y = y * 2 + shared
                y.sum().backward()
                assert leaf.grad is not None and leaf.grad.tolist() == [32.0] * 4

        return run

    def sweeper(place):
        def run():
            for _ in range(rounds):
                y = leaves[place] * 3
                kept[place] = [y.sin(), y.cos()]
                kept[place] = None

        return run

    run_together(*[builder(i) for i in range(6)], *[sweeper(i) for i in range(6)])
    assert all(leaf.grad.tolist() == [32.0] * 4 for leaf in leaves)


def test_one_retained_graph_may_be_walked_by_many_threads():
    x = torch.tensor([1.0, 2.0], dtype=torch.float64, requires_grad=True)
    y = (x * x).exp().sum()
    results = []

    def work():
        for _ in range(50):
            results.append(torch.autograd.grad(y, x, retain_graph=True)[0].tolist())

    run_together(*[work] * 6)
    assert len(results) == 300 and all(result == results[0] for result in results)


@pytest.mark.own
def test_ten_threads_run_backward_and_zero_on_one_leaf():
    x = torch.ones(16, requires_grad=True)

    def work():
        for _ in range(100):
            (x * 2).sum().backward()
            gradient = x.grad
            if gradient is not None:
                gradient.detach().zero_()
            x.grad = None

    run_together(*[work] * 10)
    x.grad = None
    (x * 2).sum().backward()
    assert x.grad.tolist() == [2.0] * 16


def test_a_graph_built_in_one_thread_is_differentiated_and_freed_in_another():
    box = []
    x = torch.ones(3, requires_grad=True)

    def build():
        y = x
        for _ in range(1000):
            y = y * 1.0
        box.append(y.sum())

    run_together(build)
    run_together(lambda: box[0].backward())
    run_together(box.clear)
    assert x.grad.tolist() == [1.0] * 3


def test_hooks_run_in_the_thread_that_called_backward():
    seen = []
    x = torch.ones(200, 200, requires_grad=True)
    y = x @ x
    y.register_hook(lambda g: seen.append(threading.get_ident()))
    x.register_hook(lambda g: seen.append(threading.get_ident()))
    names = []

    def work():
        names.append(threading.get_ident())
        sum((y * i).sum() for i in range(8)).backward()

    run_together(work)
    assert seen == names * 2


def test_an_exception_in_one_thread_does_not_reach_another():
    x = torch.ones(2, requires_grad=True)

    def fine():
        for _ in range(100):
            y = torch.ones(2, requires_grad=True)
            (y * x.detach()).sum().backward()
            assert y.grad.tolist() == [1.0, 1.0]

    def failing():
        for _ in range(100):
            y = torch.ones(2, requires_grad=True)
            y.register_hook(lambda g: 1 / 0)
            with pytest.raises(ZeroDivisionError):
                (y * 2).sum().backward()

    run_together(fine, failing, fine, failing)


@pytest.mark.own
def test_the_bits_are_the_same_with_one_two_and_four_threads():
    before = torch.get_num_threads()

    def compute():
        torch.manual_seed(0)
        w = torch.randn(300, 300, requires_grad=True)
        x = torch.randn(300, 300)
        branches = [((x * (i + 1)) @ w).tanh().sum(i % 2).exp().mean() for i in range(8)]
        total = torch.stack(branches).sum() + (w.view(-1)[:80_000] ** 2).sum() + torch.randn(2_000_000).sum()
        total.backward()
        return total.detach(), w.grad

    try:
        results = []
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            assert torch.get_num_threads() == count
            results.append(compute())
    finally:
        torch.set_num_threads(before)
    for total, gradient in results[1:]:
        assert torch.equal(total, results[0][0]) and torch.equal(gradient, results[0][1])


def test_the_error_is_the_same_with_one_two_and_four_threads():
    """Two branches fail; in the order of one thread, the one whose failure comes later by the clock is the first."""
    before = torch.get_num_threads()

    def fail():
        x = torch.full((400, 400), 0.5, requires_grad=True)
        early, late = x.exp(), x.tanh()
        loss = (early @ x).sum() + ((late @ x) @ torch.ones(400, 400)).sum()
        for overwritten in (early, late):
            overwritten.detach().add_(1)
        loss.backward()

    try:
        for count in (1, 2, 4):
            torch.set_num_threads(count)
            for _ in range(10):
                with pytest.raises(RuntimeError, match="which is output 0 of Tanh"):
                    fail()
    finally:
        torch.set_num_threads(before)


def test_the_number_of_threads_must_be_a_positive_integer():
    with pytest.raises(RuntimeError, match="set_num_threads expects a positive integer"):
        torch.set_num_threads(0)
    with pytest.raises(RuntimeError, match="set_num_threads expects an int, but got str"):
        torch.set_num_threads("two")
    with pytest.raises(ValueError, match="Overflow when unpacking long long"):
        torch.set_num_threads(2**65)
    assert torch.get_num_threads() >= 1


def moves_during(work):
    """How often another thread came to do something while `work` ran; it does so all the time."""
    counts = [0]
    over = threading.Event()

    def count():
        while not over.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        before = counts[0]
        work()
        return counts[0] - before
    finally:
        over.set()
        thread.join()


@pytest.mark.parametrize(
    "operation",
    [
        lambda: torch.ones(2500, 2500) @ torch.ones(2500, 2500),
        lambda: torch.ones(30_000_000).tan(),
        lambda: torch.ones(30_000_000).tan_(),
        lambda: torch.ones(30_000_000) ** 1.3,
        lambda: torch.softmax(torch.ones(5000, 4000), 1),
        lambda: torch.nn.functional.conv2d(torch.ones(32, 32, 96, 96), torch.ones(32, 32, 3, 3)),
    ],
    ids=["product", "function", "in place", "power", "softmax", "convolution"],
)
def test_other_threads_go_on_during_a_long_operation(operation):
    switch = sys.getswitchinterval()
    sys.setswitchinterval(10)  # Nobody is made to give the lock away.
    try:
        assert moves_during(operation) >= 5
    finally:
        sys.setswitchinterval(switch)


def test_long_operations_of_threads_give_what_they_give_alone():
    x = torch.tensor(sample(400, 400), requires_grad=True)

    def compute():
        y = (x @ x).tanh() * x
        (g,) = torch.autograd.grad(y.sum(), x)
        return y.detach(), g

    expected = compute()

    def work():
        for _ in range(10):
            y, g = compute()
            assert torch.equal(y, expected[0]) and torch.equal(g, expected[1])

    run_together(*[work] * 4)


def test_an_exception_of_a_long_operation_leaves_other_threads_working():
    matrix = torch.ones(600, 600)

    def fine():
        for _ in range(10):
            assert (matrix @ matrix)[0, 0].item() == 600.0

    def failing():
        for _ in range(10):
            with pytest.raises(RuntimeError, match="cannot be multiplied"):
                matrix @ torch.ones(601, 600)

    run_together(fine, failing, fine, failing)


@pytest.mark.own  # The other library may find no gradient where another thread has just taken it.
def test_leaves_that_others_use_can_be_changed_during_long_operations():
    w = torch.ones(500, 500, requires_grad=True)

    def use():
        for _ in range(10):
            (w @ torch.ones(500, 500)).sum().backward()

    def change():
        for _ in range(50):
            w.requires_grad_()
            w.grad = None
            with torch.no_grad():
                w.mul_(1)
            w.register_hook(lambda g: None).remove()

    run_together(use, change, use, change)

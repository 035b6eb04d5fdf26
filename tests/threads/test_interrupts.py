"""Ctrl-C in what takes long: noticed soon, raised where it was called, and `.grad` is as it was.

How soon is measured by `benchmarks/interrupt_latency.py`. Here it is looked for seconds, which hold on a
machine that is shared too.
"""

import os

import pytest
from support import run_script

needs_signals = pytest.mark.skipif(os.name == "nt", reason="sends a signal to its own process")

PRELUDE = """
import os, signal, threading, time

# Shells start what they put into the background with the signal ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)

def interrupted(run, after=0.03):
    "How long after the signal `run` raised KeyboardInterrupt, in seconds."
    sent, begun = [], threading.Event()
    def send():
        begun.wait()
        time.sleep(after)
        sent.append(time.perf_counter())
        os.kill(os.getpid(), signal.SIGINT)
    thread = threading.Thread(target=send)
    thread.start()
    is_over = False
    try:
        begun.set()
        run()
        is_over = True
        thread.join()
    except KeyboardInterrupt:
        late = time.perf_counter() - sent[0]
        if not is_over:
            thread.join()
            return late
    raise SystemExit("the run ended before the signal came")
"""

LONG_CHAIN = """
x = torch.ones(200_000, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
y = x
for _ in range(1500):
    y = y.sin()
total = y.sum()
"""

MANY_SMALL_NODES = """
x = torch.ones(10, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
y = x
for _ in range(1_000_000):
    y = y * 1.0
total = y.sum()
"""

ONE_PRODUCT = """
x = torch.ones(100, 9000, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
w = torch.ones(9000, 10) @ torch.ones(10, 9000)
total = (x[:, :9] @ w[:9]).sum() * 0 + torch.nn.functional.linear(x, w).sum()
"""

FUNCTIONS = """
class Slow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 1

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g + (x.expand(1500, 1500) @ x.expand(1500, 1500))[0] * 0

x = torch.ones(1500, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
y = x
for _ in range(100):
    y = Slow.apply(y)
total = y.sum()
"""

HOOKS = """
x = torch.ones(3, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
w = torch.ones(4000, 4000)
y = x * 2
y.register_hook(lambda g: g + (w @ w)[0, 0] * 0)
total = y.sum()
"""

SOON = 3.0

MANY_BRANCHES = """
x = torch.ones(200_000, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
branches = []
for i in range(8):
    y = x * i
    for _ in range(200):
        y = y.sin()
    branches.append(y.sum())
total = sum(branches)
"""


def lateness(graph, run="total.backward()", threads=None):
    """How late a run of the graph was interrupted, in seconds; the gradients are left alone."""
    set_threads = "" if threads is None else f"torch.set_num_threads({threads})\n"
    body = PRELUDE + set_threads + graph + f"late = interrupted(lambda: {run})\n"
    body += "assert torch.equal(x.grad, torch.full_like(x, 7.0)), x.grad\nprint(late)\n"
    return float(run_script(body).split()[-1])


@needs_signals
@pytest.mark.own
@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(
    "graph",
    [LONG_CHAIN, MANY_BRANCHES, MANY_SMALL_NODES, ONE_PRODUCT, FUNCTIONS, HOOKS],
    ids=["a-chain", "branches", "small-nodes", "a-product", "functions", "hooks"],
)
def test_a_long_backward_is_interrupted_soon(graph, threads):
    assert lateness(graph, threads=threads) < SOON


@needs_signals
@pytest.mark.own
def test_a_long_backward_that_is_recorded_is_interrupted():
    assert lateness(LONG_CHAIN, "total.backward(create_graph=True)") < SOON


@needs_signals
@pytest.mark.own
@pytest.mark.parametrize(
    ("setup", "work"),
    [
        ("a = torch.ones(6000, 6000)", "a @ a"),
        ("a, b = torch.ones(100, 14_000), torch.ones(14_000, 14_000)", "a @ b"),
        ("a = torch.ones(100_000_000)", "a.tan()"),
        ("a = torch.ones(100_000_000)", "a.pow(1.3)"),
        (
            "a = torch.ones(30_000_000, dtype=torch.uint8); torch.set_printoptions(threshold=1 << 60)",
            "repr(a)",
        ),
        ("a = torch.arange(300)", "torch.combinations(a, 4)"),
    ],
    ids=["a-product", "few-rows", "a-function", "a-power", "a-text", "choices"],
)
def test_a_long_operation_is_interrupted(setup, work):
    output = run_script(PRELUDE + setup + f"\nprint(interrupted(lambda: {work}))\n", timeout=300)
    assert float(output) < SOON


@needs_signals
def test_a_long_write_in_place_is_finished_before_it_is_interrupted():
    output = run_script(
        PRELUDE
        + """
a = torch.zeros(150_000_000)
def work():
    for _ in range(100):
        a.add_(1)
interrupted(work)
print(bool((a == a[0]).all()))
"""
    )
    assert output.split() == ["True"]


@needs_signals
@pytest.mark.own
def test_what_a_function_raises_for_an_interruption_can_be_caught_by_it():
    output = run_script(
        PRELUDE
        + """
class Caught(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, g):
        try:
            w @ w
        except KeyboardInterrupt:
            print("caught", (g * 2).tolist())
        return g

w = torch.ones(4000, 4000)
x = torch.ones(2, requires_grad=True)
y = Caught.apply(x).sum()
def send():
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
y.backward()
print(x.grad.tolist())
"""
    )
    assert output.splitlines() == ["caught [2.0, 2.0]", "[1.0, 1.0]"]


@needs_signals
@pytest.mark.own
def test_a_long_grad_is_interrupted():
    assert lateness(LONG_CHAIN, "torch.autograd.grad(total, x)") < SOON


@needs_signals
@pytest.mark.own
def test_one_long_operation_is_interrupted_between_its_pieces():
    graph = """
x = torch.rand(20_000_000, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
total = x.lgamma().sum()
"""
    assert lateness(graph) < SOON


@needs_signals
@pytest.mark.own
def test_after_an_interruption_everything_works_again():
    output = run_script(
        PRELUDE
        + LONG_CHAIN
        + """
interrupted(lambda: total.backward(retain_graph=True))
z = (x * 2).sum()
x.grad = None
z.backward()
assert x.grad.eq(2).all()
assert torch.is_grad_enabled()
print("works")
"""
    )
    assert output.split() == ["works"]


@needs_signals
@pytest.mark.own
def test_a_handler_of_ones_own_runs_meanwhile_and_the_run_goes_on():
    output = run_script(
        PRELUDE
        + LONG_CHAIN.replace("1500", "800")
        + """
seen = []
signal.signal(signal.SIGUSR1, lambda number, frame: seen.append(time.perf_counter()))
def send():
    time.sleep(0.1)
    os.kill(os.getpid(), signal.SIGUSR1)
thread = threading.Thread(target=send)
thread.start()
x.grad = None
total.backward()
end = time.perf_counter()
thread.join()
assert x.grad is not None
print(len(seen), seen[0] < end)
"""
    )
    assert output.split() == ["1", "True"]


@needs_signals
@pytest.mark.own
def test_a_signal_during_the_backward_of_another_thread_reaches_the_main_thread_only():
    output = run_script(
        PRELUDE
        + LONG_CHAIN.replace("1500", "800")
        + """
x.grad = None
failures = []
def work():
    try:
        total.backward()
    except BaseException as failure:
        failures.append(failure)
thread = threading.Thread(target=work)
thread.start()
late = interrupted(lambda: time.sleep(30), 0.1)
thread.join()
print(failures, late < 3, x.grad is not None)
"""
    )
    assert output.split() == ["[]", "True", "True"]


def test_an_exception_of_a_hook_leaves_gradients_as_they_were():
    output = run_script(
        """
x = torch.ones(3, requires_grad=True)
x.grad = torch.full_like(x, 7.0)
y = (x * 2).exp()
y.register_hook(lambda g: (_ for _ in ()).throw(KeyboardInterrupt()))
try:
    y.sum().backward()
except KeyboardInterrupt:
    print(x.grad.tolist())
"""
    )
    assert output.strip() == "[7.0, 7.0, 7.0]"

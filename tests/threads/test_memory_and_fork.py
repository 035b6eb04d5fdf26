"""Memory stays flat without the collector's help; a forked child can work."""

import os
import warnings

import pytest
import rushlight as torch
from support import needs_lock, run_script

needs_linux = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc/self/statm")
needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

RESIDENT = """
import gc, os
gc.disable()
def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
"""


def megabytes_grown(body):
    """What the last line of a script, `print(bytes)`, says, in MB."""
    return int(run_script(RESIDENT + body).split()[-1]) / 1e6


@needs_linux
@pytest.mark.own
def test_a_hundred_thousand_small_graphs_leave_memory_flat():
    grown = megabytes_grown(
        """
x = torch.ones(10, requires_grad=True)
def step():
    ((x * 2 + 1).tanh() * x).sum().backward()
for _ in range(5000): step()
before = resident()
for _ in range(100_000): step()
print(resident() - before)
"""
    )
    assert grown < 4


@needs_linux
@pytest.mark.own
def test_one_output_in_a_thousand_kept_alive_pins_nothing_else():
    grown = megabytes_grown(
        """
kept = []
def build(i):
    x = torch.ones(10, requires_grad=True)
    y = x
    for _ in range(100):
        y = y * 1.5
    if i % 1000 == 0:
        kept.append((x * 2).sum())
for i in range(1, 500): build(i)
before = resident()
for i in range(1, 20_001): build(i)
assert len(kept) == 20
print(resident() - before)
"""
    )
    assert grown < 8


@needs_linux
@pytest.mark.own
def test_graphs_never_differentiated_are_freed_at_once():
    grown = megabytes_grown(
        """
x = torch.ones(1000, requires_grad=True)
def build():
    y = x
    for _ in range(1000):
        y = y * 1.0001
    return y
build()
before = resident()
for _ in range(100): build()
print(resident() - before)
"""
    )
    assert grown < 8


@needs_linux
@pytest.mark.own
def test_training_with_changing_batch_sizes_reaches_a_plateau():
    grown = megabytes_grown(
        """
import random
random.seed(0)
nn = torch.nn
net = nn.Sequential(nn.Linear(32, 64), nn.ReLU(), nn.Linear(64, 1))
optimizer = torch.optim.SGD(net.parameters(), lr=0.01)
def step():
    x = torch.ones(random.randint(1, 256), 32)
    optimizer.zero_grad()
    (net(x) ** 2).mean().backward()
    optimizer.step()
for _ in range(500): step()
before = resident()
for _ in range(3000): step()
print(resident() - before)
"""
    )
    assert grown < 8


@needs_linux
@pytest.mark.own
def test_an_in_place_loop_over_a_buffer_without_recording_leaves_memory_flat():
    grown = megabytes_grown(
        """
x = torch.zeros(100)
for _ in range(1000): x.add_(1); x[3:].mul_(1.0)
before = resident()
for _ in range(100_000): x.add_(1); x[3:].mul_(1.0)
print(resident() - before)
"""
    )
    assert grown < 2


@needs_linux
@pytest.mark.own
def test_ten_thousand_recorded_derivatives_of_parameters_leave_memory_flat():
    grown = megabytes_grown(
        """
net = torch.nn.Linear(4, 4)
def step():
    net.zero_grad()
    loss = net(torch.ones(2, 4)).pow(2).sum()
    gradients = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
    sum(g.pow(2).sum() for g in gradients).backward()
for _ in range(500): step()
before = resident()
for _ in range(10_000): step()
print(resident() - before)
"""
    )
    assert grown < 5


@needs_linux
@pytest.mark.own
def test_ten_thousand_backwards_that_record_leave_memory_flat_without_clearing_anything():
    grown = megabytes_grown(
        """
import warnings
warnings.simplefilter("ignore")
def step():
    x, w = torch.ones(10, requires_grad=True), torch.ones(10, requires_grad=True)
    (x**3 * w).sum().backward(create_graph=True)
for _ in range(500): step()
before = resident()
for _ in range(10_000): step()
gc.collect()
print(resident() - before)
"""
    )
    assert grown < 5


@needs_linux
@pytest.mark.own
@pytest.mark.parametrize("collecting", [False, True], ids=["without the collector", "with it"])
def test_thousands_of_networks_with_recorded_gradients_leave_memory_flat(collecting):
    grown = megabytes_grown(
        f"""
import warnings
warnings.simplefilter("ignore")
if {collecting}: gc.enable()
nn = torch.nn
def step():
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    net[0].weight.note = "an attribute"
    net(torch.ones(2, 4)).pow(2).sum().backward(create_graph=True)
for _ in range(100): step()
before = resident()
for _ in range(3000): step()
print(resident() - before)
"""
    )
    assert grown < 5


@needs_lock
@needs_linux
@pytest.mark.own
def test_ten_thousand_recorded_backwards_through_functions_and_hooks_leave_memory_flat():
    grown = megabytes_grown(
        """
import warnings
warnings.simplefilter("ignore")
gc.enable()
class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 3 * x**2
def step():
    x = torch.ones(10, requires_grad=True)
    y = Cube.apply(x)
    y.register_hook(lambda g: g * (x + y).detach())
    y.sum().backward(create_graph=True)
for _ in range(1000): step()
gc.collect()
before = resident()
for _ in range(10_000): step()
gc.collect()
print(resident() - before)
"""
    )
    assert grown < 5


@needs_lock
@pytest.mark.own
def test_no_circle_that_python_can_see_survives_a_collection():
    output = run_script(
        """
import gc, weakref
gc.collect()
class Kept:
    pass
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, kept):
        ctx.save_for_backward(x)
        ctx.kept = kept
        return x * 2
    @staticmethod
    def backward(ctx, g):
        return g * 2, None

def attribute(kept):
    x = torch.ones(2)
    x.itself, x.kept = x, kept
def hook_on_a_leaf(kept):
    x = torch.ones(2, requires_grad=True)
    x.register_hook(lambda g: (x, kept)[2:])
def hook_on_a_result(kept):
    y = torch.ones(2, requires_grad=True) * 2
    y.register_hook(lambda g: (y, kept)[2:])
def hook_on_a_node(kept):
    y = torch.ones(2, requires_grad=True) * 2
    y.grad_fn.register_hook(lambda *g: (y, kept)[2:])
def hook_after_accumulation(kept):
    x = torch.ones(2, requires_grad=True)
    x.register_post_accumulate_grad_hook(lambda t: (x, kept)[2:])
def context(kept):
    y = Twice.apply(torch.ones(2, requires_grad=True), kept)
    kept.result = y

survivors = []
for make in (attribute, hook_on_a_leaf, hook_on_a_result, hook_on_a_node, hook_after_accumulation, context):
    kept = Kept()
    seen = weakref.ref(kept)
    make(kept)
    del kept
    gc.collect()
    if seen() is not None:
        survivors.append(make.__name__)
print(survivors, gc.garbage)
"""
    )
    assert output.strip() == "[] []"


def test_a_recorded_gradient_stays_as_long_as_anything_leads_to_it():
    x = torch.ones(3, requires_grad=True)
    other = x * 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        (x**3).sum().backward(create_graph=True)
    del x
    leaf = other.grad_fn.next_functions[0][0].variable
    assert leaf.grad.tolist() == [3.0, 3.0, 3.0]
    (second,) = torch.autograd.grad(leaf.grad.sum(), leaf)
    assert second.tolist() == [6.0, 6.0, 6.0]


def test_a_freed_graph_lets_go_of_saved_tensors():
    output = run_script(
        """
import weakref
x = torch.ones(2, requires_grad=True)
c = torch.ones(2)
y = (x * c).sum()
data = c.numpy()
alive = weakref.ref(c)
y.backward()
del c
print(alive() is None)
"""
    )
    assert output.split() == ["True"]


@needs_fork
def test_a_child_works_after_fork_fifty_times():
    output = run_script(
        """
import os, signal
x = torch.linspace(0, 1, 64, requires_grad=True)
sum(((x * i).tanh() * x).sum() for i in range(4)).backward()
expected = x.grad.clone()
good = 0
for _ in range(50):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        x.grad = None
        sum(((x * i).tanh() * x).sum() for i in range(4)).backward()
        os._exit(0 if torch.equal(x.grad, expected) else 1)
    _, status = os.waitpid(child, 0)
    good += os.waitstatus_to_exitcode(status) == 0
print(good)
""",
        timeout=300,
    )
    assert output.split()[-1] == "50"


@needs_fork
@pytest.mark.own
def test_a_child_works_after_a_fork_that_follows_parallel_work():
    output = run_script(
        """
import os, signal
torch.set_num_threads(4)
def work():
    w = torch.ones(400, 400, requires_grad=True)
    sum(((w * i) @ w).sum() for i in range(8)).backward()
    return w.grad
expected = work()
good = 0
for _ in range(10):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if torch.equal(work(), expected) else 1)
    _, status = os.waitpid(child, 0)
    good += os.waitstatus_to_exitcode(status) == 0
print(good)
""",
        timeout=300,
    )
    assert output.split()[-1] == "10"


@needs_fork
@pytest.mark.own
def test_a_thousand_children_are_forked_after_parallel_work_and_each_differentiates():
    output = run_script(
        """
import os, signal
torch.set_num_threads(4)
x = torch.linspace(0, 1, 20_000, requires_grad=True)
def work():
    x.grad = None
    sum(((x * i).tanh() * x).sum() for i in range(8)).backward()
    return x.grad
expected = work().clone()
good = 0
for _ in range(1000):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if torch.equal(work(), expected) else 1)
    _, status = os.waitpid(child, 0)
    good += os.waitstatus_to_exitcode(status) == 0
assert torch.equal(work(), expected)
print(good)
""",
        timeout=300,
    )
    assert output.split()[-1] == "1000"


def test_an_interpreter_with_live_graphs_and_threads_exits_cleanly():
    output = run_script(
        """
import threading
x = torch.ones(100, requires_grad=True)
y = (x * x).sum()
y.register_hook(lambda g: g)
x.register_hook(lambda g: x)
threading.Thread(target=lambda: (x * 2).sum().backward()).start()
print("bye")
"""
    )
    assert output.split() == ["bye"]

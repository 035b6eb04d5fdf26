"""Memory stays flat without the collector's help, and what nothing leads to is let go."""

import os
import warnings

import pytest
import rushlight as torch
from support import run_script

needs_linux = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc/self/statm")

GROWTH = """
import gc, os, warnings
warnings.simplefilter("ignore")
gc.disable()
def resident():
    if {collected}: gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")
{body}
for _ in range({first}): step()
before = resident()
for _ in range({then}): step()
print(resident() - before)
"""


def megabytes_grown(body, *, first, then, collected=False):
    """By how many MB `then` calls of the `step` that `body` defines let a process grow, after `first` calls."""
    script = GROWTH.format(body=body, first=first, then=then, collected=collected)
    return int(run_script(script)) / 1e6


@needs_linux
@pytest.mark.own
def test_a_hundred_thousand_small_graphs_leave_memory_flat():
    body = """
x = torch.ones(10, requires_grad=True)
def step():
    ((x * 2 + 1).tanh() * x).sum().backward()
"""
    assert megabytes_grown(body, first=5000, then=100_000) < 4


@needs_linux
@pytest.mark.own
def test_one_output_in_a_thousand_kept_alive_pins_nothing_else():
    body = """
steps, kept = 0, []
def step():
    global steps
    steps += 1
    x = torch.ones(10, requires_grad=True)
    y = x
    for _ in range(100):
        y = y * 1.5
    if steps % 1000 == 0:
        kept.append((x * 2).sum())
        assert len(kept) == steps // 1000
"""
    assert megabytes_grown(body, first=500, then=20_000) < 8


@needs_linux
@pytest.mark.own
def test_graphs_never_differentiated_are_freed_at_once():
    body = """
x = torch.ones(1000, requires_grad=True)
def step():
    y = x
    for _ in range(1000):
        y = y * 1.0001
"""
    assert megabytes_grown(body, first=1, then=100) < 8


@needs_linux
@pytest.mark.own
def test_training_with_changing_batch_sizes_reaches_a_plateau():
    body = """
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
"""
    assert megabytes_grown(body, first=500, then=3000) < 8


@needs_linux
@pytest.mark.own
def test_an_in_place_loop_over_a_buffer_without_recording_leaves_memory_flat():
    body = """
x = torch.zeros(100)
def step():
    x.add_(1); x[3:].mul_(1.0)
"""
    assert megabytes_grown(body, first=1000, then=100_000) < 2


@needs_linux
@pytest.mark.own
def test_ten_thousand_recorded_derivatives_of_parameters_leave_memory_flat():
    body = """
net = torch.nn.Linear(4, 4)
def step():
    net.zero_grad()
    loss = net(torch.ones(2, 4)).pow(2).sum()
    gradients = torch.autograd.grad(loss, list(net.parameters()), create_graph=True)
    sum(g.pow(2).sum() for g in gradients).backward()
"""
    assert megabytes_grown(body, first=500, then=10_000) < 5


@needs_linux
@pytest.mark.own
def test_ten_thousand_backwards_that_record_leave_memory_flat_without_clearing_anything():
    body = """
def step():
    x, w = torch.ones(10, requires_grad=True), torch.ones(10, requires_grad=True)
    (x**3 * w).sum().backward(create_graph=True)
"""
    assert megabytes_grown(body, first=500, then=10_000, collected=True) < 5


@needs_linux
@pytest.mark.own
def test_memory_of_a_large_graph_goes_back_to_the_system():
    body = """
x = torch.ones(1, requires_grad=True)
def chain(count):
    y = x
    for _ in range(count):
        y = y * 1.5
chain(1000)
def step():
    chain(100_000)
"""
    assert megabytes_grown(body, first=0, then=1) < 5


@needs_linux
@pytest.mark.own
def test_ten_thousand_recorded_backwards_on_one_leaf_leave_nothing_behind_it():
    body = """
import gc
def several(count):
    x = torch.ones(8, requires_grad=True)
    for _ in range(count):
        (x**2).sum().backward(create_graph=True)
several(300)
def step():
    several(10_000)
    gc.collect()
"""
    # The first ten thousand wait for the collector together, in memory that all later ones have again.
    assert megabytes_grown(body, first=1, then=3, collected=True) < 2


@needs_linux
@pytest.mark.own
@pytest.mark.parametrize("collecting", [False, True], ids=["without the collector", "with it"])
def test_thousands_of_networks_with_recorded_gradients_leave_memory_flat(collecting):
    body = f"""
if {collecting}: gc.enable()
nn = torch.nn
def step():
    net = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 1))
    net[0].weight.note = "an attribute"
    net(torch.ones(2, 4)).pow(2).sum().backward(create_graph=True)
"""
    assert megabytes_grown(body, first=100, then=3000) < 5


@needs_linux
@pytest.mark.own
def test_ten_thousand_recorded_backwards_through_functions_and_hooks_leave_memory_flat():
    body = """
import sys
gc.enable()
if not getattr(sys, "_is_gil_enabled", lambda: True)():
    # Without its lock the interpreter waits for forty times as many objects if memory has hardly grown.
    gc.set_threshold(100)
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
"""
    assert megabytes_grown(body, first=1000, then=10_000, collected=True) < 5


@pytest.mark.own
def test_circles_that_are_too_many_for_one_collection_go_with_later_ones():
    output = run_script(
        """
import gc, weakref
gc.disable()
references = []
for _ in range(250):
    y = torch.ones(2, requires_grad=True)
    for _ in range(1000):
        y = y * 1
    y.register_hook(lambda g, y=y: None)
    references.append(weakref.ref(y))
del y
for _ in range(3):
    gc.collect()
print(sum(reference() is not None for reference in references))
"""
    )
    assert output == "0\n"


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

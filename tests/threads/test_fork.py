"""A forked child can work, whatever its parent did before; and an interpreter ends while others work."""

import os

import pytest
from support import run_script

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")

CHILDREN = """
import os, signal
{body}
expected = work().clone()
good = 0
for _ in range({count}):
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        os._exit(0 if torch.equal(work(), expected) else 1)
    _, status = os.waitpid(child, 0)
    good += os.waitstatus_to_exitcode(status) == 0
assert torch.equal(work(), expected)
print(good)
"""


def children_that_agree(body, *, count):
    """How many of `count` forked children compute what their parent does in the `work` that `body` defines."""
    return int(run_script(CHILDREN.format(body=body, count=count), timeout=300))


@needs_fork
def test_a_child_works_after_fork_fifty_times():
    body = """
x = torch.linspace(0, 1, 64, requires_grad=True)
def work():
    x.grad = None
    sum(((x * i).tanh() * x).sum() for i in range(4)).backward()
    return x.grad
"""
    assert children_that_agree(body, count=50) == 50


@needs_fork
@pytest.mark.own
def test_a_child_works_after_a_fork_that_follows_parallel_work():
    body = """
torch.set_num_threads(4)
def work():
    w = torch.ones(400, 400, requires_grad=True)
    sum(((w * i) @ w).sum() for i in range(8)).backward()
    return w.grad
"""
    assert children_that_agree(body, count=10) == 10


@needs_fork
@pytest.mark.own
def test_a_thousand_children_are_forked_after_parallel_work_and_each_differentiates():
    body = """
torch.set_num_threads(4)
x = torch.linspace(0, 1, 20_000, requires_grad=True)
def work():
    x.grad = None
    sum(((x * i).tanh() * x).sum() for i in range(8)).backward()
    return x.grad
"""
    assert children_that_agree(body, count=1000) == 1000


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

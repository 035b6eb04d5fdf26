"""Places keep nothing alive for long, and are taken without the interpreter where there is none."""

import gc
import sys
import threading

import pytest
import rushlight as torch
from support import run_script

pytestmark = pytest.mark.own


def test_code_that_is_made_in_a_loop_does_not_pile_up():
    printed = run_script(
        """
        import gc, resource
        x = torch.ones(2, requires_grad=True)
        def peak():
            return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        def rounds(count, start):
            for i in range(count):
                # Each code object carries a constant of its own of 4 KB.
                exec(compile(f"y = x * {i + start}; t = '{'a' * 4096}{i + start}'", f"<{i + start}>", "exec"))
        rounds(3000, 0)
        gc.collect()
        before = peak()
        rounds(6000, 3000)
        print(peak() - before)
        """
    )
    assert int(printed) < 6_000


def test_the_line_of_code_that_was_dropped_long_ago_is_unknown_and_nothing_breaks():
    x = torch.ones(2, requires_grad=True)
    names = {"x": x}
    exec(compile("y = x * 2", "<early>", "exec"), names)
    for number in range(2500):
        exec(compile("z = x * 2", f"<late {number}>", "exec"), {"x": x})
    assert torch.graph(names["y"]).nodes[0].place in ("", "<early>:1")
    exec(compile("y = x * 2", "<last>", "exec"), names)
    assert torch.graph(names["y"]).nodes[0].place == "<last>:1"


def test_code_in_use_keeps_its_place():
    x = torch.ones(2, requires_grad=True)
    y = x * 2
    for number in range(2500):
        exec(compile("z = x * 2", f"<{number}>", "exec"), {"x": x})
    assert torch.graph(y).nodes[0].place.startswith(__file__)


def test_threads_record_places_of_their_own():
    found = {}

    def work(name):
        names = {"x": torch.ones(2, requires_grad=True)}
        code = compile("for _ in range(50): y = x * 2", f"<{name}>", "exec")
        exec(code, names)
        found[name] = torch.graph(names["y"]).nodes[0].place

    threads = [threading.Thread(target=work, args=(f"thread {number}",)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {f"thread {number}": f"<thread {number}>:1" for number in range(8)}


def test_recording_in_backward_without_the_interpreters_lock_is_safe():
    x = torch.ones(400, 400, requires_grad=True)
    y = (x @ x).exp().sin() @ x
    (slope,) = torch.autograd.grad(y.sum(), x, create_graph=True)
    slope.sum().backward()
    assert x.grad is not None


def test_a_place_keeps_no_variable_alive():
    class Big:
        pass

    import weakref

    def record(x):
        big = Big()
        return x * 2, weakref.ref(big)

    _, reference = record(torch.ones(2, requires_grad=True))
    gc.collect()
    assert reference() is None


def test_no_frame_object_is_made_of_a_function_that_records():
    x = torch.ones(2, requires_grad=True)
    blocks = sys.getallocatedblocks

    def record():
        start = blocks()
        first = x * 2
        between = blocks()
        second = x * 2
        return between - start, blocks() - between, first, second

    for _ in range(4):
        made_by_the_first, made_by_the_second, *_ = record()
    assert made_by_the_first == made_by_the_second

"""Helpers of the suites: exact failures, finite differences, comparison with numpy, fresh interpreters."""

import doctest
import io
import math
import os
import socket
import subprocess
import sys
import textwrap
import threading
import traceback
import warnings
from contextlib import contextmanager

import numpy as np
import pytest

PARITY = os.environ.get("RUSHLIGHT_PARITY") == "1"


def alias_reference():
    """Let `import rushlight` mean the reference library, submodules included."""
    import torch

    with warnings.catch_warnings():
        # What it imports at the first use of forward mode warns of itself.
        warnings.simplefilter("ignore")
        from torch._decomp import decompositions_for_jvp  # noqa: F401
    for name, module in list(sys.modules.items()):
        if name == "torch" or name.startswith("torch."):
            sys.modules["rushlight" + name[len("torch") :]] = module
    assert sys.modules["rushlight"] is torch


@contextmanager
def raises(kind, text):
    """The block raises exactly `kind`, and its message begins with `text`.

    Begins, because a message may add what else is known (the line at fault) after the familiar words.
    """
    with pytest.raises(kind) as caught:
        yield caught
    assert type(caught.value) is kind
    message = str(caught.value)
    assert message[: len(text)] == text, f"message was: {message!r}"


def assert_raises_in(source, namespace, kind, text):
    """Run `source`, statements joined by "; ": its last one raises `kind` with a message that begins with `text`."""
    before, _, last = source.rpartition("; ")
    exec(before, namespace)
    with raises(kind, text):
        exec(last, namespace)


def assert_tensor(tensor, expected, dtype=None, tolerance=None):
    """Same shape, same dtype (when given), same values as the array `expected`."""
    expected = np.asarray(expected)
    if dtype is not None:
        assert tensor.dtype is dtype
    actual = tensor.detach().numpy()
    assert actual.shape == expected.shape
    if actual.dtype.kind != "f":
        np.testing.assert_array_equal(actual, expected)
        return
    if tolerance is None:
        tolerance = 1e-12 if actual.dtype == np.float64 else 2e-6
    np.testing.assert_allclose(actual, expected, rtol=tolerance, atol=tolerance)


def sample(*shape, seed=0, low=-2.0, high=2.0):
    """A float64 array of distinct, unremarkable numbers, the same at every run."""
    return np.random.default_rng(seed).uniform(low, high, shape)


def leaf(*values):
    """A leaf of these numbers as float64."""
    return tensor(*values, requires_grad=True)


def single_leaf(*values):
    """A leaf of these numbers, or of two, as float32."""
    import rushlight as torch

    return torch.tensor([float(value) for value in values or (1, 2)], requires_grad=True)


def tensor(*values, requires_grad=False):
    """A tensor of these numbers as float64."""
    import rushlight as torch

    return torch.tensor(values, dtype=torch.float64, requires_grad=requires_grad)


def numbers(*shape):
    """Different numbers of both signs, as float32."""
    import rushlight as torch

    return ((torch.arange(float(math.prod(shape))) * 7 % 11) / 5 - 1).reshape(shape)


def looped(function, *args):
    """What `function` gives for one sample after the other."""
    import rushlight as torch

    return torch.stack([function(*sample) for sample in zip(*args, strict=True)])


def tangent(x):
    """The tangent of a dual tensor as a list, if it has one."""
    from rushlight.autograd import forward_ad

    found = forward_ad.unpack_dual(x).tangent
    return None if found is None else found.tolist()


def finite_difference(function, arrays, weights, step=1e-6):
    """Central differences of sum(weights * function(*arrays)) by every element of every array."""
    import rushlight as torch

    def total(values):
        with torch.no_grad():
            output = function(*[torch.tensor(value, dtype=torch.float64) for value in values])
        return float((output.numpy() * weights).sum())

    gradients = []
    for position, array in enumerate(arrays):
        gradient = np.zeros_like(array)
        for index in np.ndindex(array.shape):
            sides = []
            for sign in (1, -1):
                moved = [value.copy() for value in arrays]
                moved[position][index] += sign * step
                sides.append(total(moved))
            gradient[index] = (sides[0] - sides[1]) / (2 * step)
        gradients.append(gradient)
    return gradients


def check_gradient(function, *arrays, tolerance=1e-5):
    """The gradients of `function` at `arrays` agree with finite differences, under uneven weights."""
    import rushlight as torch

    arrays = [np.asarray(array, dtype=np.float64) for array in arrays]
    leaves = [torch.tensor(array, dtype=torch.float64, requires_grad=True) for array in arrays]
    output = function(*leaves)
    assert output.requires_grad
    weights = np.random.default_rng(99).uniform(0.5, 1.5, tuple(output.shape))
    output.backward(torch.tensor(weights, dtype=torch.float64))
    expected = finite_difference(function, arrays, weights)
    for leaf, wanted in zip(leaves, expected, strict=True):
        assert leaf.grad is not None
        np.testing.assert_allclose(leaf.grad.numpy(), wanted, rtol=tolerance, atol=tolerance)


def prelude():
    """What a program begins with, so that `torch` is what is tested."""
    text = f"import sys; sys.path.insert(0, {os.path.dirname(os.path.abspath(__file__))!r})\n"
    if PARITY:
        text += "from support import alias_reference; alias_reference()\n"
    return text + "import rushlight as torch\n"


def run_script(source, timeout=120):
    """Run `source` in a fresh interpreter and return what it printed; a failure there is a failure here."""
    done = subprocess.run(
        [sys.executable, "-c", prelude() + textwrap.dedent(source)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
    )
    assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_processes(count, source, timeout=100, join=True):
    """Run `source` in as many processes, each with its `rank` among `world`; return what each printed.

    They join each other first unless `join` is false. What one fails with is a failure here.
    """
    begun = begin_processes(count, source, join)
    try:
        ended = [process.communicate(timeout=timeout) for process in begun]
    finally:
        for process in begun:
            process.kill()
    for process, (shown, told) in zip(begun, ended, strict=True):
        assert process.returncode == 0, f"exit {process.returncode}\n{shown}\n{told}"
    return [shown for shown, _ in ended]


def begin_processes(count, source, join=True):
    """Start what `run_processes` waits for."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    begin = prelude() + (
        "import os\ndist = torch.distributed\nrank, world = int(os.environ['RANK']), int(os.environ['WORLD_SIZE'])\n"
    )
    begin += "dist.init_process_group('gloo')\n" if join else ""
    end = "\ndist.destroy_process_group()\n" if join else ""
    told = {"WORLD_SIZE": str(count), "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port)}
    command = [sys.executable, "-W", "ignore", "-c", begin + textwrap.dedent(source) + end]
    return [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **told, "RANK": str(rank), "RUSHLIGHT_NUM_THREADS": "1"},
        )
        for rank in range(count)
    ]


def run_together(*works):
    """Run all works at once; the first exception of any comes out here."""
    failures, gate = [], threading.Barrier(len(works))

    def guarded(work):
        try:
            gate.wait(30)
            work()
        except BaseException as failure:
            failures.append(failure)

    threads = [threading.Thread(target=guarded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
        assert not thread.is_alive()
    if failures:
        raise failures[0]


def run_sessions(sessions, page, options=0, known=()):
    """How the interactive sessions of a page went, as doctest counts them, and what it has to complain of.

    `known` are names that the page does not import.
    """
    parsed = doctest.DocTestParser().get_doctest(sessions, dict(known), page, page, 0)
    complaints = io.StringIO()
    with pytest.MonkeyPatch.context() as patch:
        if sys.version_info < (3, 11):
            # doctest looks at the last part of an error alone there, which is a note if a package shows notes.
            parts = traceback.format_exception_only
            patch.setattr(traceback, "format_exception_only", lambda *error: ["".join(parts(*error))])
        outcome = doctest.DocTestRunner(optionflags=options).run(parsed, out=complaints.write)
    return outcome, complaints.getvalue()

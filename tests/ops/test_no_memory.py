"""Where there is no memory an operation raises, forward and backward, and the process goes on."""

import os

import pytest
from support import run_script

needs_linux = pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="reads /proc/self/statm")

# In a process of its own for every limit: what is left of one run would be memory that the next one has.
LIMITED = """
import os, resource

F = torch.nn.functional

def limited(work, megabytes):
    "What becomes of a process that has so much left: 'raised', 'done', or how it ended."
    child = os.fork()
    if child == 0:
        with open("/proc/self/statm") as file:
            taken = int(file.read().split()[0]) * resource.getpagesize()
        limit = taken + int(megabytes * 2**20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        try:
            work()
        except (RuntimeError, MemoryError):
            os._exit(3)
        except BaseException:
            os._exit(4)
        os._exit(0)
    status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    return {0: "done", 3: "raised"}.get(status, f"ended with {status}")
"""

SETUPS = {
    "a product": ("x = torch.rand(2000, 2000, requires_grad=True)", "(x @ x).sum().backward()"),
    "products": ("x = torch.rand(64, 200, 200, requires_grad=True)", "(x @ x).sum().backward()"),
    "singular values": (
        "x = torch.rand(300, 200, requires_grad=True)",
        "torch.linalg.svdvals(x).sum().backward()",
    ),
    "three columns": ("x = torch.rand(200_000, 3)", "torch.linalg.svd(x, full_matrices=False)"),
    "eigenvalues": ("x = torch.rand(200, 200)", "torch.linalg.eig(x)"),
    "symmetric": ("x = torch.rand(300, 300)", "torch.linalg.eigh(x)"),
    "reflections": ("x = torch.rand(200_000, 4, dtype=torch.complex128)", "torch.linalg.qr(x)"),
    "an inverse": ("x = torch.rand(700, 700, requires_grad=True)", "x.inverse().sum().backward()"),
    "equations": ("x = torch.rand(20_000, 40)", "torch.linalg.lstsq(x, x)"),
    "images": (
        "x, w = torch.rand(4, 8, 200, 200), torch.rand(16, 8, 5, 5, requires_grad=True)",
        "F.conv2d(x, w).sum().backward()",
    ),
    "windows": ("x = torch.rand(1, 3, 500, 500, requires_grad=True)", "F.unfold(x, 5).sum().backward()"),
    "a sequence": (
        "m, x = torch.nn.LSTM(64, 128), torch.rand(500, 16, 64)",
        "m(x)[0].sum().backward()",
    ),
}


@needs_linux
@pytest.mark.own
@pytest.mark.parametrize("name", SETUPS)
def test_what_finds_no_memory_raises(name):
    setup, work = SETUPS[name]
    limits = [0.5, 1, 2, 4, 6, 8, 12, 16, 24, 32, 48, 64]
    body = f"{setup}\nprint(*[limited(lambda: {work}, limit) for limit in {limits}], sep=';')\n"
    found = run_script(LIMITED + body, timeout=300).strip().split(";")
    assert set(found) <= {"raised", "done"}
    assert "raised" in found

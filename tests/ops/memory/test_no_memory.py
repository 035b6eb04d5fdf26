"""Where there is no memory an operation raises, forward and backward, and the process goes on."""

import os
import shutil
import subprocess
from pathlib import Path

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


# Every large allocation of a program in turn is the one that fails. Smaller ones are tables of dimensions and nodes. What
# a library asks for itself, in products and factors of matrices, must not fail: memory is held for it meanwhile.
ONE_BY_ONE = """
import ctypes, gc
from rushlight import _rushlight as native

F = torch.nn.functional
allocator = ctypes.CDLL(None)
allocator.fail_allocation.argtypes = [ctypes.c_long, ctypes.c_size_t]
LARGE = 1 << 14
torch.set_num_threads(1)

def once(work, shapes, number):
    "What came of a run in which one allocation fails, and how many there were."
    leaves = [torch.rand(shape, requires_grad=True) for shape in shapes]
    for leaf in leaves:
        leaf.grad = torch.full_like(leaf, 7.0)
    failure = None
    allocator.fail_allocation(number, LARGE)
    try:
        work(*leaves).sum().backward()
    except BaseException as raised:
        failure = raised
    met = allocator.allocations_met()
    if failure is not None:
        assert isinstance(failure, (RuntimeError, MemoryError)), repr(failure)
        assert "allocate memory" in str(failure) or isinstance(failure, MemoryError), failure
        assert all(leaf.grad.eq(7).all() for leaf in leaves), "some gradients are new"
    return met, failure

def every(work, *shapes):
    once(work, shapes, 0)
    met, failed = once(work, shapes, 0)[0], 0
    gc.collect()
    before = native._allocated_bytes()
    for number in range(1, met + 1):
        failed += once(work, shapes, number)[1] is not None
    gc.collect()
    assert native._allocated_bytes() - before < LARGE, "memory is left"
    print(failed > 0)
"""

PROGRAMS = {
    "blocks": "every(lambda *x: torch.block_diag(*x).exp(), (70, 70), (70, 70), (70, 70))",
    "one gradient for two": "every(lambda a, b: (a + b).exp(), (9000,), (9000,))",
    "extremes": "every(lambda x: x.aminmax(dim=1)[0] * 3, (9000, 2))",
    "a number for many": "every(lambda x, y: x * y, (9000, 3), (1,))",
    "images": "every(lambda x, w: F.conv2d(x, w), (2, 3, 40, 40), (8, 3, 3, 3))",
    "windows on a line": "every(lambda x: x.unfold(0, 3, 2), (9000,))",
    "a grid": "every(lambda x, g: F.grid_sample(x, g * 2 - 1, align_corners=False), (2, 3, 40, 40), (2, 50, 50, 2))",
    "a list": "every(lambda x: torch.tensor(x.tolist()) + x, (9000,))",
    "a file": "import io\nevery(lambda x: x + (torch.save(x.detach(), io.BytesIO()) or 0), (9000,))",
    "bytes": "every(lambda x: x + len(native._bytes_of(x, 0, 36000)), (9000,))",
    "numbers in order": "every(lambda x: x.sort()[0].cumsum(0), (9000,))",
    "products": "every(lambda x, y: x @ y, (150, 150), (150, 150))",
    "singular values": "every(lambda x: torch.linalg.svdvals(x.double()), (80, 120))",
    "singular vectors": "every(lambda x: sum(torch.linalg.svd(x, False)[1:], x[:90, 0]), (150, 90))",
    "eigenvalues": "every(lambda x: torch.linalg.eigvals(x).abs(), (120, 120))",
    "symmetric": "every(lambda x: torch.linalg.eigh(x)[1].abs(), (120, 120))",
    "reflections": "every(lambda x: torch.linalg.qr(x)[1], (200, 90))",
    "equations": "every(lambda a, b: torch.linalg.lstsq(a, b)[0] + torch.linalg.solve(b, b), (150, 150), (150, 150))",
    "roots": "every(lambda x: torch.linalg.cholesky(x @ x.mT + 9 * torch.eye(120)), (120, 120))",
    "a power": "every(lambda x: torch.linalg.matrix_exp(x / 40), (100, 100))",
    "inverses": "every(lambda x: torch.linalg.pinv(x) + torch.linalg.inv(x), (100, 100))",
    "waves": "every(lambda x: torch.fft.fft2(x).abs() + torch.fft.rfft2(x.mT).abs().sum(), (90, 97))",
    "choices": "every(lambda x: x[torch.arange(8999, -1, -1)], (9000,))",
}


@pytest.fixture(scope="module")
def failing_malloc(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None or not os.path.exists("/proc/self/statm"):
        pytest.skip("needs a C compiler, and a system that loads libraries before others")
    library = tmp_path_factory.mktemp("malloc") / "failing.so"
    source = Path(__file__).parent / "failing_malloc.c"
    made = subprocess.run([compiler, "-O1", "-shared", "-fPIC", "-o", library, source], check=False)
    if made.returncode != 0:
        pytest.skip("the C library has no such functions")
    return library


@needs_linux
@pytest.mark.own
@pytest.mark.parametrize("name", PROGRAMS)
def test_any_large_allocation_may_fail(name, failing_malloc, monkeypatch):
    monkeypatch.setenv("LD_PRELOAD", str(failing_malloc))
    # What is kept for its next use is not asked for.
    monkeypatch.setenv("RUSHLIGHT_CACHE_MB", "0")
    assert run_script(ONE_BY_ONE + PROGRAMS[name], timeout=300).split() == ["True"]

"""What a library weighs: time to import, size on disk, bytes a graph node. Each in fresh processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
CHAIN = 200_000

# What one operation of a chain costs: how much the process has grown when only its last tensor is held.
BYTES_A_NODE = """
import os, sys, importlib
torch = importlib.import_module(sys.argv[1])
count = int(sys.argv[2])
x = torch.ones(1, requires_grad=True)
w = torch.full((1,), -0.5)

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

def chain(count):
    y = x
    for _ in range(count // {step}):
        y = {expression}
    return y

chain(count // 100)
resident()  # What it takes to ask is there from now on.
before = resident()
last = chain(count)
print((resident() - before) / count)
"""

# By how much the process grows where derivatives are recorded themselves and the program clears nothing.
GROWTH = """
import gc, os, sys, importlib, warnings
warnings.simplefilter("ignore")
torch = importlib.import_module(sys.argv[1])
gc.disable()

def resident():
    with open("/proc/self/statm") as statm:
        return int(statm.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

exec({setup!r})
def run():
    exec(code)
code = compile({code!r}, "<code>", "exec")
for _ in range(300):
    run()
resident()  # What it takes to ask is there from now on.
before = resident()
for _ in range({runs}):
    run()
{last}
print(max(0, resident() - before))
"""

FRESH = "x = torch.ones(8, requires_grad=True); ((x * x).exp()).sum().backward(create_graph=True)"
NETWORK = """
model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
model(torch.ones(2, 4)).sum().backward(create_graph=True)
"""
KEPT = "(x * x).sum().backward(create_graph=True)"
LEAF = "x = torch.ones(8, requires_grad=True)"
GROWING = {
    "10,000 × `backward(create_graph=True)`, leaves made anew": ("", FRESH, 10_000, ""),
    "the same, one leaf through all": (LEAF, KEPT, 10_000, ""),
    "the same, when that leaf has gone": (LEAF, KEPT, 10_000, "del x; gc.collect()"),
    "2,000 × the same, networks made anew": ("", NETWORK, 2_000, ""),
}

# What looking up the running line takes, which every node does when it is recorded.
PLACE = """
import timeit
from rushlight import _rushlight
count = 1_000_000
print(min(timeit.repeat(lambda: _rushlight._look_around(count), number=1, repeat=7)) / count)
"""

INSTALLED = """
import sys
from importlib.metadata import files
print(sum(f.locate().stat().st_size for f in files(sys.argv[1]) if f.locate().exists()))
"""


def output_of(python: str, code: str, *arguments: str) -> str:
    command = [python, "-c", code, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def bytes_a_node(python: str, library: str, expression: str, step: int) -> float | None:
    if not sys.platform.startswith("linux"):
        return None
    code = BYTES_A_NODE.format(expression=expression, step=step)
    return float(output_of(python, code, library, str(CHAIN)))


def scalar_chain(python: str, library: str) -> float | None:
    """Nothing is saved but the factor: the node alone."""
    return bytes_a_node(python, library, "y * 1.0001", step=1)


def saving_chain(python: str, library: str) -> float | None:
    """Tensors that the program has dropped and their nodes still need."""
    return bytes_a_node(python, library, "(y * w).exp()", step=2)


def growth(python: str, library: str, setup: str, code: str, runs: int, last: str) -> float | None:
    """Bytes by which the process has grown after so many runs, with the collector off, and `last`."""
    if not sys.platform.startswith("linux"):
        return None
    script = GROWTH.format(setup=setup, code=code, runs=runs, last=last)
    return float(output_of(python, script, library))


def place_seconds(python: str) -> float:
    """Seconds that a node's place in the program takes."""
    return float(output_of(python, PLACE))


def import_seconds(python: str, library: str, rounds: int) -> float:
    """By how much `import` makes the shortest possible run of the interpreter longer, with the Python files
    compiled, as `pip install` leaves them."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}

    def run(code: str) -> float:
        started = time.perf_counter()
        subprocess.run([python, "-c", code], check=True, env=environment)
        return time.perf_counter() - started

    run(f"import {library}")  # compiles what is not compiled
    pairs = [(run("pass"), run(f"import {library}")) for _ in range(rounds)]
    return min(imported for _, imported in pairs) - min(bare for bare, _ in pairs)


def imports_numpy(python: str, library: str) -> bool:
    return output_of(python, f"import sys, {library}; print('numpy' in sys.modules)") == "True"


def wheel_sizes() -> tuple[int, int]:
    """The bytes of a wheel as `make wheel` packs it, packed and unpacked."""
    with tempfile.TemporaryDirectory() as folder:
        packed = ["--release", "--quiet", "--compression-level", "9"]
        command = [sys.executable, "-m", "maturin", "build", *packed, "--out", folder]
        subprocess.run(command, cwd=ROOT, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        subprocess.run([sys.executable, ROOT / "tools" / "repack.py", wheel], check=True)
        with zipfile.ZipFile(wheel) as archive:
            return wheel.stat().st_size, sum(entry.file_size for entry in archive.infolist())


def installed_size(python: str, library: str) -> int:
    return int(output_of(python, INSTALLED, library))

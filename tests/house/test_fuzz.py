"""The search for faults finds what is planted for it, and nothing in some hundred programs of each target."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.own

FUZZ = Path(__file__).resolve().parents[2] / "fuzz"
TARGETS = sorted(path.stem for path in (FUZZ / "targets").glob("[a-z]*.py"))
PLANTED = {
    "1 / 0": None,
    "raise SystemError('lost')": None,  # Said by the program itself, not by the library.
    "torch.add_no_such_function()": None,
    "while True: torch.ones(2) + 1": None,
    "raise Wrong('another answer')": ["wrong", "another answer"],
    "raise RuntimeError('INTERNAL ASSERT FAILED')": ["words", "RuntimeError: INTERNAL ASSERT FAILED"],
    "import os; os.write(2, b'thread panicked at')": ["panic", "thread panicked at"],
    "class Panic(BaseException): pass\nraise Panic('at work')": ["Panic", "at work"],
}


def worker(*given, **options):
    command = [sys.executable, str(FUZZ / "worker.py"), *map(str, given)]
    return subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=200, check=False, **options)


@pytest.mark.parametrize("program", PLANTED)
def test_a_planted_fault_is_told_and_nothing_else(program):
    assert json.loads(worker("--once", input=program).stdout) == PLANTED[program]


def test_a_process_that_dies_has_noted_its_program(tmp_path):
    notes, programs = tmp_path / "notes", tmp_path / "programs.json"
    notes.write_bytes(bytes(1 << 16))
    programs.write_text(json.dumps(["torch.ones(2)", "import os; os.abort()", "torch.ones(3)"]))
    assert worker(programs, 0, 0, 3, 1, notes).returncode < 0
    assert b"os.abort()" in notes.read_bytes()


@pytest.mark.parametrize("target", TARGETS)
def test_programs_of_a_target_are_made_again_by_their_numbers(target):
    source = f"import random, importlib\nprogram = importlib.import_module('targets.{target}').program\n"
    source += "print([program(random.Random(str(i))) for i in range(30)])"
    made = [
        subprocess.run(
            [sys.executable, "-c", source], capture_output=True, text=True, cwd=FUZZ, timeout=100, check=True
        ).stdout
        for _ in range(2)
    ]
    assert made[0] == made[1] != ""


@pytest.mark.parametrize("target", TARGETS)
def test_some_programs_of_every_target_run_without_a_fault(target, tmp_path):
    notes = tmp_path / "notes"
    notes.write_bytes(bytes(1 << 16))
    done = worker(target, 0, 0, 150, 1, notes)
    assert done.returncode == 0, notes.read_bytes()
    assert [json.loads(line)[0] for line in done.stdout.splitlines()] == ["end"], done.stdout

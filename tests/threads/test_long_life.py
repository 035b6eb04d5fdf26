"""A process that lives long, and is looked at closely while it does, ends clean."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).resolve().parents[2] / "benchmarks" / "long_life.py"


@pytest.mark.own
def test_some_steps_under_every_check_of_the_interpreter_end_clean():
    # So few steps say nothing of memory: that is what the script is run for by hand.
    command = [sys.executable, "-X", "dev", "-W", "error", str(SCRIPT), "--steps", "1500", "--most", "100"]
    environment = {**os.environ, "PYTHONMALLOC": "debug"}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=250, check=False)
    assert (done.returncode, done.stderr) == (0, ""), done.stdout + done.stderr
    assert "grew by" in done.stdout

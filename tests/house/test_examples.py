"""The tour runs as `make demo` runs it, and ends with a picture."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PICTURE = EXAMPLES / "output" / "spirals.png"
pytestmark = pytest.mark.own


@pytest.fixture(scope="module")
def tour():
    PICTURE.unlink(missing_ok=True)
    command = [sys.executable, str(EXAMPLES / "tour.py")]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert finished.returncode == 0, finished.stderr
    return finished.stdout


def test_the_tour_shows_what_the_prompt_would_show(tour):
    assert "grad_fn=<AddBackward0>" in tour
    assert tour.count("Error") == 1, "only the second backward of the lesson is meant to fail"


def test_the_tour_learns_both_spirals_and_leaves_a_picture(tour):
    assert "right 100%" in tour
    assert PICTURE.read_bytes().startswith(b"\x89PNG\r\n")


def test_the_tour_prints_no_escape_codes_where_there_is_no_terminal(tour):
    assert len(tour) > 1000
    assert "\x1b" not in tour


def test_the_small_engine_finds_what_the_large_one_finds():
    command = [sys.executable, str(EXAMPLES / "tape.py")]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert finished.returncode == 0, finished.stderr
    own, own_twice, large, large_twice = (
        line.partition(":")[2].strip() for line in finished.stdout.splitlines()
    )
    assert own == large and own_twice == large_twice
    assert own.startswith("[") and float(own.split("]")[1]) > 0


PROGRAMS = sorted(path for path in (EXAMPLES / "gallery").glob("*.py") if path.stem != "drawing")


def test_the_gallery_has_ten_programs_and_its_page_names_them():
    page = (EXAMPLES.parent / "docs" / "gallery.md").read_text("utf-8")
    assert len(PROGRAMS) == 10
    assert all(f"`{program.name}`" in page for program in PROGRAMS)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda program: program.stem)
def test_a_program_of_the_gallery_leaves_a_picture(program):
    if program.stem == "fit":
        pytest.importorskip("scipy")
    picture = EXAMPLES / "output" / f"{program.stem}.svg"
    picture.unlink(missing_ok=True)
    command = [sys.executable, str(program), "--short"]
    finished = subprocess.run(command, capture_output=True, text=True, encoding="utf-8")
    assert finished.returncode == 0, finished.stderr
    drawn = ElementTree.fromstring(picture.read_text("utf-8"))
    assert len(list(drawn.iter())) > 6
    assert "nan" not in picture.read_text("utf-8")

"""What the documentation says is so: every session answers as shown, every path exists, every room is on its map."""

import re
from pathlib import Path

import pytest
from support import run_sessions

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "autograd-mechanics.md"
SESSIONS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_page_has_sessions():
    assert len(SESSIONS) > 10


@pytest.mark.own
def test_the_sessions_of_the_page_answer_as_shown():
    # One after the other: later ones use what earlier ones imported.
    outcome, complaints = run_sessions("\n".join(SESSIONS), PAGE.name)
    assert outcome.attempted > 50
    assert outcome.failed == 0, complaints


def test_the_files_that_the_page_links_exist():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE.read_text("utf-8"))
    assert links and all((PAGE.parent / link).exists() for link in links)


@pytest.mark.own
def test_the_map_of_the_tests_has_every_folder_and_no_other():
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*") if path.suffix in {".py", ".rs"}}
    named = re.findall(r"`(\w+)/`", (ROOT / "tests" / "README.md").read_text("utf-8"))
    assert set(named) == folders

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


@pytest.mark.parametrize("page", sorted(PAGE.parent.glob("*.md")), ids=lambda page: page.stem)
def test_the_files_that_a_page_links_or_names_exist(page):
    text = page.read_text("utf-8")
    links = [page.parent / link for link in re.findall(r"\]\((?!https?:)([^)#]+)\)", text)]
    named = [ROOT / path for path in re.findall(r"`(src/[\w/.]+)`", text)]
    missing = [str(path) for path in links + named if not path.exists()]
    assert not missing


def test_pages_link_files():
    assert re.findall(r"\]\(([^)#]+)\)", PAGE.read_text("utf-8"))


@pytest.mark.own
def test_the_map_of_the_tests_has_every_folder_and_no_other():
    folders = {path.parent.name for path in (ROOT / "tests").glob("*/*") if path.suffix in {".py", ".rs"}}
    named = re.findall(r"`(\w+)/`", (ROOT / "tests" / "README.md").read_text("utf-8"))
    assert set(named) == folders

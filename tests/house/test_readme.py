"""What the README and its companions show is so: the code runs, the commands and the files exist."""

import contextlib
import doctest
import io
import re
from pathlib import Path

import pytest
from support import run_sessions

ROOT = Path(__file__).resolve().parents[2]
PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/index.md")]

# A block of Python, and the block of text after it that says what it prints.
BLOCK = re.compile(r"```python\n(?P<code>.*?)```(?:\n\n```text\n(?P<printed>.*?)```)?", re.DOTALL)
BLOCKS = [match.groupdict() for match in BLOCK.finditer((ROOT / "README.md").read_text("utf-8"))]
SESSIONS = [block["code"] for block in BLOCKS if block["code"].startswith(">>>")]
SCRIPTS = [block for block in BLOCKS if not block["code"].startswith(">>>")]


def test_the_readme_shows_a_session_and_a_script():
    assert SESSIONS
    assert SCRIPTS


@pytest.mark.parametrize("session", SESSIONS)
def test_sessions_of_the_readme_answer_as_shown(session):
    outcome, complaints = run_sessions(session, "README.md", doctest.ELLIPSIS)
    assert outcome.attempted > 0
    assert outcome.failed == 0, complaints


@pytest.mark.parametrize("script", SCRIPTS)
def test_scripts_of_the_readme_print_what_stands_below_them(script):
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(script["code"], "README.md", "exec"), {"__name__": "__main__"})
    assert script["printed"] is not None
    assert printed.getvalue() == script["printed"]


def test_every_make_target_that_is_written_of_exists():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    targets = set(re.findall(r"^([a-z]+):", makefile, re.MULTILINE))
    command = re.compile(r"(?:^|`)make ([a-z]+)", re.MULTILINE)
    named = {name for page in PAGES for name in command.findall(page.read_text("utf-8"))}
    assert {"demo", "test"} <= named
    assert named <= targets


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_file_that_is_linked_exists(page):
    links = re.findall(r"\]\(([^)#]+)[^)]*\)", page.read_text("utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing

"""What is told once, as a note in the sources, is found by those who look for it."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
COMMENT = r"[ \t]*(?://[/!]?|#)[ \t]*"
HEADING = re.compile(rf"^{COMMENT}Note \[([^\]]+)\]\n{COMMENT}----$", re.MULTILINE)
REFERENCE = re.compile(r"Note \[([^\]]+)\]")
pytestmark = pytest.mark.own


def sources():
    for room in ("src", "bindings/src", "python", "tools"):
        yield from (path for path in (ROOT / room).rglob("*") if path.suffix in {".py", ".rs"})


def notes():
    """The files in which each note stands, and those in which others refer to it."""
    told, referred = {}, {}
    for path in sources():
        text = path.read_text("utf-8")
        for title in HEADING.findall(text):
            told.setdefault(title, []).append(path)
        # A comment that goes on in the next line is one.
        rest = re.sub(rf"\n{COMMENT}", " ", HEADING.sub("", text))
        for title in REFERENCE.findall(rest):
            referred.setdefault(title, set()).add(path)
    return told, referred


def test_every_note_stands_in_one_place():
    told, _ = notes()
    assert {title: paths for title, paths in told.items() if len(paths) > 1} == {}
    assert len(told) > 10


def test_every_reference_has_its_note():
    told, referred = notes()
    assert referred.keys() - told.keys() == set()


def test_every_note_is_referred_to_by_another_file():
    told, referred = notes()
    assert [title for title, (home,) in told.items() if not referred.get(title, set()) - {home}] == []

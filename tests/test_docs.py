"""What the pages about autograd show is so: every session answers as shown."""

import doctest
import io
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "autograd-mechanics.md"
SESSIONS = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


def test_the_page_has_sessions():
    assert len(SESSIONS) > 10


@pytest.mark.own
def test_the_sessions_of_the_page_answer_as_shown():
    # One after the other: later ones use what earlier ones imported.
    parsed = doctest.DocTestParser().get_doctest("\n".join(SESSIONS), {}, PAGE.name, str(PAGE), 0)
    complaints = io.StringIO()
    outcome = doctest.DocTestRunner().run(parsed, out=complaints.write)
    assert outcome.attempted > 50
    assert outcome.failed == 0, complaints.getvalue()


def test_the_files_that_the_page_links_exist():
    links = re.findall(r"\]\(([^)#]+)\)", PAGE.read_text("utf-8"))
    assert links and all((PAGE.parent / link).exists() for link in links)

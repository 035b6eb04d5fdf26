"""What the documentation says is so: every session answers as shown, every path exists, every room is on its map."""

import re
from pathlib import Path

import docs_site
import pytest
import rushlight
from support import run_sessions

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "autograd-mechanics.md"


def sessions_of(page):
    return re.findall(r"```python\n(>>> .*?)```", page.read_text("utf-8"), re.DOTALL)


SESSIONS = sessions_of(PAGE)
GUIDES = [PAGE.parent / f"{name}.md" for name in ("from-torch", "performance", "extending", "finding-out")]


def test_the_page_has_sessions():
    assert len(SESSIONS) > 10


@pytest.mark.own
def test_the_sessions_of_the_page_answer_as_shown():
    # One after the other: later ones use what earlier ones imported.
    outcome, complaints = run_sessions("\n".join(SESSIONS), PAGE.name)
    assert outcome.attempted > 50
    assert outcome.failed == 0, complaints


@pytest.mark.own
@pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.stem)
def test_the_sessions_of_a_guide_answer_as_shown(page):
    outcome, complaints = run_sessions("\n".join(sessions_of(page)), page.name)
    assert outcome.attempted > 5
    assert outcome.failed == 0, complaints


@pytest.mark.own
def test_every_page_has_a_place_in_the_site():
    listed = re.findall(r": ([\w-]+\.md)$", (ROOT / "mkdocs.yml").read_text("utf-8"), re.MULTILINE)
    written = {page.name for page in PAGE.parent.glob("*.md")}
    assert written <= set(listed) and len(listed) == len(set(listed))


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
    tests = ROOT / "tests"
    files = [
        path.relative_to(tests) for path in tests.glob("*/**/*") if path.suffix in {".py", ".rs", ".toml"}
    ]
    folders = {path.parts[0] for path in files}
    named = re.findall(r"`(\w+)/`", (ROOT / "tests" / "README.md").read_text("utf-8"))
    assert set(named) == folders


@pytest.mark.own
def test_the_reference_has_what_docstrings_say():
    page = docs_site.entry("is_tensor", rushlight.is_tensor)
    assert page.startswith("## is_tensor\n") and "Tell whether `obj` is a tensor." in page
    assert page.count("```") == 4


@pytest.mark.own
def test_links_of_the_site_lead_to_pages_of_it():
    found = docs_site.with_links_in_the_site(
        "[a](../GLOSSARY.md#x) [b](compile.md) [c](../src/lib.rs) [d](https://d)"
    )
    assert found == "[a](GLOSSARY.md#x) [b](compile.md) c [d](https://d)"


@pytest.mark.own
def test_the_site_tells_differences_by_sentences_of_tests():
    told = docs_site.sentences_of_own_tests()
    assert (
        told.startswith("### ")
        and told.count("\n- ") > 100
        and "_" not in told.partition("\n- ")[2].partition("\n")[0]
    )

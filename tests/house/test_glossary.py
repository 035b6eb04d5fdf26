"""The glossary, and the pages about the sources, speak of what is there."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "GLOSSARY.md").read_text() if (ROOT / "GLOSSARY.md").exists() else ""


def places(text):
    """Files and folders that the first column names, `{a,b}` written out."""
    for row in re.findall(r"^\| ([^|]*) \|", text, re.M)[1:]:
        for path in re.findall(r"`([\w/{},.]*/[\w/{},.]*)`", row):
            stem, _, rest = path.partition("{")
            yield from (stem + end for end in rest.rstrip("}").split(",")) if rest else (path,)


@pytest.mark.own
def test_the_glossary_names_places_that_exist():
    named = sorted(set(places(TEXT)))
    assert len(named) > 25
    roots = (ROOT / "src", ROOT)
    missing = [
        name for name in named if not any((r / name).exists() or (r / f"{name}.rs").exists() for r in roots)
    ]
    assert not missing


@pytest.mark.own
@pytest.mark.parametrize("page", ["ARCHITECTURE.md", "CONTRIBUTING.md"])
def test_pages_about_the_sources_name_files_that_exist(page):
    named = set(re.findall(r"`((?:\w+/)+\w+\.(?:rs|py|txt|md))`", (ROOT / page).read_text()))
    assert len(named) > 15
    roots = [
        ROOT / root for root in ("", "src", "src/kernels", "src/ops", "bindings/src", "python/rushlight")
    ]
    roots.append(ROOT / "python/rushlight/nn")
    assert sorted(name for name in named if not any((root / name).exists() for root in roots)) == []

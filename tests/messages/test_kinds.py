"""Every kind of failure that the engine has is worded, from exactly the fields that it carries."""

import re
import string
from importlib import import_module
from pathlib import Path

import pytest

pytestmark = pytest.mark.own

FAMILIES = Path(__file__).resolve().parents[2] / "src" / "error"
NO_FAMILIES = {"mod", "value"}


def kinds():
    from rushlight._rushlight import error_kinds

    return error_kinds()


def messages():
    from rushlight._messages.table import MESSAGES

    return MESSAGES


def fields_of(template):
    return {name for _, name, _, _ in string.Formatter().parse(template) if name}


def nested_fields_of(template):
    """Fields of the template and of the format specifications in it."""
    found = set()
    for _, name, specification, _ in string.Formatter().parse(template):
        if name:
            found |= {name} | fields_of(specification or "")
    return found


def test_every_kind_of_the_engine_has_words():
    assert len(kinds()) > 40
    assert [kind for kind in kinds() if kind not in messages()] == []


def test_every_word_belongs_to_a_kind_of_the_engine():
    assert [kind for kind in messages() if kind not in kinds()] == []


def test_words_use_only_fields_that_the_engine_gives():
    wanting = {
        kind: nested_fields_of(messages()[kind][1]) - set(fields)
        for kind, fields in kinds().items()
        if kind in messages()
    }
    assert {kind: names for kind, names in wanting.items() if names} == {}


@pytest.mark.parametrize("family", sorted({path.stem for path in FAMILIES.glob("*.rs")} - NO_FAMILIES))
def test_the_words_of_a_family_stand_in_the_file_of_its_name(family):
    declared = re.findall(r"^    ([A-Z]\w+) \{", (FAMILIES / f"{family}.rs").read_text("utf-8"), re.MULTILINE)
    worded = getattr(import_module(f"rushlight._messages.{family}"), family.upper())
    assert declared and set(worded) == set(declared)

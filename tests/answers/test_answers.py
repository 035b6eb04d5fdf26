"""Operators answer what stands in the tables beside this file: values, types, strides, nodes, errors, warnings."""

import sys
from pathlib import Path

import pytest
import rushlight as torch

sys.path.insert(0, str(Path(__file__).parent))

from answers import answer, rows

ROWS = [
    pytest.param(source, expected, id=f"{section}: {source}")
    for path in sorted(Path(__file__).parent.glob("*.txt"))
    for section, source, expected in rows(path)
]


def test_the_tables_were_found():
    assert len(ROWS) > 100


@pytest.mark.parametrize(("source", "expected"), ROWS)
def test_an_expression_comes_to_what_the_table_says(source, expected):
    assert answer(torch, source) == expected

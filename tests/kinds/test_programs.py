"""Programs with tensors of other kinds print what stands in the tables beside this file."""

import pytest
import rushlight as torch
from kinds.programs import answer, rows


@pytest.mark.parametrize(("source", "expected"), rows(), ids=[source for source, _ in rows()])
def test_a_program_prints_what_is_recorded(source, expected):
    assert answer(torch, source) == expected

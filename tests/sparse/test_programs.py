"""Programs with sparse tensors print what stands in the table beside this file."""

import pytest
import rushlight as torch
from sparse.programs import answer, rows


@pytest.mark.parametrize(("source", "expected"), rows(), ids=[source for source, _ in rows()])
def test_a_program_prints_what_is_recorded(source, expected):
    assert answer(torch, source) == expected

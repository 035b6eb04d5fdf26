"""Every failure in the tables beside this file has the class and the text written there.

A table alternates a line of source (statements joined by "; ", the last one fails) with an indented line
`Class: text`. The message must begin with the text, where `\\n` stands for a line break; what follows is free.
"""

from pathlib import Path

import numpy as np
import pytest
import rushlight as torch
from support import assert_raises_in, leaf

CLASSES = {
    kind.__name__: kind
    for kind in (
        AssertionError,
        AttributeError,
        IndexError,
        KeyError,
        NotImplementedError,
        RuntimeError,
        TypeError,
        ValueError,
        ZeroDivisionError,
    )
}


def read_tables():
    rows = []
    for path in sorted(Path(__file__).parent.glob("*.txt")):
        lines = [line for line in path.read_text().splitlines() if line and not line.startswith("#")]
        for source, failure in zip(lines[::2], lines[1::2], strict=True):
            kind, _, text = failure.strip().partition(": ")
            rows.append(
                pytest.param(source, CLASSES[kind], text.replace("\\n", "\n"), id=f"{path.stem}: {source}")
            )
    return rows


ROWS = read_tables()


def test_the_tables_were_found():
    assert len(ROWS) > 300


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("source", "kind", "text"), ROWS)
def test_the_failure_has_the_expected_class_and_text(source, kind, text):
    names = {"torch": torch, "np": np, "nn": torch.nn, "F": torch.nn.functional, "leaf": leaf}
    assert_raises_in(source, names, kind, text)

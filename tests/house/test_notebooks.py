"""The notebooks show what their readers will see: every cell, output by output."""

import pytest
from notebook_runner import code_cells, comparable, is_random, notebook_paths, run

PATHS = notebook_paths()
per_notebook = pytest.mark.parametrize("path", PATHS, ids=lambda path: path.stem)


def assert_same_outputs(cell, actual, mask_numbers):
    expected = comparable(cell["outputs"], mask_numbers)
    assert comparable(actual, mask_numbers) == expected, "".join(cell["source"])


def test_there_are_five_notebooks():
    assert len(PATHS) == 5


@per_notebook
def test_every_cell_shows_what_was_recorded(path):
    cells = code_cells(path)
    shown = list(run(cells))
    assert sum(bool(outputs) for outputs in shown) >= 4
    for cell, actual in zip(cells, shown, strict=True):
        assert_same_outputs(cell, actual, mask_numbers=is_random(cell))


@per_notebook
def test_a_seeded_run_draws_the_recorded_random_numbers(path):
    cells = code_cells(path)
    for cell, actual in zip(cells, run(cells), strict=True):
        assert_same_outputs(cell, actual, mask_numbers=False)


@per_notebook
def test_cells_are_numbered_in_the_order_in_which_they_run(path):
    cells = code_cells(path)
    assert [cell["execution_count"] for cell in cells] == list(range(1, len(cells) + 1))

"""Sizes of the blocks of sparse matrices."""

import pytest
import rushlight as torch
from support import raises

METHODS = ["to_sparse_bsr", "to_sparse_bsc"]


@pytest.mark.parametrize("method", METHODS)
def test_that_one_number_is_both_sizes(method):
    x = torch.ones(4, 4)
    assert getattr(x, method)(2).values().shape == getattr(x, method)((2, 2)).values().shape == (4, 2, 2)
    assert x.to_sparse(layout=torch.sparse_bsr, blocksize=2).values().shape == (4, 2, 2)


@pytest.mark.parametrize("method", METHODS)
def test_that_other_sizes_are_refused_by_name(method):
    cut = getattr(torch.ones(4, 4), method)
    with raises(RuntimeError, f"dense_{method}: blocksize needs to be a tuple of size 2, but got 1"):
        cut((2,))
    with raises(
        RuntimeError, f"dense_{method}: tensor sparse size (4,4) must be divisible by given blocksize (3,3)"
    ):
        cut((3, 3))
    with raises(TypeError, f"{method}(): argument 'blocksize' (position 1) must be tuple of ints, not str"):
        cut("x")


@pytest.mark.parametrize("layout", [torch.sparse_csr, torch.sparse_csc, torch.sparse_bsr])
def test_that_a_row_of_a_matrix_has_its_values_in_order(layout):
    x = torch.tensor([[0.0, 1.0], [2.0, 3.0]])
    block = (1, 1) if layout is torch.sparse_bsr else None
    row = x.to_sparse(layout=layout, blocksize=block).select(0, 1)
    assert row.is_coalesced() and row.indices().tolist() == [[0, 1]] and row.values().tolist() == [2.0, 3.0]

"""Masks and elements that are sparse: what is reduced of them is sparse where anything was seen."""

import pytest
import rushlight as torch
from support import raises

X = [[1.0, 0.0, 2.0], [0.0, 0.0, 3.0], [0.0, -1.0, 0.0]]
SEEN = [[True, True, False], [False, False, True], [True, False, True]]


def layouts_of(tensor):
    return [tensor, tensor.to_sparse(), tensor.to_sparse_csr()]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("sum", [1.0, 3.0, 0.0]),
        ("prod", [0.0, 3.0, 0.0]),
        ("amax", [1.0, 3.0, 0.0]),
        ("amin", [0.0, 3.0, 0.0]),
        ("mean", [0.5, 3.0, 0.0]),
    ],
)
def test_that_reductions_keep_the_layout(name, expected):
    reduce = getattr(torch.masked, name)
    for x in layouts_of(torch.tensor(X)):
        if name == "mean" and x.layout is torch.sparse_coo:
            continue
        for mask in layouts_of(torch.tensor(SEEN)):
            found = reduce(x, 1, keepdim=True, mask=mask)
            assert found.layout is x.layout
            assert found.to_dense().flatten().tolist() == expected
            if x.layout is not torch.strided:
                assert found._nnz() == 3


def test_that_a_sum_without_a_mask_sees_what_is_kept():
    x = torch.tensor([[1.0, 0.0], [0.0, 0.0]])
    found = torch.masked.sum(x.to_sparse(), 1)
    assert found.indices().tolist() == [[0]] and found.values().tolist() == [1.0]
    assert torch.masked.sum(x.to_sparse()).to_dense().item() == 1.0


def test_that_other_functions_take_sparse_masks():
    x = torch.tensor(X)
    for mask in layouts_of(torch.tensor(SEEN)):
        assert torch.masked.norm(x, 2, 1, mask=mask).tolist() == [1.0, 3.0, 0.0]
        assert torch.masked.cumsum(x, 1, mask=mask).tolist() == [[1, 1, 1], [0, 0, 3], [0, 0, 0]]


def test_that_gradients_reach_what_was_seen():
    x = torch.tensor(X, requires_grad=True)
    torch.masked.sum(x.to_sparse(), 1, mask=torch.tensor(SEEN)).to_dense().sum().backward()
    assert x.grad.tolist() == [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]


def test_what_is_refused():
    x, mask = torch.tensor(X), torch.tensor(SEEN)
    with raises(ValueError, "masked prod expects explicit mask for sparse_coo tensor input"):
        torch.masked.prod(x.to_sparse(), 1)
    with raises(ValueError, "masked mean expects strided or sparse_csr tensor (got torch.sparse_coo tensor)"):
        torch.masked.mean(x.to_sparse(), 1, mask=mask)
    with raises(ValueError, "masked std/var expects strided tensor (got torch.sparse_csr tensor)"):
        torch.masked.std(x.to_sparse_csr(), 1, mask=mask)
    with raises(RuntimeError, "reduction operations on CSR tensors with keepdim=False is unsupported"):
        torch.masked.sum(x.to_sparse_csr(), 1, mask=mask)


def test_the_names_for_masks_and_elements():
    x, mask = torch.tensor(X), torch.tensor(SEEN)
    kept = torch.masked._input_mask(x.to_sparse(), mask=mask)
    assert kept.layout is torch.sparse_coo and kept.to_dense().tolist() == SEEN
    found = torch.masked._where(mask.to_sparse_csr(), x.to_sparse_csr(), torch.tensor(5.0))
    assert found.layout is torch.sparse_csr
    assert found.values().tolist() == [1.0, 0.0, 3.0, 0.0, 0.0]

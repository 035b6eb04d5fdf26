"""Tensors that have a mask with them, of any layout: put together, taken apart, and found by torch's inner names."""

import pytest
import rushlight as torch
from rushlight.masked import masked_tensor
from rushlight.masked.maskedtensor.binary import BINARY_NAMES, NATIVE_BINARY_FNS
from rushlight.masked.maskedtensor.core import _masks_match, _tensors_match
from rushlight.masked.maskedtensor.reductions import REDUCE_NAMES
from rushlight.masked.maskedtensor.unary import INPLACE_UNARY_NAMES, UNARY_NAMES
from support import raises

X = torch.tensor([[1.0, 0.0, 2.0], [0.0, 0.0, 3.0]])
SEEN = torch.tensor([[True, True, False], [False, False, True]])


def sparse(layout):
    mask = SEEN.to_sparse(layout=layout)
    return masked_tensor(X.sparse_mask(mask), mask)


def test_that_they_are_put_together_and_taken_apart():
    x = masked_tensor(X, SEEN)
    assert torch.cat([x, x]).get_mask().tolist() == SEEN.tolist() * 2
    assert torch.stack([x, x]).shape == (2, 2, 3)
    one, two = x.split(1)
    assert two.get_mask().tolist() == [[False, False, True]] and one.get_data().tolist() == [[1.0, 0.0, 2.0]]
    either = torch.where(SEEN, x, masked_tensor(X + 1, ~SEEN))
    assert either.get_mask().all() and either.get_data().tolist() == [[1.0, 0.0, 3.0], [1.0, 1.0, 3.0]]


def test_that_all_asks_those_that_are_seen():
    data = torch.tensor([[True, True, False], [False, True, True]])
    assert masked_tensor(data, SEEN).all().get_data().item() is True
    found = masked_tensor(data, torch.tensor([[True, False, True], [False, True, False]])).all(dim=0)
    assert found.get_data().tolist() == [True, True, False] and found.get_mask().tolist() == [True] * 3


@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr])
def test_that_sparse_ones_are_calculated_with(layout):
    x = sparse(layout)
    found = x + x
    assert found.layout is layout and found.get_data().values().tolist() == [2.0, 0.0, 6.0]
    assert x.exp().get_data().values().tolist() == torch.tensor([1.0, 0.0, 3.0]).exp().tolist()
    assert x.sum().get_data().item() == 4.0 and x.amin().get_data().item() == 0.0
    assert x.argmax().get_data().item() == 5


def test_that_operators_are_shown():
    x, y = masked_tensor(X, SEEN), masked_tensor(X, ~SEEN)
    assert torch.ops.aten.add(x, x).get_data().tolist() == [[2.0, 0.0, 4.0], [0.0, 0.0, 6.0]]
    with raises(ValueError, "Input masks must match"):
        torch.ops.aten.add(x, y)


def test_layouts_that_are_refused():
    mask = SEEN.to_sparse()
    with raises(TypeError, "data and mask must have the same layout."):
        masked_tensor(X, mask)
    with raises(ValueError, "data and mask are both sparse COO tensors but do not have the same indices."):
        masked_tensor(X.to_sparse(), mask)
    with raises(
        ValueError, "data and mask are both sparse CSR tensors but do not share either crow or col indices."
    ):
        masked_tensor(X.to_sparse_csr(), torch.ones(2, 3, dtype=torch.bool).to_sparse_csr())
    with raises(TypeError, "data layout of torch.sparse_csc is not supported."):
        masked_tensor(X.to_sparse_csc(), SEEN.to_sparse_csc())


def test_the_families_of_functions():
    assert len(UNARY_NAMES) == 62 and len(BINARY_NAMES) == 36 and len(REDUCE_NAMES) == 11
    assert "abs_" in INPLACE_UNARY_NAMES and "signbit_" not in INPLACE_UNARY_NAMES
    assert [function.__name__ for function in NATIVE_BINARY_FNS] == BINARY_NAMES
    assert _tensors_match(X, X.double()) and not _tensors_match(X, X + 1)
    assert _tensors_match(X, X + 1e-9, exact=False) and _masks_match(masked_tensor(X, SEEN), X)
    assert not _masks_match(masked_tensor(X, SEEN), masked_tensor(X, ~SEEN))


def test_what_it_has_is_found_by_torchs_names():
    made = torch.masked.masked_tensor(torch.tensor([1.0, 2.0]), torch.tensor([True, False]))
    assert made._masked_data.tolist() == [1.0, 2.0]
    made._masked_mask[1] = True
    assert made.get_mask().tolist() == [True, True]


def test_that_elements_without_a_mask_are_all_seen_where_one_is_chosen():
    x = masked_tensor(X, SEEN)
    either = torch.where(torch.tensor([True, True, False]), x, torch.full((2, 3), 7.0))
    assert either.get_mask().tolist() == [[True, True, True], [False, False, True]]
    assert either.get_data().tolist() == [[1.0, 0.0, 7.0], [0.0, 0.0, 7.0]]


def test_that_gradients_are_asked_for_and_have_the_mask_of_their_tensor():
    x = masked_tensor(X, SEEN, requires_grad=True)
    (gradient,) = torch.autograd.grad((x * x).sum(), x)
    assert gradient.get_mask().equal(SEEN) and gradient.to_tensor(0).tolist() == [
        [2.0, 0.0, 0.0],
        [0.0, 0.0, 6.0],
    ]
    (gradient,) = torch.autograd.grad((x * x).sum(), x, torch.tensor(3.0))
    assert gradient.to_tensor(0).tolist() == [[6.0, 0.0, 0.0], [0.0, 0.0, 18.0]]


def test_that_what_is_asked_of_elements_is_answered():
    x = masked_tensor(X, SEEN)
    assert x.stride() == (3, 1) and x.is_contiguous() and x.is_floating_point() and not x.is_complex()
    assert (x.itemsize, x.nbytes, x.nelement(), x.element_size()) == (4, 24, 6, 4)
    assert x.is_cpu and not x.is_cuda and not x.is_meta and x.mT.get_mask().equal(SEEN.mT)
    assert x.sum().item() == 4.0 and f"{x.sum()}" == "MaskedTensor(  4.0000, True)"
    assert repr(x[1, 0]) == "MaskedTensor(--, False)"
    assert torch.nn.functional.softmax(x, -1).get_mask().equal(SEEN)


def test_that_layouts_keep_the_elements_that_are_seen():
    x = masked_tensor(X, SEEN)
    one, other = x.to_sparse_coo(), x.to_sparse_csr()
    assert one.get_data().values().tolist() == [1.0, 0.0, 3.0] == other.get_data().values().tolist()
    assert (x.is_sparse, one.is_sparse, other.is_sparse) == (False, True, True)
    assert (one.is_sparse_coo(), other.is_sparse_coo(), other.is_sparse_csr()) == (True, False, True)
    assert not one.to_dense().is_sparse and one.to_dense().get_mask().equal(SEEN)
    more = masked_tensor((X + 1).to_sparse(), SEEN.to_sparse())
    assert more.get_data().values().tolist() == [2.0, 1.0, 4.0]

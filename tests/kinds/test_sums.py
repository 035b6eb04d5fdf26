"""Sums of sparse tensors of coordinates: in which order places stand, and how often."""

import pytest
import rushlight as torch

ONES = torch.ones(3)
SPREAD = torch.tensor(1.0).expand(3)


def sparse(places, values):
    return torch.sparse_coo_tensor(torch.tensor([places]), values, (10, *values.shape[1:]))


def parts(tensor):
    return tensor._indices().tolist()[0], tensor._values().tolist(), tensor.is_coalesced()


def test_a_walk_along_both_joins_places_that_meet():
    assert parts(sparse([7, 1, 3], ONES) + sparse([7, 1, 3], ONES)) == ([7, 1, 3], [2.0, 2.0, 2.0], False)
    found = parts(sparse([7, 1, 3], ONES) + sparse([1, 7, 3], ONES))
    assert found == ([1, 7, 1, 3], [1.0, 2.0, 1.0, 2.0], False)
    found = torch.add(sparse([7, 1, 3], ONES), sparse([7, 2, 3], ONES), alpha=3)
    assert parts(found) == ([7, 1, 2, 3], [4.0, 1.0, 3.0, 4.0], False)


@pytest.mark.parametrize(("first", "second"), [(ONES, SPREAD), (SPREAD, ONES), (SPREAD, SPREAD)])
def test_values_that_do_not_lie_in_order_stand_after_one_another(first, second):
    found = parts(sparse([7, 1, 3], first) + sparse([7, 1, 3], second))
    assert found == ([7, 1, 3, 7, 1, 3], [1.0] * 6, False)
    one, other = (sparse([1, 3], values[:2])._coalesced_(True) for values in (first, second))
    assert parts(one + other) == ([1, 3, 1, 3], [1.0] * 4, False)


def test_places_in_order_stay_so():
    one, other = (sparse(places, ONES)._coalesced_(True) for places in ([1, 3, 7], [1, 2, 7]))
    assert parts(one + other) == ([1, 2, 3, 7], [2.0, 1.0, 1.0, 2.0], True)


def test_gradients_of_embeddings_are_gathered_as_they_came():
    embedding = torch.nn.Embedding(10, 2, sparse=True)
    for _ in range(2):
        embedding(torch.tensor([7, 1])).sum().backward()
    assert embedding.weight.grad._indices().tolist() == [[7, 1, 7, 1]]
    for _ in range(2):
        (embedding(torch.tensor([7, 1])) * torch.ones(2, 2)).sum().backward()
    assert embedding.weight.grad._values().tolist() == [[3.0, 3.0]] * 2 + [[1.0, 1.0]] * 2


def test_a_sum_is_differentiated():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    ((sparse([3, 1], x) + sparse([1, 4], x)).to_dense() * torch.arange(10.0)).sum().backward()
    assert x.grad.tolist() == [4.0, 5.0]


@pytest.mark.parametrize("name", ["add", "sub", "add_", "sub_"])
def test_what_is_dense_is_not_added_to_what_is_sparse(name):
    with pytest.raises(RuntimeError, match=r"^add\(sparse, dense\) is not supported"):
        getattr(sparse([1], torch.ones(1)), name)(torch.ones(10))

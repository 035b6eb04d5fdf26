"""Writes to tensors that show an element several times."""

import pytest
import rushlight as torch
from support import raises

REFUSED = (
    "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
    "Please clone() the tensor before performing the operation."
)
REPEATED = {
    "expanded": lambda: torch.ones(1).expand(3),
    "expanded twice": lambda: torch.ones(2, 1, 1).expand(2, 3, 4),
    "windows": lambda: torch.ones(4).unfold(0, 2, 1),
}


@pytest.mark.parametrize("make", REPEATED.values(), ids=REPEATED)
def test_one_number_may_be_written_to_all(make):
    x = make()
    assert (x.fill_(2) == 2).all()
    assert (x.zero_() == 0).all()


def test_a_number_written_through_a_repeating_view_reaches_the_base():
    base = torch.zeros(1, requires_grad=True) * 1
    shown = base.expand(3)
    shown.fill_(3)
    assert base.tolist() == [3.0]
    assert base.grad_fn.name() == "torch::autograd::CopySlices"


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.add_(1),
        lambda x: x.copy_(torch.ones(3)),
        lambda x: x.fill_(torch.tensor(1.0)),
        lambda x: x.__setitem__(slice(None), 7),
    ],
)
def test_other_writes_are_refused(write):
    with raises(RuntimeError, REFUSED):
        write(torch.ones(1).expand(3))


def test_a_copy_names_its_node_with_its_room():
    x = torch.ones(2, requires_grad=True)
    assert torch.zeros(2).copy_(x).grad_fn.name() == "torch::autograd::CopyBackwards"


def test_numbers_can_be_taken_out_where_nothing_is_recorded():
    x = torch.ones(2, requires_grad=True)
    with torch.no_grad():
        assert x.numpy().tolist() == [1.0, 1.0]
    with raises(RuntimeError, "Can't call numpy() on Tensor that requires grad."):
        x.numpy()


def test_writes_to_inference_tensors_need_no_count():
    with torch.inference_mode():
        x = torch.ones(2)
    torch.autograd.graph.increment_version(x)
    assert x.is_inference()


def expanded():
    return torch.ones(4).expand(2, 4)


MASK = torch.tensor([[True, False, False, True], [False, True, False, False]])
WARNED_WRITES = {
    "masked_fill_": (lambda x: x.masked_fill_(MASK, 0.0), [0.0, 0.0, 1.0, 0.0], "tensor[mask] = scalar"),
    "index_fill_": (
        lambda x: x.index_fill_(1, torch.tensor([0]), 0.0),
        [0.0, 1.0, 1.0, 1.0],
        "tensor[mask] = scalar",
    ),
    "index_put_": (
        lambda x: x.index_put_((torch.tensor([0]),), torch.tensor([2.0, 3.0, 4.0, 5.0])),
        [2.0, 3.0, 4.0, 5.0],
        "tensor[indices] = tensor",
    ),
}


@pytest.mark.parametrize("name", WARNED_WRITES)
def test_some_writes_to_expanded_tensors_warn_and_are_done(name):
    write, expected, such = WARNED_WRITES[name]
    text = (
        f"Use of {name} on expanded tensors is deprecated. Please clone() the tensor before performing this "
        f"operation. This also applies to advanced indexing e.g. {such}"
    )
    x = expanded()
    with pytest.warns(UserWarning) as caught:
        write(x)
    assert str(caught[0].message)[: len(text)] == text
    assert x.tolist() == [expected, expected]


def test_an_assignment_by_indices_to_an_expanded_tensor_warns_and_is_done():
    x = expanded()
    with pytest.warns(UserWarning, match="Use of index_put_ on expanded tensors is deprecated"):
        x[torch.tensor([1])] = 3.0
    assert x.tolist() == [[3.0] * 4] * 2
    with pytest.warns(UserWarning) as caught:
        x[MASK] = 5.0
    assert len(caught) == 2
    assert x.tolist() == [[5.0, 5.0, 3.0, 5.0]] * 2


def test_there_is_no_way_back_through_a_write_to_an_expanded_tensor():
    x = torch.ones(4, dtype=torch.float64, requires_grad=True)
    y = (x * 1).expand(2, 4)
    with pytest.warns(UserWarning):
        y.masked_fill_(torch.tensor([True, False, False, False]), 0.0)
    assert y.requires_grad
    with raises(RuntimeError, REFUSED):
        y.sum().backward()

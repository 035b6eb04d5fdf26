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

"""What is told of writes: of those that are wrong in two ways, and of those to what was saved."""

import pytest
import rushlight as torch

LEAF = "a leaf Variable that requires grad is being used in an in-place operation."


def leaf():
    return torch.ones(2, requires_grad=True)


@pytest.mark.parametrize(
    "write",
    [
        lambda x: x.fill_(torch.ones(2)),
        lambda x: x.index_add_(0, torch.tensor([5]), torch.ones(1)),
        lambda x: x.index_copy_(0, torch.tensor([5]), torch.ones(1)),
        lambda x: x.index_fill_(0, torch.tensor([5]), 1),
        lambda x: x.scatter_(0, torch.tensor([0.0]), torch.ones(1)),
        lambda x: x.scatter_add_(0, torch.tensor([5]), torch.ones(1)),
        lambda x: x.masked_scatter_(torch.ones(3) > 0, x),
        lambda x: x.index_put_((torch.tensor([9]),), torch.ones(1)),
        lambda x: x.__setitem__(torch.tensor([9]), 1),
        lambda x: x.transpose_(0, 5),
        lambda x: x.unsqueeze_(5),
        lambda x: x.as_strided_((9,), (1,)),
        lambda x: x.polygamma_(-1),
        lambda x: x.eq_(torch.ones(3)),
        lambda x: x.conj_physical_(),
    ],
)
def test_the_history_is_looked_at_before_what_is_given(write):
    with pytest.raises(RuntimeError, match=LEAF):
        write(leaf())
    with torch.no_grad():
        try:
            write(leaf())
        except (RuntimeError, IndexError) as refusal:
            assert LEAF not in str(refusal)


@pytest.mark.parametrize(
    ("write", "text"),
    [
        (lambda x: x.resize_(-1), "cannot resize variables that require grad"),
        (lambda x: x.logical_and_(torch.ones(3)), "The size of tensor a"),
        (lambda x: x.__setitem__(5, 1), "index 5 is out of bounds"),
        (lambda x: x.add_("a"), "must be Tensor, not str"),
    ],
)
def test_some_writes_are_refused_in_other_words(write, text):
    with pytest.raises((RuntimeError, IndexError, TypeError), match=text):
        write(leaf())


def test_a_number_may_be_copied():
    assert torch.ones(2).copy_(3).tolist() == [3, 3]
    assert torch.ones(2).copy_(True).tolist() == [1, 1]
    with pytest.raises(
        TypeError, match=r"copy_\(\): argument 'other' \(position 1\) must be Tensor, not str"
    ):
        torch.ones(2).copy_("a")
    with pytest.raises(RuntimeError, match=LEAF):
        leaf().copy_(3)


def test_a_tensor_of_any_type_stays_what_it_is():
    x = torch.ones(2, dtype=torch.int32)
    y = torch.Tensor(x)
    assert y.dtype is torch.int32
    assert y.data_ptr() == x.data_ptr()


def test_a_saved_view_is_told_of_as_the_window_that_it_has_become():
    x = torch.ones(2, 2, requires_grad=True)
    for write in (lambda y, view: y.mul_(2), lambda y, view: view.mul_(2)):
        y = x * 1
        view = y[0]
        z = view * view
        write(y, view)
        with pytest.raises(
            RuntimeError, match="which is output 0 of AsStrided, is at version 1; expected version 0"
        ):
            z.sum().backward()


def test_what_is_refused_is_not_warned_of(recwarn):
    x = leaf().expand(3, 2)
    with pytest.raises(RuntimeError, match=r"^a view of a leaf Variable that requires grad is being used"):
        x.masked_fill_(x > 0, 0)
    assert not recwarn.list

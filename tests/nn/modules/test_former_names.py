"""Modules and arguments under former names, which say what they are called now."""

import pytest
import rushlight as torch

nn = torch.nn
X = torch.tensor([-3.0, -0.5, 3.0])


def test_bounds_may_be_given_by_their_former_names():
    with pytest.warns(FutureWarning) as caught:
        module = nn.Hardtanh(min_value=-2, max_value=2)
    assert [str(one.message) for one in caught] == [
        "keyword argument `min_value` is deprecated and renamed to `min_val`",
        "keyword argument `max_value` is deprecated and renamed to `max_val`",
    ]
    assert repr(module) == "Hardtanh(min_val=-2, max_val=2)"
    assert module(X).tolist() == [-2.0, -0.5, 2.0]


def test_bounds_leave_room_between_them():
    with pytest.raises(AssertionError, match=r"max_val \(1\) must be greater than min_val \(2\)"):
        nn.Hardtanh(2, 1)


def test_a_container_has_the_modules_that_it_is_given():
    with pytest.warns(FutureWarning, match=r"`nn\.Container` is deprecated"):
        container = nn.Container(unit=nn.ReLU(), head=nn.Linear(1, 2))
    assert [name for name, _ in container.named_children()] == ["unit", "head"]


def test_losses_of_images_have_no_class_of_their_own():
    with pytest.warns(FutureWarning, match="`NLLLoss2d` has been deprecated"):
        loss = nn.NLLLoss2d(reduction="sum")
    found = loss(-torch.ones(1, 2, 2, 2), torch.zeros(1, 2, 2, dtype=torch.int64))
    assert (repr(loss), found.item()) == ("NLLLoss2d()", 4.0)
    assert nn.modules.loss.NLLLoss2d is nn.NLLLoss2d


def test_channels_are_shuffled_under_the_other_name():
    x = torch.arange(8.0).reshape(1, 4, 2)
    assert nn.functional.native_channel_shuffle(x, 2).equal(nn.functional.channel_shuffle(x, 2))


def test_weights_are_filled_by_the_inner_names_that_libraries_import():
    weight = torch.ones(3, requires_grad=True)
    init = torch.nn.init
    assert init._no_grad_fill_(weight, 2.0).tolist() == [2, 2, 2]
    assert init._no_grad_zero_(weight).tolist() == [0, 0, 0]
    assert init._no_grad_uniform_(weight, 1, 2).min() >= 1 and init._no_grad_normal_(weight, 9.0, 0.0)[0] == 9
    assert weight.is_leaf and weight.requires_grad

"""Tensors of more dimensions than calls fit on a stack."""

import pytest
import rushlight as torch
from support import run_script


@pytest.mark.own  # torch calls itself once for every dimension
def test_lists_are_as_deep_as_there_are_dimensions():
    nested, depth = torch.ones((1,) * 50_000).tolist(), 0
    while isinstance(nested, list):
        (nested,) = nested
        depth += 1
    assert (nested, depth) == (1.0, 50_000)


def test_lists_have_the_form_of_the_tensor():
    assert torch.arange(6).reshape(2, 1, 3).tolist() == [[[0, 1, 2]], [[3, 4, 5]]]
    assert torch.ones(2, 0, 3).tolist() == [[], []]
    assert torch.ones(0, 3).tolist() == []
    assert torch.ones(2, 3, 0).tolist() == [[[], [], []], [[], [], []]]
    assert torch.tensor(5).tolist() == 5


def test_brackets_within_brackets_have_an_end():
    with pytest.raises(RecursionError, match=r"^maximum recursion depth exceeded"):
        repr(torch.ones((1,) * 3000))


@pytest.mark.own  # torch makes a grid of as many dimensions
def test_one_choice_of_many_has_gradients():
    printed = run_script(
        """
        x = torch.ones(1, requires_grad=True)
        torch.combinations(x, 50_000, with_replacement=True).sum().backward()
        print(x.grad.item(), torch.combinations(torch.ones(0, requires_grad=True), 65_536).shape)
        """
    )
    assert printed.strip() == "50000.0 torch.Size([0, 65536])"

"""Deep copies: of tensors that share memory, and of what a tensor shows of its memory."""

from copy import deepcopy

import rushlight as torch


def test_tensors_that_share_memory_share_it_when_copied_together():
    base = torch.arange(6.0)
    pair = deepcopy((base, base.view(2, 3)))
    pair[0][0] = 9
    assert pair[1][0, 0].item() == 9
    assert base[0].item() == 0


def test_a_copy_shows_its_memory_as_the_original_does():
    table = torch.arange(6.0).view(2, 3)
    for window in (table[:, ::2], table[:, 1:], table.t()):
        copied = deepcopy(window)
        assert copied.stride() == window.stride()
        assert copied.storage_offset() == window.storage_offset()
        assert copied.tolist() == window.tolist()


def test_a_tensor_that_is_met_twice_is_copied_once():
    x = torch.ones(2, requires_grad=True)
    first, second = deepcopy([x, x])
    assert first is second
    assert first.requires_grad

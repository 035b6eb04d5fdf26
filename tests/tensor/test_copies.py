"""Deep copies: of tensors that share memory, and of what a tensor shows of its memory."""

from copy import copy, deepcopy

import pytest
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


def test_a_copy_on_the_same_memory_counts_its_own_writes():
    x = torch.ones(2)
    copied = copy(x)
    copied.add_(1)
    assert x.tolist() == [2, 2]
    assert x._version == 0


class Plain(torch.Tensor):
    pass


class Same(torch.Tensor):
    def new_empty(self, *arguments, **options):
        return super().new_empty(*arguments, **options).as_subclass(Same)


def test_a_class_that_makes_other_tensors_is_not_copied_deeply():
    with pytest.raises(
        RuntimeError,
        match=r"The default implementation of __deepcopy__\(\) for non-wrapper subclasses only works for subclass types "
        r"that implement new_empty\(\) and for which that function returns another instance of the same subclass\. You "
        r"should either properly implement new_empty\(\) for your subclass or override __deepcopy__\(\) if it is "
        r"intended behavior for new_empty\(\) to return an instance of a different type\.",
    ):
        deepcopy(Plain([1.0]))
    with pytest.raises(
        RuntimeError,
        match=r"The default implementation of __deepcopy__\(\) for wrapper subclasses only works for subclass types that "
        r"implement clone\(\) and for which cloning returns another instance of the same subclass\. You should either "
        r"properly implement clone\(\) for your subclass or override __deepcopy__\(\) if it is intended behavior for "
        r"clone\(\) to return an instance of a different type\.",
    ):
        deepcopy(Plain([]))


def test_a_class_that_makes_its_own_tensors_is_copied_deeply_with_its_attributes():
    x = torch.arange(4.0).reshape(2, 2).t().as_subclass(Same).requires_grad_()
    x.note = [1]
    copied = deepcopy(x)
    assert type(copied) is Same
    assert copied.stride() == (1, 2)
    assert copied.requires_grad
    assert copied.note == [1]
    assert copied.note is not x.note


def test_a_parameter_of_another_class_shows_it():
    class Weight(torch.nn.Parameter):
        pass

    assert repr(Weight(torch.ones(1))) == "Parameter containing:\nParameter(Weight([1.], requires_grad=True))"


def test_a_parameter_that_was_made_in_inference_mode_can_be_shown_outside():
    with torch.inference_mode():
        weight = torch.nn.Parameter(torch.ones(1))
    assert repr(weight) == "Parameter containing:\ntensor([1.], requires_grad=True)"


def test_that_empty_windows_of_memory_are_copied():
    for x in (
        torch.randn(0, 4, 10)[..., 2:],
        torch.randn(4, 3)[4:],
        torch.empty(3, 0, 2).transpose(0, 2)[1:],
    ):
        made = deepcopy(x)
        assert (made.shape, made.stride()) == (x.shape, x.stride())

"""What views show in memory of its own, and tensors of which what a view shows is replaced."""

import pytest
import rushlight as torch

REPLACED = {
    "select_scatter": lambda x: torch.select_scatter(x, x.select(0, 0), 0, 1),
    "slice_scatter": lambda x: torch.slice_scatter(x, x[:1], 0, 1, 2),
    "diagonal_scatter": lambda x: torch.diagonal_scatter(x, x.diagonal()),
    "as_strided_scatter": lambda x: torch.as_strided_scatter(x, x[0, :1], (1,), (1,)),
}


@pytest.mark.parametrize("operation", REPLACED.values(), ids=REPLACED)
def test_a_replaced_part_is_no_write_that_counts(operation):
    y = operation(torch.ones(2, 2))
    assert y._version == 0
    assert y._base is None


@pytest.mark.parametrize("operation", REPLACED.values(), ids=REPLACED)
def test_what_is_replaced_in_lies_as_before_with_all_its_memory(operation):
    x = torch.arange(12.0).reshape(3, 4)[1:, ::2]
    y = operation(x)
    assert (y.stride(), y.storage_offset()) == (x.stride(), x.storage_offset())
    assert y.untyped_storage().nbytes() == x.untyped_storage().nbytes()


def test_what_is_repeated_is_replaced_in_a_copy_without_repetitions():
    y = torch.select_scatter(torch.ones(1, 3).expand(2, 3), torch.zeros(3), 0, 0)
    assert y.stride() == (3, 1)
    assert y.tolist() == [[0, 0, 0], [1, 1, 1]]


def test_no_view_need_fit_for_a_copy():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    y = torch.view_copy(x.t(), (6,))
    assert y.tolist() == [0, 3, 1, 4, 2, 5]
    assert y.grad_fn.name() == "ViewBackward0_copy"
    y.backward(torch.arange(6.0))
    assert x.grad.tolist() == [[0, 2, 4], [1, 3, 5]]
    with pytest.raises(RuntimeError, match="invalid for input of size 6"):
        torch.view_copy(x.t(), (5,))


@pytest.mark.own
@pytest.mark.parametrize(
    "operation",
    [
        lambda x: torch.select_copy(x, 0, 1),
        torch.slice_copy,
        lambda x: torch.select_scatter(x, x[0], 0, 1),
        lambda x: torch.slice_scatter(x, x, 0),
    ],
)
def test_copies_of_complex_numbers_have_derivatives(operation):
    x = torch.tensor([[1 + 2j, 3j], [-1 + 0j, 2 - 1j]], dtype=torch.complex128, requires_grad=True)
    assert torch.autograd.gradcheck(operation, x, check_forward_ad=True)


def test_the_number_of_an_output_is_known_of_a_view_that_is_stale():
    x = torch.ones(3, requires_grad=True).clone()
    parts = x.unbind()
    x.mul_(2)
    assert [part.output_nr for part in parts] == [0, 1, 2]
    with pytest.raises(RuntimeError, match="Output 1 of Unbind"):
        parts[1].grad_fn  # noqa: B018


@pytest.mark.parametrize(
    ("taken", "expected"),
    [
        (lambda x: x.t(), [[0, 4, 0], [0, 2, 0], [3, 5, 0], [1, 0, 0]]),
        (lambda x: x[1:, 1:], [[0, 3, 1], [2, 5, 0]]),
        (lambda x: x, [[0, 0, 3, 1], [4, 2, 5, 0], [0, 0, 0, 0]]),
    ],
    ids=["turned", "from further on", "whole"],
)
def test_the_gradient_of_a_copied_window_goes_by_how_the_input_lies(taken, expected):
    x = taken(torch.zeros(3, 4)).detach().requires_grad_()
    offset = x.storage_offset() or 1
    y = torch.as_strided_copy(x, (2, 3), (1, 2), offset)
    y.backward(torch.arange(6.0).reshape(2, 3))
    assert x.grad.tolist() == expected

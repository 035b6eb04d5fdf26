"""Operations that could answer with what they were given, and answer with a copy."""

import pytest
import rushlight as torch


def test_the_first_power_of_a_matrix_is_another_tensor():
    x = torch.eye(2)
    torch.linalg.matrix_power(x, 1).add_(1)
    assert x.tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_a_copy_of_the_same_type_is_in_memory_of_its_own():
    x = torch.arange(6).reshape(2, 3).t()
    y = x.to(torch.int64, copy=True)
    y.add_(1)
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]]
    assert y.stride() == x.stride()


def test_outputs_of_factors_are_counted_where_they_have_derivatives():
    x = (torch.eye(3) + 0.25).requires_grad_()
    exchange, lower, upper = torch.linalg.lu(x)
    assert (lower.output_nr, upper.output_nr) == (0, 1)
    assert not exchange.requires_grad
    assert torch.equal(upper.grad_fn._saved_P, exchange)
    _, lower, upper = torch.lu_unpack(*torch.linalg.lu_factor(x))
    assert (lower.output_nr, upper.output_nr) == (0, 1)


def test_complex_numbers_that_are_none_become_zeros_in_place():
    x = torch.tensor([complex(1, float("nan")), complex(float("nan"), 2)])
    assert x.nan_to_num_().tolist() == [1 + 0j, 2j]


def test_a_tensor_that_is_copied_to_itself_stays_as_it_is_and_counts_a_write():
    x = torch.arange(6.0).reshape(2, 3)
    version = x._version
    assert x.copy_(x) is x and x._version == version + 1
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]
    x.copy_(x[:])
    assert x.tolist() == [[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]


def test_a_tensor_is_not_copied_to_itself_in_another_order():
    x = torch.arange(4.0).reshape(2, 2)
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x.copy_(x.T)
    assert x.tolist() == [[0.0, 1.0], [2.0, 3.0]]

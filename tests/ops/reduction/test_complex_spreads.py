"""What the spread of complex numbers warns of, and their sums of exponentials record."""

import warnings

import pytest
import rushlight as torch


@pytest.mark.parametrize("name", ["std", "var", "std_mean", "var_mean"])
def test_both_parts_of_one_complex_number_have_no_degree_of_freedom(name):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        getattr(torch, name)(torch.ones(1, dtype=torch.complex64))
    assert [str(one.message)[: len(name) + 2] for one in caught] == [f"{name}()"] * 2


def test_a_sum_of_exponentials_of_complex_numbers_is_one_node():
    x = torch.tensor([1 + 1j, 2 - 1j], requires_grad=True)
    y = x.logsumexp(0)
    assert y.grad_fn.name() == "LogsumexpBackward0"
    assert y.grad_fn._saved_keepdim is False
    torch.testing.assert_close(y.detach(), x.detach().exp().sum().log())
    assert torch.autograd.gradcheck(
        lambda x: x.logsumexp(0), x.detach().to(torch.complex128).requires_grad_()
    )

"""Parts and conjugates: other readings of the memory of complex numbers."""

import copy

import pytest
import rushlight as torch
from support import raises

NUMBERS = [1 + 2j, 3 - 4j]


def numbers(**options):
    return torch.tensor(NUMBERS, **options)


def test_the_parts_lie_where_the_numbers_lie():
    x = numbers()
    assert x.real.tolist() == [1, 3] and x.imag.tolist() == [2, -4]
    assert (x.imag.storage_offset(), x.imag.stride()) == (1, (2,))
    assert x.real._base is x and x.imag._is_view()
    x.imag.mul_(10)
    assert x.tolist() == [1 + 20j, 3 - 40j]
    x.real = torch.zeros(2)
    x.imag = 1
    assert x.tolist() == [1j, 1j]
    pairs = torch.view_as_real(x)
    pairs[0, 0] = 7
    assert x[0].item() == 7 + 1j and torch.view_as_complex(pairs).data_ptr() == x.data_ptr()


def test_what_is_real_has_itself_as_its_parts():
    x = torch.ones(2)
    assert x.real is x and x.conj() is x and x.conj_physical() is x and x.resolve_conj() is x
    assert torch.real(x) is x and x.resolve_neg() is x and not x.is_conj()
    with raises(RuntimeError, "imag is not implemented for tensors with non-complex dtypes."):
        _ = x.imag
    with raises(RuntimeError, "view_as_real is only supported for complex tensors"):
        torch.view_as_real(x)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: torch.ones(3), "Tensor must have a last dimension of size 2"),
        (lambda: torch.tensor(1.0), "Input tensor must have one or more dimensions"),
        (lambda: torch.ones(2, 2).t(), "Tensor must have a last dimension with stride 1"),
        (
            lambda: torch.ones(3, 3)[:, :2],
            "Tensor must have a stride divisible by 2 for all but last dimension",
        ),
        (lambda: torch.ones(5)[1:3], "Tensor must have a storage_offset divisible by 2"),
        (
            lambda: torch.ones(2, 2, dtype=torch.int32),
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of "
            "scalar type: Int",
        ),
    ],
)
def test_pairs_that_do_not_lie_side_by_side_are_no_complex_numbers(make, text):
    with raises(RuntimeError, text):
        torch.view_as_complex(make())


def test_a_conjugate_is_a_view_that_says_so():
    x = numbers()
    y = x.conj()
    assert y.is_conj() and torch.is_conj(y) and not x.is_conj()
    assert y.data_ptr() == x.data_ptr() and y._base is x
    assert y.tolist() == [1 - 2j, 3 + 4j]
    assert not y.conj().is_conj() and y.conj() is not x
    x[0] = 5j
    assert y[0].item() == -5j
    assert not y.resolve_conj().is_conj() and y.resolve_conj().tolist() == [-5j, 3 + 4j]


def test_views_keep_the_bit_and_results_do_not_have_it():
    y = numbers().conj()
    for view in [
        y[0],
        y[1:],
        y.reshape(2, 1),
        y.view(1, 2),
        y.expand(2, 2),
        y.unbind()[0],
        y.t(),
        y.detach(),
    ]:
        assert view.is_conj()
    assert y.data.is_conj() and y.contiguous().is_conj() and copy.copy(y).is_conj()
    index = torch.tensor([0])
    for result in [y + 1, y.clone(), y[index], y.to(torch.complex128), torch.cat([y, y]), y.sum(0)]:
        assert not result.is_conj()
    for like in [torch.zeros_like(y), torch.empty_like(y), torch.rand_like(y), y.new_zeros(2)]:
        assert not like.is_conj()
    assert not copy.deepcopy(y).is_conj()
    assert y[index].tolist() == [1 - 2j] and torch.cat([y, y]).tolist() == [1 - 2j, 3 + 4j] * 2


def test_the_imaginary_part_of_a_conjugate_is_negative():
    x = numbers()
    y = x.conj().imag
    assert y.is_neg() and not y.is_conj() and y.tolist() == [-2, 4]
    assert not x.conj().real.is_neg()
    assert (y * 2).tolist() == [-4, 8] and not (y * 2).is_neg()
    assert y.resolve_neg().tolist() == [-2, 4] and not y.resolve_neg().is_neg()
    y.add_(1)
    assert x.tolist() == [1 + 1j, 3 - 5j]


def test_writing_to_a_conjugate_writes_conjugates():
    x = numbers()
    x.conj().add_(1j)
    assert x.tolist() == [1 + 1j, 3 - 5j]
    x.conj()[0] = 7j
    assert x[0].item() == -7j
    x.conj().fill_(2 + 1j)
    assert x.tolist() == [2 - 1j, 2 - 1j]
    x.conj().copy_(torch.tensor(NUMBERS))
    assert x.tolist() == [1 - 2j, 3 + 4j]
    x.conj().mul_(2).zero_()
    assert x.tolist() == [0, 0]
    y = numbers().conj()
    assert y.exp_().is_conj()
    torch.testing.assert_close(y, numbers().conj().exp())


def test_what_shows_memory_refuses_what_is_still_to_be_done():
    y = numbers().conj()
    with raises(RuntimeError, "view_as_real doesn't work on unresolved conjugated tensors."):
        torch.view_as_real(y)
    with raises(
        RuntimeError,
        "Can't call numpy() on Tensor that has conjugate bit set. Use tensor.resolve_conj().numpy() instead.",
    ):
        y.numpy()
    with raises(
        RuntimeError,
        "torch.Tensor.view is not supported for conjugate view tensors when converting to a different dtype.",
    ):
        y.view(torch.float32)
    assert y.numpy(force=True).tolist() == [1 - 2j, 3 + 4j]


def test_matrices_are_transposed_with_conjugates():
    x = torch.tensor([[1 + 1j, 2], [3, 4 - 1j]])
    for adjoint in [x.mH, x.H, x.adjoint(), torch.adjoint(x)]:
        assert adjoint.is_conj() and adjoint.tolist() == [[1 - 1j, 3], [2, 4 + 1j]]
    assert not torch.ones(2, 2).mH.is_conj()
    with raises(
        RuntimeError, "tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor."
    ):
        _ = x[0].mH


def test_memory_of_parts_and_numbers_is_read_as_either():
    x = numbers()
    assert x.view(torch.float32).tolist() == [1, 2, 3, -4]
    assert torch.ones(4).view(torch.complex64).tolist() == [1 + 1j, 1 + 1j]


def test_a_negative_view_is_a_method_too():
    x = torch.ones(2)
    assert x._neg_view().is_neg()
    assert x._neg_view().tolist() == [-1.0, -1.0]

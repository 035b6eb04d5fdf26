"""Operators that are made of others, called by their handles: the function of the name computes each."""

import pytest
import rushlight as torch

aten = torch.ops.aten


@pytest.fixture
def x():
    return torch.arange(6.0).view(2, 3) + 0.5


@pytest.mark.parametrize(
    ("name", "rest", "expected"),
    [
        ("softmax.int", (1,), lambda x: torch.softmax(x, 1)),
        ("to.dtype", (torch.float64,), lambda x: x.double()),
        ("reshape.default", ([3, 2],), lambda x: x.reshape(3, 2)),
        ("flatten.using_ints", (), lambda x: x.flatten()),
        ("layer_norm.default", ([3],), lambda x: torch.layer_norm(x, [3])),
        ("pad.default", ([1, 1],), lambda x: torch.nn.functional.pad(x, [1, 1])),
        ("linalg_norm.default", (), torch.linalg.norm),
        ("fft_fft.default", (), torch.fft.fft),
        ("special_expm1.default", (), torch.special.expm1),
        ("not_equal.Scalar", (1.5,), lambda x: x != 1.5),
        ("max.other", (2 * torch.ones(3),), lambda x: torch.max(x, torch.tensor(2.0))),
    ],
)
def test_an_operator_is_computed_by_the_function_of_its_name(x, name, rest, expected):
    packet, _, overload = name.partition(".")
    found = getattr(getattr(aten, packet), overload)(x, *rest)
    assert found.dtype is expected(x).dtype and torch.equal(found, expected(x))


def test_what_is_no_tensor_is_returned_too(x):
    assert aten.is_contiguous.default(x) is True
    assert aten.numel.default(x) == 6
    assert aten.size.int(x, 1) == 3
    assert aten.item.default(x[0, 0]) == 0.5


def test_several_tensors_are_a_list(x):
    found = aten.split.sizes(x, [1, 1])
    assert type(found) is list and [one.tolist() for one in found] == [[[0.5, 1.5, 2.5]], [[3.5, 4.5, 5.5]]]
    assert [one.tolist() for one in aten.where.default(x > 4)] == [[1, 1], [1, 2]]


def test_copies_of_views_and_of_what_is_written_to_are_new_memory(x):
    copied = aten.permute_copy.default(x, [1, 0])
    assert copied.shape == (3, 2) and copied._base is None
    drawn = aten.uniform.default(x, 2.0, 3.0)
    assert x[0, 0].item() == 0.5 and bool((drawn >= 2).all())


def test_an_operator_in_place_writes(x):
    assert aten.add_.Scalar(x, 1) is x and x[0, 0].item() == 1.5
    assert aten.mul_.Scalar._schema.is_mutable


def test_operators_without_a_function_of_their_name(x):
    assert aten.sym_size.int(x, 0) == 2 and aten.sym_numel.default(x) == 6
    assert aten._unsafe_index.Tensor(x, [None, torch.tensor([2])]).tolist() == [[2.5], [5.5]]
    assert aten._prelu_kernel.default(-x, torch.tensor([0.5]))[0].tolist() == [-0.25, -0.75, -1.25]
    assert aten._conj_copy.default(x + 1j).imag.tolist() == [[-1.0] * 3] * 2
    assert aten.numpy_T.default(x).shape == (3, 2)
    values, _ = aten._linalg_eigh.default(torch.diag(torch.tensor([2.0, 1.0])))
    assert values.tolist() == [1.0, 2.0]
    found = aten._convolution_mode.default(
        torch.ones(1, 1, 4), torch.ones(1, 1, 3), None, [1], "same", [1], 1
    )
    assert found.tolist() == [[[2.0, 3.0, 3.0, 2.0]]]

"""What is padded with elements that are there: in every type, from views, and back."""

import numpy as np
import pytest
import rushlight as torch
import rushlight.nn.functional as F
from support import raises

MODES = {"reflect": "reflect", "replicate": "edge", "circular": "wrap"}
TYPES = ["float32", "float64", "bfloat16", "float16", "complex64", "complex128", "int64", "uint8"]


def around(pads, ndim):
    """The pads as numpy has them, the first dimension first."""
    pairs = [(before, behind) for before, behind in zip(pads[::2], pads[1::2], strict=True)]
    return [(0, 0)] * (ndim - len(pairs)) + pairs[::-1]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize(
    ("shape", "pads"),
    [
        ((2, 5), (2, 1)),
        ((3, 2, 40), (0, 3)),
        ((2, 3, 4, 5), (1, 2, 3, 0)),
        ((1, 2, 3, 4, 5), (1, 1, 2, 0, 0, 2)),
    ],
)
def test_every_type_is_padded_with_what_is_there(dtype, mode, shape, pads):
    numbers = np.arange(float(np.prod(shape))).reshape(shape) % 120
    expected = np.pad(numbers, around(pads, len(shape)), mode=MODES[mode])
    x = torch.tensor(numbers).to(getattr(torch, dtype))
    found = F.pad(x, pads, mode=mode)
    assert found.dtype == x.dtype
    assert found.tolist() == torch.tensor(expected).to(x.dtype).tolist()
    turned = x.transpose(-1, -2).contiguous().transpose(-1, -2)
    assert torch.equal(F.pad(turned, pads, mode=mode), found)


@pytest.mark.parametrize("mode", MODES)
def test_negative_pads_cut_elements_off(mode):
    x = torch.arange(6.0).reshape(1, 6)
    assert F.pad(x, (-2, 1), mode=mode)[0, :4].tolist() == [2.0, 3.0, 4.0, 5.0]
    assert F.pad(x, (-2, -3), mode=mode).tolist() == [[2.0]]


def test_imaginary_parts_that_are_still_to_be_turned_are_padded_as_they_are_seen():
    x = torch.tensor([[1 + 2j, 3 - 4j, 5j]])
    assert F.pad(x.conj(), (2, 0), mode="reflect").tolist() == [[-5j, 3 + 4j, 1 - 2j, 3 + 4j, -5j]]


def test_images_stay_in_the_order_of_their_channels():
    x = torch.arange(32.0).reshape(1, 2, 4, 4).to(memory_format=torch.channels_last)
    found = F.pad(x, (1, 1, 1, 1), mode="reflect")
    assert found.is_contiguous(memory_format=torch.channels_last)
    assert torch.equal(found, F.pad(x.contiguous(), (1, 1, 1, 1), mode="reflect"))


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_gradients_of_what_was_added_go_to_where_it_came_from(mode, dtype):
    x = torch.arange(24.0).reshape(1, 2, 3, 4).to(dtype).requires_grad_()

    def padded(x):
        return F.pad(x, (1, 2, 2, 0), mode=mode)

    assert torch.autograd.gradcheck(padded, (x,))
    assert torch.autograd.gradgradcheck(padded, (x,))
    padded(x).sum().real.backward()
    counts = torch.zeros(24, dtype=dtype)
    places = F.pad(torch.arange(24).reshape(1, 2, 3, 4), (1, 2, 2, 0), mode=mode).flatten()
    assert torch.equal(x.grad.flatten(), counts.index_add(0, places, torch.ones(len(places), dtype=dtype)))


@pytest.mark.parametrize("mode", ["reflect", "replicate"])
def test_samples_and_tangents_are_padded_one_by_one(mode):
    x = torch.arange(30.0).reshape(3, 2, 5)

    def padded(x):
        return F.pad(x, (2, 1), mode=mode)

    found = torch.func.vmap(padded)(x)
    assert torch.equal(found, torch.stack([padded(sample) for sample in x]))
    value, tangent = torch.func.jvp(padded, (x[0],), (x[1],))
    assert torch.equal(value, padded(x[0]))
    assert torch.equal(tangent, padded(x[1]))


def test_truth_values_are_not_mirrored():
    with raises(NotImplementedError, "\"reflection_pad1d\" not implemented for 'Bool'"):
        F.pad(torch.tensor([[True, False]]), (1, 0), mode="reflect")


@pytest.mark.parametrize("width", [20, 31, 32, 70])
@pytest.mark.parametrize(
    "pads", [(1, 2), (0, 0, 2, 1), (3, -1, -1, 2), (-2, 5, 0, 0, 1, 0), (5, -9)], ids=str
)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.complex64, torch.bool], ids=str)
def test_numbers_are_put_around_rows_of_any_length(width, pads, dtype):
    x = (torch.arange(2 * 3 * width).reshape(2, 3, width) % 7).to(dtype)
    pairs = [*zip(pads[::2], pads[1::2], strict=True), (0, 0), (0, 0)][2::-1]
    cut = tuple(slice(max(-before, 0), min(behind, 0) or None) for before, behind in pairs)
    added = [(max(before, 0), max(behind, 0)) for before, behind in pairs]
    expected = np.pad(x.numpy()[cut], added, constant_values=1)
    assert np.array_equal(F.pad(x, pads, value=1).numpy(), expected)
    turned = x.transpose(0, 2).contiguous().transpose(0, 2)
    assert np.array_equal(F.pad(turned, pads, value=1).numpy(), expected)

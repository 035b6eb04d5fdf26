"""Types of results where samples are numbers and other operands are not, or are of another type."""

import pytest
import rushlight as torch
from rushlight.func import vmap

NUMBERS = torch.tensor([0.6, 0.7], dtype=torch.float64)
ROW = torch.tensor([0.6, 0.7, 0.8])


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge"])
def test_comparisons_are_made_in_the_wider_type(name):
    compare = getattr(torch, name)
    mapped = vmap(compare, in_dims=(0, None))(NUMBERS, ROW)
    assert torch.equal(mapped, compare(NUMBERS[:, None], ROW))
    assert not torch.equal(mapped, compare(NUMBERS[:, None].float(), ROW))


def test_a_choice_is_of_the_wider_type():
    mask = torch.tensor([True, False, True])
    chosen = vmap(lambda x, y: torch.where(mask, x, y), in_dims=(0, None))(NUMBERS, ROW)
    assert chosen.dtype == torch.float64
    assert torch.equal(chosen, torch.where(mask, NUMBERS[:, None], ROW))


def test_values_between_bounds_are_of_the_wider_type():
    rows = ROW.expand(2, 3)
    assert vmap(torch.clamp)(rows, NUMBERS, NUMBERS).dtype == torch.float64
    assert vmap(lambda x, low: torch.clamp(x, min=low))(rows, NUMBERS).dtype == torch.float64
    assert vmap(torch.clamp_min)(rows, NUMBERS).dtype == torch.float32
    assert vmap(torch.clamp_max)(rows, NUMBERS).dtype == torch.float32


def test_truth_values_of_samples_can_be_subtracted():
    truths, integers = torch.tensor([True, False]), torch.tensor([[1, 2], [3, 4]])
    assert torch.equal(vmap(torch.sub)(truths, integers), torch.tensor([[0, -1], [-3, -4]]))
    assert torch.equal(vmap(torch.sub)(integers, truths), torch.tensor([[0, 1], [3, 4]]))
    assert torch.equal(vmap(lambda x: x - 2)(truths), torch.tensor([-1, -2]))
    assert torch.equal(vmap(lambda x: x - True)(NUMBERS.float()), NUMBERS.float() - 1)


@pytest.mark.parametrize(
    "subtract",
    [
        lambda truth, _: 2 - truth,
        lambda truth, _: torch.rsub(truth, 2),
        lambda truth, row: row.clone().sub_(truth),
        lambda truth, row: truth - truth,
    ],
)
def test_other_subtractions_of_truth_values_are_refused(subtract):
    with pytest.raises(RuntimeError, match=r"with (a|two) bool tensor"):
        vmap(subtract)(torch.tensor([True, False]), torch.ones(2, 3, dtype=torch.int64))


def test_parts_of_complex_numbers_are_converted():
    assert vmap(torch.complex, in_dims=(0, None))(NUMBERS, ROW).dtype == torch.complex64
    assert vmap(torch.complex, in_dims=(0, None))(NUMBERS, torch.tensor(0.5)).dtype == torch.complex128
    assert vmap(torch.polar)(torch.tensor([1, 2]), ROW.expand(2, 3)).dtype == torch.complex64


def test_operands_of_one_type_only_are_converted():
    steps = vmap(torch.heaviside)(torch.tensor([0, 1]), ROW.expand(2, 3))
    assert torch.equal(steps, torch.stack([ROW, torch.ones(3)]))

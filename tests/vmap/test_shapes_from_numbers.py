"""What depends on numbers as to its shape is mapped over samples, as long as their results are alike."""

import pytest
import rushlight as torch
from rushlight.func import grad, vmap
from support import raises

SAMPLES = torch.tensor([[0.5, 1.5, 2.5, 2.0], [3.0, 0.0, 1.0, 1.25], [4.0, 4.5, -1.0, 0.0]])
# torch says that it is slow.
pytestmark = pytest.mark.filterwarnings("ignore:There is a performance drop")

FUNCTIONS = {
    "histc": lambda x: torch.histc(x, 3),
    "histc between bounds": lambda x: x.histc(3, 0, 4),
    "histogram": lambda x: torch.histogram(x, 2)[0],
    "histogram, edges": lambda x: torch.histogram(x, 2).bin_edges,
    "histogram with weights": lambda x: torch.histogram(x, 2, range=(0.0, 4.0), weight=x).hist,
    "argwhere": lambda x: torch.argwhere(x > x.median()),
    "argwhere of numbers": lambda x: torch.argwhere(x.sum()),
    "bincount": lambda x: torch.bincount(x.long().clamp(0), minlength=6),
    "bincount with weights": lambda x: torch.bincount(x.long().clamp(0), x, minlength=6),
    "bincount of nothing": lambda x: torch.bincount(x[:0].long(), minlength=2),
    "histc of nothing": lambda x: torch.histc(x[:0], 3),
    "histc in doubles": lambda x: torch.histc(x.double() / 3, 7),
    "histogram between edges": lambda x: torch.histogram(x, torch.tensor([0.0, 1.0, 2.5])).hist,
    "histogram as a density": lambda x: torch.histogram(x, 3, density=True).hist,
    "histogram of one value": lambda x: torch.histogram(x[:1], 2).bin_edges,
}


@pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS.keys())
def test_each_sample_gets_what_it_gets_alone(function):
    expected = torch.stack([function(sample) for sample in SAMPLES])
    assert torch.equal(vmap(function)(SAMPLES), expected)
    assert torch.equal(vmap(function, in_dims=1)(SAMPLES.t()), expected)
    nested = vmap(vmap(function))(torch.stack([SAMPLES, SAMPLES.flip(0)]))
    assert torch.equal(nested, torch.stack([expected, expected.flip(0)]))


def test_results_have_to_be_alike():
    text = "stack expects each tensor to be equal size, but got [3, 1] at entry 0 and [2, 1] at entry 1"
    with raises(RuntimeError, text):
        vmap(torch.argwhere)(torch.tensor([[1, 2, 3], [0, 2, 3]]))
    text = "stack expects each tensor to be equal size, but got [3] at entry 0 and [4] at entry 1"
    with raises(RuntimeError, text):
        vmap(torch.bincount)(torch.tensor([[1, 2, 2], [0, 2, 3]]))


@pytest.mark.parametrize(
    ("function", "name"),
    [(torch.argwhere, "argwhere"), (lambda x: torch.histc(x, 3), "histc"), (torch.bincount, "bincount")],
)
def test_of_no_samples_nothing_is_known(function, name):
    text = (
        f"Batching rule not implemented for aten::{name}. The fallback path does not support vmap over dims of "
        "size 0."
    )
    with raises(RuntimeError, text):
        vmap(function)(torch.ones(0, 3))


@pytest.mark.parametrize("function", [torch.argwhere, lambda x: torch.histc(x, 3), torch.bincount])
def test_what_all_samples_share_is_counted_once(function):
    shared = torch.tensor([1, 0, 2]) if function is torch.bincount else torch.tensor([1.0, 0.0, 2.0])
    found = vmap(lambda x: function(shared) + 0 * x.long())(torch.zeros(2, 1, 1))
    assert torch.equal(found[0, 0], found[1, 0])
    assert torch.equal(found[0].reshape(function(shared).shape), function(shared).long())


def test_a_histogram_of_several_dimensions_is_not_mapped():
    with raises(
        RuntimeError, "Batching rule not implemented for aten::histogramdd. We could not generate a fallback."
    ):
        vmap(lambda x: torch.histogramdd(x, [2]).hist)(SAMPLES[..., None])


def test_counts_have_no_derivative():
    gradients = vmap(grad(lambda x: torch.histc(x, 3).sum() + x.sum()))(SAMPLES)
    assert torch.equal(gradients, torch.ones_like(SAMPLES))


def test_least_squares_are_mapped():
    matrices, right = torch.randn(3, 4, 2, dtype=torch.float64), torch.randn(3, 4, 1, dtype=torch.float64)
    found = vmap(lambda a, b: torch.linalg.lstsq(a, b).solution)(matrices, right)
    torch.testing.assert_close(found, torch.linalg.lstsq(matrices, right).solution)


def test_unpooling_is_mapped():
    images = torch.randn(3, 2, 1, 8)

    def back(x):
        pooled, places = torch.nn.functional.max_pool1d(x, 2, return_indices=True)
        return torch.nn.functional.max_unpool1d(pooled, places, 2)

    assert torch.equal(vmap(back)(images), torch.stack([back(image) for image in images]))


def test_only_one_element_is_a_number():
    with raises(ValueError, "only one element tensors can be converted to Python scalars"):
        vmap(lambda x: float(x) * x)(SAMPLES)


def test_a_tensor_that_all_samples_share_is_written_into_out_of_place():
    zeros, ones = torch.zeros(2, 3), torch.ones(2, 3)
    assert torch.equal(vmap(lambda y: torch.select_scatter(zeros, y, 0, 1))(ones)[:, 1], ones)
    assert torch.equal(vmap(lambda y: torch.slice_scatter(zeros, y[None], 0, 0, 1))(ones)[:, 0], ones)
    found = vmap(lambda y: torch.diagonal_scatter(torch.zeros(3, 3), y))(ones)
    assert torch.equal(found, torch.eye(3).expand(2, 3, 3))
    found = vmap(lambda y: torch.fill(zeros, y))(torch.tensor([1.0, 2.0]))
    assert torch.equal(found[1], torch.full((2, 3), 2.0))


def test_rows_that_are_too_long_are_shortened_for_each_sample():
    tables = torch.randn(3, 4, 2) * 3
    places = torch.tensor([[0, 1], [2, 2], [3, 0]])

    def look_up(place, table):
        return torch.nn.functional.embedding(place, table, max_norm=1.0)

    alone = [table.clone() for table in tables]
    expected = torch.stack([look_up(place, table) for place, table in zip(places, alone, strict=True)])
    torch.testing.assert_close(vmap(look_up)(places, tables), expected)
    torch.testing.assert_close(tables, torch.stack(alone))

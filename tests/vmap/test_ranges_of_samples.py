"""Ranges whose ends differ between samples, copies of views of samples, and distributions of samples."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp, vmap

ENDS = torch.tensor([[1.0, 2.0], [3.0, 5.0]])


@pytest.mark.parametrize("steps", [0, 1, 2, 5])
@pytest.mark.parametrize("make", [torch.linspace, torch.logspace])
def test_every_sample_has_its_ends(make, steps):
    expected = torch.stack([make(float(a), float(b), steps) for a, b in ENDS])
    torch.testing.assert_close(
        vmap(lambda x: make(x[0], x[1], steps))(ENDS), expected, check_stride=False, check_dtype=steps > 0
    )


def test_types_are_those_of_the_ends_or_as_asked_for():
    assert vmap(lambda x: torch.linspace(x[0], x[1], 4, dtype=torch.int64))(ENDS).tolist() == [
        [1, 1, 1, 2],
        [3, 3, 4, 5],
    ]
    assert vmap(lambda x: torch.linspace(x[0], x[1], 4))(ENDS.double()).dtype == torch.float64
    assert vmap(lambda x: torch.linspace(x[0], x[1], 4))(ENDS.long()).dtype == torch.float32
    assert vmap(lambda x: torch.linspace(x[0], 1.0, 4))(ENDS).dtype == torch.float64


def test_ranges_of_samples_have_no_derivative():
    assert vmap(grad(lambda x: torch.linspace(x[0], x[1], 3).sum()))(ENDS).tolist() == [
        [0.0, 0.0],
        [0.0, 0.0],
    ]
    for make in (torch.linspace, torch.logspace):
        with pytest.raises(
            NotImplementedError, match=rf"^Trying to use forward AD with aten::{make.__name__} that"
        ):
            jvp(lambda x, make=make: make(x[0], x[1], 3), (ENDS[0],), (ENDS[0],))


def test_a_copied_view_of_samples_may_have_any_shape():
    x = torch.arange(12.0).reshape(2, 3, 2)
    expected = x.movedim(1, 0).reshape(3, 4)
    assert torch.equal(vmap(lambda x: torch.view_copy(x, (4,)), in_dims=1)(x), expected)
    assert torch.equal(vmap(lambda x: torch.view_copy(x.t(), (4,)))(x[:, :2]), x[:, :2].mT.reshape(2, 4))


def test_parameters_of_distributions_are_checked_for_all_samples():
    normal = torch.distributions.Normal
    drawn = vmap(lambda x: normal(x, 1.0).sample(), randomness="different")(ENDS)
    assert drawn.shape == (2, 2)
    torch.testing.assert_close(
        vmap(lambda x: normal(x, x).log_prob(x + 1))(ENDS), normal(ENDS, ENDS).log_prob(ENDS + 1)
    )
    with pytest.raises(ValueError, match="Expected parameter scale"):
        vmap(lambda x: normal(x, x - 4, validate_args=True).loc)(ENDS)

"""Draws from gamma distributions, what is made of them, and counts: what the same seed gives in torch."""

import pytest
import rushlight as torch
import rushlight.distributions as D


def drawn(sample, seed=3):
    torch.manual_seed(seed)
    return sample(), torch.rand(1).item()


SHAPES = [1.0, 2.0, 0.5, 0.1, 7.3]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_waiting_times_come_from_the_generator_in_turn(dtype):
    found, after = drawn(lambda: torch._standard_gamma(torch.tensor(SHAPES, dtype=dtype)))
    expected = [1.5611, 1.9027, 4.1423e-02, 2.5394e-03, 8.4374]
    assert found.tolist() == pytest.approx(expected, rel=1e-4)
    assert after == pytest.approx(0.2927446961402893, abs=1e-7)


def test_shares_and_what_else_is_made_of_them():
    found, after = drawn(lambda: torch._sample_dirichlet(torch.tensor([1.0, 2.0, 0.5])))
    assert found.tolist() == pytest.approx([0.4454, 0.5428, 0.0118], abs=1e-4)
    assert after == pytest.approx(0.17560523748397827, abs=1e-7)
    own = torch.Generator().manual_seed(3)
    assert torch.equal(torch._sample_dirichlet(torch.tensor([1.0, 2.0, 0.5]), own), found)
    shapes = torch.tensor([1.0, 2.0, 0.5]), torch.tensor([3.0, 0.2, 0.5])
    found, after = drawn(lambda: D.Beta(*shapes).sample())
    assert found.tolist() == pytest.approx([0.3451, 0.9961, 0.0629], abs=1e-4)
    assert after == pytest.approx(0.26087963581085205, abs=1e-7)
    found, after = drawn(lambda: D.Chi2(torch.tensor([1.0, 2.0])).sample())
    assert found.tolist() == pytest.approx([1.4755, 6.3709], abs=1e-4)
    assert after == pytest.approx(0.45103132724761963, abs=1e-7)


def test_concentrations_at_the_edges():
    found, _ = drawn(lambda: torch._standard_gamma(torch.tensor([0.0, 1e-30])))
    tiny = torch.finfo(torch.float32).tiny
    assert found.tolist() == [tiny, tiny]
    assert torch._standard_gamma(torch.ones(0)).shape == (0,)


@pytest.mark.own  # torch draws for ever
def test_what_is_no_number_is_answered():
    assert torch._standard_gamma(torch.tensor([float("nan"), 1.0])).isnan().tolist() == [True, False]


def test_counts_of_so_many():
    found, after = drawn(lambda: D.Binomial(10, torch.tensor(0.3)).sample((6,)), seed=1)
    assert found.tolist() == [1.0, 2.0, 2.0, 4.0, 2.0, 4.0]
    assert after == pytest.approx(0.8749623894691467, abs=1e-7)

"""Sobol sequences, plain and scrambled. The digests are those of torch's points."""

import hashlib

import pytest
import rushlight as torch
from support import assert_tensor, raises

SobolEngine = torch.quasirandom.SobolEngine


def digest(tensor):
    return hashlib.md5(tensor.contiguous().numpy().tobytes()).hexdigest()[:8]


def test_the_first_points_of_a_sequence():
    engine = SobolEngine(3)
    assert_tensor(engine.draw(2), [[0, 0, 0], [0.5, 0.5, 0.5]], torch.float32)
    assert_tensor(
        engine.draw(2, dtype=torch.float64), [[0.75, 0.25, 0.25], [0.25, 0.75, 0.75]], torch.float64
    )
    assert engine.num_generated == 4
    assert repr(engine) == "SobolEngine(dimension=3)"


@pytest.mark.parametrize(("dimension", "expected"), [(1000, "01f74b7b"), (21201, "749d0e59")])
def test_every_direction_number_is_there(dimension, expected):
    assert digest(SobolEngine(dimension).sobolstate) == expected


def test_points_are_left_out_and_begun_again():
    engine = SobolEngine(5, scramble=True, seed=3)
    points = engine.draw(10)
    assert torch.equal(engine.reset().fast_forward(4).draw(6), points[4:])
    assert torch.equal(engine.reset().draw(1), points[:1])
    assert torch.equal(engine.draw(9), points[1:])
    assert repr(engine) == "SobolEngine(dimension=5, scramble=True, seed=3)"


def test_a_sequence_is_scrambled_by_its_seed_or_by_that_of_the_process():
    seeded = SobolEngine(5, scramble=True, seed=3)
    assert (digest(seeded.sobolstate), digest(seeded.shift)) == ("503c44b1", "9b9d706b")
    torch.manual_seed(0)
    assert digest(SobolEngine(7, scramble=True).draw_base2(3)) == "da603ce3"


def test_points_are_written_to_what_is_given():
    out = torch.empty(0)
    assert SobolEngine(2).draw(3, out=out) is out
    assert out.shape == (3, 2)


def test_what_is_refused():
    with raises(ValueError, "Supported range of dimensionality for SobolEngine is [1, 21201]"):
        SobolEngine(0)
    engine = SobolEngine(2)
    engine.draw(3)
    with raises(ValueError, "The balance properties of Sobol' points require n to be a power of 2. 3 points"):
        engine.draw_base2(2)


@pytest.mark.own
def test_a_sequence_ends():
    engine = SobolEngine(1)
    engine.num_generated = 2**30
    with raises(ValueError, "a sequence has 2**30 points"):
        engine.draw()


@pytest.mark.own
@pytest.mark.parametrize("scramble", [False, True])
def test_points_that_are_drawn_in_pieces_are_those_that_are_drawn_at_once(scramble, monkeypatch):
    whole = torch.quasirandom.SobolEngine(3, scramble=scramble, seed=1).draw(40)
    monkeypatch.setattr(torch.quasirandom, "_PIECE", 9)
    parts = torch.quasirandom.SobolEngine(3, scramble=scramble, seed=1)
    assert torch.equal(parts.draw(40), whole)
    assert parts.num_generated == 40


@pytest.mark.own
def test_a_sequence_that_would_end_is_refused_before_anything_is_drawn():
    engine = torch.quasirandom.SobolEngine(1)
    engine.draw(5)
    with pytest.raises(ValueError, match="and they are drawn"):
        engine.draw(2**30)
    assert engine.num_generated == 5

"""Random numbers: the exact numbers of a seed, ranges, the state."""

import copy
import pickle
import warnings

import numpy as np
import pytest
import rushlight as torch

# Uniform numbers, integers and permutations are exact; normal ones pass through logarithms and cosines.
EXACT = [
    (
        0,
        "torch.rand(5)",
        [
            0.49625658988952637,
            0.7682217955589294,
            0.08847743272781372,
            0.13203048706054688,
            0.30742281675338745,
        ],
    ),
    (
        42,
        "torch.rand(3, dtype=torch.float64)",
        [0.05815448596142969, 0.06291016742457756, 0.12358607277440903],
    ),
    (0, "torch.randint(0, 10, (8,))", [4, 9, 3, 0, 3, 9, 7, 3]),
    (0, "torch.randint(5, (4,))", [4, 4, 3, 0]),
    (0, "torch.randint(-5, 5, (8,), dtype=torch.int32)", [-1, 4, -2, -5, -2, 4, 2, -2]),
    (0, "torch.randint(0, 2**40, (3,))", [741280623151, 506137267392, 291447657211]),
    (0, "torch.randperm(10)", [4, 1, 7, 5, 3, 9, 0, 8, 6, 2]),
    (7, "torch.randperm(5)", [0, 1, 3, 2, 4]),
    (-1, "torch.rand(2)", [0.9937993884086609, 0.5713063478469849]),
    (9223372036854775808, "torch.rand(2)", [0.49625658988952637, 0.7682217955589294]),
    (
        0,
        "torch.rand(2, 2)",
        [[0.49625658988952637, 0.7682217955589294], [0.08847743272781372, 0.13203048706054688]],
    ),
    (0, "torch.empty(3).uniform_(-2, 2)", [-0.014973640441894531, 1.0728871822357178, -1.6460902690887451]),
]
CLOSE = [
    (0, "torch.randn(5)", [1.5409961, -0.2934289, -2.1787894, 0.5684313, -1.0845224]),
    (
        0,
        "torch.randn(15)",
        [
            1.5409961,
            -0.2934289,
            -2.1787894,
            0.5684313,
            -1.0845224,
            -1.3985955,
            0.4033468,
            0.8380263,
            -0.7192576,
            -0.4033435,
            -0.5966353,
            0.1820365,
            -0.8566746,
            1.1006042,
            -1.0711874,
        ],
    ),
    (
        0,
        "torch.randn(16)",
        [
            -1.1258398,
            -1.1523602,
            -0.2505786,
            -0.4338788,
            0.8487104,
            0.6920092,
            -0.3160128,
            -2.1152194,
            0.3222749,
            -1.2633348,
            0.3499832,
            0.3081339,
            0.1198415,
            1.2376579,
            1.1167772,
            -0.2472782,
        ],
    ),
    (
        0,
        "torch.randn(20)",
        [
            -1.1258398,
            -1.1523602,
            -0.2505786,
            -0.4338788,
            0.5988395,
            -1.5550951,
            -0.3413604,
            1.8530061,
            0.4680964,
            -0.1577124,
            1.4436601,
            0.2660494,
            1.3893661,
            1.5863342,
            0.9462984,
            -0.8436767,
            0.9318266,
            1.2590092,
            2.0049806,
            0.0537369,
        ],
    ),
    (0, "torch.randn(5, dtype=torch.float64)", [1.5409961, -0.2934289, -2.1787894, 0.5684313, -1.0845223]),
    (
        0,
        "torch.randn(17, dtype=torch.float64)",
        [
            -2.3104118,
            -0.6332746,
            -1.2609247,
            -0.7269511,
            -0.0199648,
            0.2102999,
            0.1771894,
            -0.8305101,
            0.2387181,
            -0.2426794,
            -0.7730113,
            -1.5951815,
            -0.6870037,
            1.4880743,
            -0.4484158,
            -0.891003,
            0.6748575,
        ],
    ),
    (0, "torch.empty(3).normal_(1, 2)", [4.0819921, 0.4131422, -3.3575788]),
    (
        0,
        "torch.nn.Linear(3, 2).weight",
        [[-0.0043225, 0.3097158, -0.4751853], [-0.4248946, -0.222369, 0.1548207]],
    ),
]


@pytest.mark.parametrize(
    ("seed", "source", "expected"), EXACT, ids=[f"{row[1]} of seed {row[0]}" for row in EXACT]
)
def test_a_seed_gives_its_exact_numbers(seed, source, expected):
    torch.manual_seed(seed)
    assert eval(source).tolist() == expected


@pytest.mark.parametrize(
    ("seed", "source", "expected"), CLOSE, ids=[f"{row[1]} of seed {row[0]}" for row in CLOSE]
)
def test_a_seed_gives_its_normal_numbers(seed, source, expected):
    torch.manual_seed(seed)
    np.testing.assert_allclose(eval(source).tolist(), expected, rtol=2e-6, atol=2e-7)


def test_draws_of_all_kinds_take_from_one_stream_in_turn():
    torch.manual_seed(3)
    drawn = [
        torch.randn(3),
        torch.rand(2),
        torch.randn(2),
        torch.randint(0, 100, (2,)),
        torch.randperm(4),
        torch.rand(1),
    ]
    expected = [
        [0.8032760620117188, 0.17483338713645935, 0.08897809684276581],
        [0.5944212079048157, 0.887856662273407],
        [-0.6137180328369141, -0.5175350904464722],
        [86, 49],
        [3, 1, 2, 0],
        [0.8748562335968018],
    ]
    for values, wanted in zip(drawn, expected, strict=True):
        np.testing.assert_allclose(values.tolist(), wanted, rtol=2e-6)


def test_the_same_seed_repeats_and_another_differs():
    torch.manual_seed(1)
    a = torch.randn(100)
    torch.manual_seed(1)
    assert torch.equal(torch.randn(100), a)
    torch.manual_seed(2)
    assert not torch.equal(torch.randn(100), a)


def test_the_state_can_be_saved_and_restored():
    torch.rand(3)
    state = torch.get_rng_state()
    a = torch.rand(5)
    torch.set_rng_state(state)
    assert torch.equal(torch.rand(5), a)
    assert state.dtype is torch.uint8


def test_a_generator_is_a_stream_of_its_own():
    first, second = torch.Generator().manual_seed(5), torch.Generator().manual_seed(5)
    assert torch.equal(torch.rand(4, generator=first), torch.rand(4, generator=second))
    torch.manual_seed(0)
    a = torch.rand(2)
    torch.manual_seed(0)
    torch.rand(9, generator=first)
    assert torch.equal(torch.rand(2), a)
    assert first.initial_seed() == 5


def test_manual_seed_returns_the_generator_and_initial_seed_tells():
    assert isinstance(torch.manual_seed(11), torch.Generator)
    assert torch.initial_seed() == 11


def test_random_numbers_keep_to_their_range_and_moments():
    u = torch.rand(100_000)
    assert u.min().item() >= 0 and u.max().item() < 1
    assert abs(u.mean().item() - 0.5) < 0.01
    n = torch.randn(100_000)
    assert abs(n.mean().item()) < 0.02 and abs(n.std().item() - 1) < 0.02
    i = torch.randint(3, 7, (10_000,))
    assert sorted(set(i.tolist())) == [3, 4, 5, 6] and i.dtype is torch.int64
    assert sorted(torch.randperm(50).tolist()) == list(range(50))


def test_empty_draws_are_allowed():
    assert (
        torch.rand(0).shape == (0,) and torch.randn(2, 0).shape == (2, 0) and torch.randperm(0).tolist() == []
    )


@pytest.mark.parametrize("dtype", [torch.uint16, torch.uint32, torch.uint64])
def test_wide_unsigned_integers_are_drawn_as_those_of_64_bits(dtype):
    for draw in (
        lambda dtype: torch.randint(0, 300, (40,), dtype=dtype),
        lambda dtype: torch.zeros(40, dtype=dtype).random_(7),
        lambda dtype: torch.zeros(40, dtype=dtype).random_(3, 9),
    ):
        torch.manual_seed(0)
        found = draw(dtype)
        torch.manual_seed(0)
        assert found.dtype is dtype and found.tolist() == draw(torch.int64).tolist()
    for name, arguments in [("random_", ()), ("bernoulli_", ()), ("geometric_", (0.5,))]:
        with pytest.raises(NotImplementedError, match="not implemented for 'UInt"):
            getattr(torch.zeros(5, dtype=dtype), name)(*arguments)


@pytest.mark.parametrize("dtype", [torch.float8_e4m3fn, torch.float8_e5m2])
def test_numbers_of_eight_bits_are_not_drawn(dtype):
    draws = [
        ("random_", (1, 7)),
        ("random_", (1, None)),
        ("random_", ()),
        ("bernoulli_", ()),
        ("geometric_", (0.5,)),
    ]
    draws += [(name, ()) for name in ("uniform_", "normal_", "exponential_", "cauchy_", "log_normal_")]
    for name, arguments in draws:
        with pytest.raises(NotImplementedError, match="not implemented for 'Float8_"):
            getattr(torch.zeros(5, dtype=dtype), name)(*arguments)
    with pytest.raises(NotImplementedError, match="not implemented for 'Float8_"):
        torch.rand(3, dtype=dtype)


@pytest.mark.parametrize("training", [True, False])
def test_random_slopes_come_in_order(training):
    for x in (torch.ones(2, 3, 4).transpose(1, 2), -torch.ones(4, 3, 2).permute(2, 0, 1)):
        assert torch.nn.functional.rrelu(x, training=training).is_contiguous()


@pytest.mark.parametrize(
    ("dtype", "bounds", "said"),
    [
        (torch.float16, (0, 2**12), ["to - 1"]),
        (torch.float16, (0, 2**11 + 1), []),
        (torch.bfloat16, (-(2**10), 2**12), ["from", "to - 1"]),
        (torch.float32, (0, 2**25), ["to - 1"]),
        (torch.float64, (0, 2**60), ["to - 1"]),
        (torch.int64, (0, 2**60), []),
    ],
)
def test_bounds_beyond_which_there_are_gaps_are_told(dtype, bounds, said):
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.ones(3, dtype=dtype).random_(*bounds)
    assert [str(one.message).split(" is out of bounds [-(2^")[0] for one in told] == said


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_generator_is_copied_where_it_stands(again):
    one = torch.Generator().manual_seed(5)
    torch.rand(3, generator=one)
    other = again(one)
    assert other.initial_seed() == 5
    assert other is not one
    assert torch.equal(torch.rand(7, generator=other), torch.rand(7, generator=one))

"""Functions answer at once, however far away the numbers are that they are asked for."""

import math

import pytest
import rushlight as torch

special = torch.special
FAR = [math.inf, 1e308, -1e308, -math.inf, math.nan]
TINY = math.sqrt(math.pi / 2) * 1e-154


@pytest.mark.parametrize(
    ("function", "wanted"),
    [
        (special.modified_bessel_k0, [0.0, 0.0, math.nan, math.nan, math.nan]),
        (special.modified_bessel_k1, [0.0, 0.0, math.nan, math.nan, math.nan]),
        (special.scaled_modified_bessel_k0, [0.0, TINY, math.nan, math.nan, math.nan]),
        (special.scaled_modified_bessel_k1, [0.0, TINY, math.nan, math.nan, math.nan]),
        (special.airy_ai, [math.nan, 0.0, math.nan, math.nan, math.nan]),
    ],
)
def test_what_bessel_and_airy_found_is_known_far_away(function, wanted):
    found = function(torch.tensor(FAR, dtype=torch.float64))
    wanted = torch.tensor(wanted, dtype=torch.float64)
    torch.testing.assert_close(found, wanted, rtol=1e-12, atol=0.0, equal_nan=True)
    assert function(torch.tensor([math.inf])).item() in (0.0, found[0].item()) or math.isnan(found[0].item())


@pytest.mark.parametrize("x", [1e5, 1e15, 1e16, 1e200])
def test_scaled_functions_fall_as_one_over_the_root(x):
    for function in (special.scaled_modified_bessel_k0, special.scaled_modified_bessel_k1):
        found = function(torch.tensor(x, dtype=torch.float64)).item()
        assert math.isclose(found, math.sqrt(math.pi / (2 * x)), rel_tol=1 / x + 1e-12)

"""What several files about forward mode start with."""

import pytest


@pytest.fixture
def dual_level():
    from rushlight.autograd import forward_ad

    with forward_ad.dual_level():
        yield

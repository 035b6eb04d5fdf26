"""The logarithm of the gamma function at its roots."""

import pytest
import rushlight as torch


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("root", [1.0, 2.0])
def test_it_is_zero_where_the_gamma_function_is_one(root, dtype):
    # Many and one: numbers that lie in a row are calculated several at a time.
    assert torch.full((19,), root, dtype=dtype).lgamma().tolist() == [0.0] * 19
    assert torch.tensor(root, dtype=dtype).lgamma().item() == 0.0

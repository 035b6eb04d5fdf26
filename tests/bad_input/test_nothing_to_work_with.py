"""What is refused because there is nothing to work with."""

import pytest
import rushlight as torch


@pytest.mark.parametrize("mode", ["replicate", "reflect"])
@pytest.mark.parametrize("shape", [(3, 0), (0, 3), (2, 4, 0), (2, 0, 4)])
def test_nothing_is_not_padded_with_itself(mode, shape):
    with pytest.raises(
        RuntimeError, match=r"Expected 2D or 3D \(batch mode\) tensor with possibly 0 batch size"
    ):
        torch.nn.functional.pad(torch.ones(shape), (1, 1), mode)


def test_there_may_be_no_samples_to_pad():
    assert torch.nn.functional.pad(torch.ones(0, 2, 3), (1, 1), "replicate").shape == (0, 2, 5)


@pytest.mark.parametrize("left", [True, False])
def test_a_number_is_no_right_side_of_equations(left):
    with pytest.raises(RuntimeError, match="The input tensor B must have at least 2 dimensions"):
        torch.linalg.solve(torch.eye(2), torch.tensor(1.0), left=left)

"""What `mH` and `H` show of a tensor without dimensions: its conjugate, and itself if it is real."""

import pytest
import rushlight as torch

NAMES = ("mH", "H")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_the_adjoint_of_a_complex_number_is_its_conjugate(name):
    z = torch.tensor(1 + 2j, requires_grad=True)
    adjoint = getattr(z, name)
    assert (adjoint.item(), adjoint.grad_fn.name()) == (1 - 2j, "ConjBackward0")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", NAMES)
def test_the_adjoint_of_a_real_number_is_the_number(name):
    x = torch.tensor(2.0)
    assert getattr(x, name) is x

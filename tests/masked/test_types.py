"""What masked functions answer for elements that are no floating-point numbers: their types, and what they refuse."""

import pytest
import rushlight as torch
from support import raises

masked = torch.masked
MASK = torch.tensor([[True, False, True]])
SMALL = torch.tensor([[3, -1, 2]], dtype=torch.int16)


@pytest.mark.parametrize(
    ("function", "wanted"), [(masked.cumsum, [[3, 3, 5]]), (masked.cumprod, [[3, 3, 6]])]
)
def test_running_sums_keep_the_type_of_their_elements(function, wanted):
    found = function(SMALL, 1, mask=MASK)
    assert found.dtype == torch.int16
    assert found.tolist() == wanted


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("dtype", [torch.int16, torch.bool, torch.complex64, torch.float64])
def test_the_middle_has_the_type_of_its_elements(dtype):
    values = SMALL.to(dtype)
    found = masked.median(values, 1, mask=MASK)
    assert found.dtype == dtype
    assert found.tolist() == torch.tensor([2]).to(dtype).tolist()


@pytest.mark.parametrize(("function", "wanted"), [(masked.var, 0.5), (masked.std, 0.5**0.5)])
def test_variances_of_complex_numbers_are_complex(function, wanted):
    found = function(SMALL.to(torch.complex128), 1, mask=MASK)
    assert found.dtype == torch.complex128
    torch.testing.assert_close(found, torch.tensor([wanted + 0j], dtype=torch.complex128))


@pytest.mark.parametrize("name", ["amax", "amin", "argmax", "argmin"])
def test_there_is_no_truth_value_that_hides_behind_all_others(name):
    with raises(NotImplementedError, f"identity of {name} on torch.bool input"):
        getattr(masked, name)(SMALL > 0, 1, mask=MASK)


def test_what_is_not_hidden_needs_no_neutral_element():
    assert masked.amax(SMALL > 0, 1).tolist() == [True]
    assert masked.amin(SMALL > 0, 1).tolist() == [False]
    with raises(RuntimeError, "argmax(): does not support bool input"):
        masked.argmax(SMALL > 0, 1)

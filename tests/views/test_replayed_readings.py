"""Views that show other elements find their history again by doing again what made them."""

import pytest
import rushlight as torch


@pytest.mark.parametrize(
    ("make", "names"),
    [
        (torch.view_as_real, ["ViewAsRealBackward0", "CopySlices"]),
        (lambda b: b.real, ["AsStridedBackward0", "ViewAsRealBackward0"]),
        (
            lambda b: torch.view_as_complex(torch.view_as_real(b)),
            ["ViewAsComplexBackward0", "ViewAsRealBackward0"],
        ),
    ],
)
def test_a_reading_is_replayed_after_a_write(make, names):
    x = torch.ones(2, dtype=torch.complex64, requires_grad=True)
    b = x * 1
    v = make(b)
    v.mul_(2)
    seen = [v.grad_fn, v.grad_fn.next_functions[0][0]]
    assert [type(node).__name__ for node in seen] == names
    v.abs().sum().backward()
    assert x.grad.abs().sum() > 0

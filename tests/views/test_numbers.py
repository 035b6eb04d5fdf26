"""Views of tensors without dimensions."""

import pytest
import rushlight as torch
from support import raises


@pytest.mark.parametrize("index", [1, -1])
def test_an_index_other_than_nought_is_out_of_range(index):
    with raises(IndexError, f"index {index} is out of bounds for dimension 0 with size 0"):
        torch.ones(())[index]
    with pytest.raises(IndexError, match="invalid index of a 0-dim tensor"):
        torch.ones(())[0]


def test_a_number_has_no_dimension_to_unflatten():
    with pytest.raises(RuntimeError) as caught:
        torch.ones(()).unflatten(0, (1, -1))
    text = "unflatten got an unexpected error:\nDimension specified as 0 but tensor has no dimensions"
    assert str(caught.value).startswith(text)


@pytest.mark.usefixtures("every_warning")
def test_adjoint_takes_matrices():
    with raises(
        RuntimeError,
        "tensor.adjoint() is only supported on matrices or batches of matrices. Got 1-D tensor.",
    ):
        torch.ones(1).adjoint()
    with pytest.warns(UserWarning, match="adjoint.* is deprecated on 0-D tensors. Consider using x.conj"):
        assert torch.ones(()).adjoint().shape == ()


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("T", "This function is the identity in these cases."),
        ("mT", "This function is the identity in these cases."),
        ("H", r"Consider using x.conj\(\)."),
        ("mH", r"Consider using x.conj\(\)."),
    ],
)
@pytest.mark.usefixtures("every_warning")
def test_numbers_are_transposed_with_a_warning(name, hint):
    with pytest.warns(UserWarning, match=f"Tensor.{name} is deprecated on 0-D tensors. {hint}"):
        assert getattr(torch.ones(()), name).item() == 1.0

"""The pieces that matrices of derivatives are made of, which programs that compute their own take from here."""

import pytest
import rushlight as torch
from rushlight.autograd.functional import _construct_standard_basis_for, _tuple_postprocess
from support import raises


def test_the_standard_basis_lies_in_a_matrix_for_each_tensor():
    first, second = _construct_standard_basis_for(
        (torch.ones(1), torch.ones(1, 2, dtype=torch.float64)), (1, 2)
    )
    assert first.tolist() == [[1.0], [0.0], [0.0]]
    assert second.tolist() == [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]
    assert (first.dtype, second.dtype) == (torch.float32, torch.float64)


def test_a_basis_is_that_of_something():
    with raises(AssertionError, "Expected at least one tensor"):
        _construct_standard_basis_for((), ())
    with raises(
        AssertionError, "Expected tensors and tensor_numels to have the same length, but got 1 and 2"
    ):
        _construct_standard_basis_for((torch.ones(1),), (1, 2))


@pytest.mark.parametrize(
    ("marks", "left"),
    [
        (True, ((1, 2), (3, 4))),
        (False, (1, 2)),
        ((True, True), ((1, 2), (3, 4))),
        ((True, False), (1, 3)),
        ((False, True), (1, 2)),
        ((False, False), 1),
    ],
)
def test_results_leave_the_tuples_that_nobody_gave(marks, left):
    assert _tuple_postprocess(((1, 2), (3, 4)), marks) == left


def test_the_basis_of_a_number_and_of_a_vector_has_a_column_and_two():
    first, second = _construct_standard_basis_for((torch.tensor(3.0), torch.zeros(2)), (1, 2))
    assert first.tolist() == [[1.0], [0.0], [0.0]]
    assert second.tolist() == [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]]

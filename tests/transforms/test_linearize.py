"""`func.linearize`: what it says of arguments and results that have no derivative."""

import pytest
import rushlight as torch
from rushlight.func import linearize

# torch traces, and the tracer has its own remarks.
pytestmark = pytest.mark.filterwarnings("ignore:Attempted to insert a get_attr Node")

X = torch.tensor([1.0, 2.0])


def test_results_without_derivatives_are_handed_through():
    value, push = linearize(lambda x: (x**2, 1, None), X)
    assert value[0].equal(X**2)
    assert value[1:] == (1, None)
    pushed = push(torch.ones(2))
    assert pushed[0].equal(2 * X)
    assert pushed[1:] == (1, None)


def test_integers_do_not_move():
    value, push = linearize(lambda x: {"double": x * 2, "rounded": x.long()}, X)
    assert value["rounded"].equal(torch.tensor([1, 2]))
    assert push(torch.ones(2))["rounded"].equal(torch.tensor([0, 0]))


def test_arguments_have_to_be_floating_point_tensors():
    message = r"^Expected primal to be floating point or complex, but got: torch.int64$"
    with pytest.raises(ValueError, match=message):
        linearize(lambda x: x * 2, torch.tensor([1]))
    with pytest.raises(AttributeError, match=r"^'float' object has no attribute 'new_empty'$"):
        linearize(lambda x, y: x * y, X, 3.0)
    with pytest.raises(TypeError, match="must be Tensor, not float"):
        linearize(torch.sin, 3.0)


def test_tangents_have_the_structure_and_shape_of_the_arguments():
    _, push = linearize(lambda pair: pair[0] * pair[1], (X, X))
    assert push((torch.ones(2), torch.zeros(2))).equal(X)
    with pytest.raises(RuntimeError, match="to have the same argspec as the primals"):
        push(torch.ones(2))
    with pytest.raises(RuntimeError, match=r"^tangent:0 with shape"):
        push((torch.ones(3), torch.ones(2)))


def test_a_function_that_writes_to_its_argument_is_linearized():
    x, direction = torch.tensor([1.0, 2.0, 3.0]), torch.tensor([0.5, -1.0, 2.0])
    _, push = linearize(lambda x: x.mul_(2), x.clone())
    assert torch.equal(push(direction), 2 * direction)
    assert torch.equal(push(3 * direction), 6 * direction)


@pytest.mark.own  # torch writes twice
def test_what_a_linearized_function_writes_is_written_once():
    x = torch.tensor([1.0, 2.0, 3.0])
    value, _ = linearize(lambda x: x.mul_(2).sum(), x)
    assert x.tolist() == [2.0, 4.0, 6.0] and value.item() == 12.0


def test_a_function_without_arguments_is_linearized_to_zeros():
    x = torch.tensor([1.0, 2.0])
    value, push = linearize(lambda: (x * 2, 3))
    assert value[0].tolist() == [2.0, 4.0] and value[1] == 3
    assert push()[0].tolist() == [0.0, 0.0]

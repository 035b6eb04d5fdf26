"""In which order saved tensors are packed and unpacked, and how often."""

import pytest
import rushlight as torch


def logged(function, *tensors):
    """What was packed and what unpacked, by the places of the tensors."""

    def place(tensor):
        return next((index for index, other in enumerate(tensors) if tensor is other), None)

    packed, unpacked = [], []
    with torch.autograd.graph.saved_tensors_hooks(
        lambda tensor: (packed.append(place(tensor)), tensor)[1],
        lambda tensor: (unpacked.append(place(tensor)), tensor)[1],
    ):
        result = function(*tensors)
    result.sum().backward()
    return packed, unpacked


@pytest.mark.parametrize(
    ("function", "order"),
    [
        (torch.mul, [1, 0]),
        (torch.div, [1, 0]),
        (torch.atan2, [1, 0]),
        (torch.maximum, [1, 0]),
        (torch.dot, [0, 1]),
        (torch.mm, [1, 0]),
    ],
)
def test_what_an_operation_was_given_is_packed_by_name_and_unpacked_once(function, order):
    shape = (2, 2) if function is torch.mm else (2,)
    x = torch.rand(shape, requires_grad=True)
    y = torch.rand(shape, requires_grad=True)
    assert logged(function, x, y) == (order, order)


def test_of_three_too():
    x, y, weight = (torch.rand(2, requires_grad=True) for _ in range(3))
    assert logged(torch.lerp, x, y, weight) == ([1, 0, 2], [1, 0, 2])
    assert logged(torch.addcdiv, x, y, weight) == ([1, 2], [1, 2])


def test_every_run_unpacks_anew():
    seen = []
    x = torch.rand(2, requires_grad=True)
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, lambda t: (seen.append(1), t)[1]):
        y = (x / torch.rand(2, requires_grad=True)).sum()
    y.backward(retain_graph=True)
    y.backward()
    assert len(seen) == 4

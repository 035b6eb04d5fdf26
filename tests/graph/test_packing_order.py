"""In which order saved tensors are packed and unpacked, and how often."""

import pytest
import rushlight as torch
from rushlight.utils._python_dispatch import TorchDispatchMode


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


def test_the_order_holds_for_operations_of_three_too():
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


class Listing(TorchDispatchMode):
    """Notes operations that run in a list."""

    def __init__(self, seen):
        super().__init__()
        self.seen = seen

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen.append(func.name().removeprefix("aten::"))
        return func(*args, **(kwargs or {}))


ONES = torch.ones(2)
OPERATIONS = {
    "function of an input": (lambda x: x.sin(), ["packed", "sin"]),
    "function of the output": (lambda x: x.exp(), ["exp", "packed"]),
    "two inputs": (lambda x: x * x, ["packed", "packed", "mul.Tensor"]),
    "matrix": (lambda x: torch.mv(ONES[None], x), ["unsqueeze", "packed", "mv"]),
    "in place": (lambda x: x.clone().sin_(), ["clone", "clone", "packed", "sin_"]),
    "in place, of the output": (lambda x: x.clone().exp_(), ["clone", "exp_", "packed"]),
    "in place, of the other": (
        lambda x: x.clone().mul_(ONES),
        ["clone", "packed", "mul_.Tensor"],
    ),
    "results beside the first": (
        lambda x: torch.nn.functional.layer_norm(x, (2,)),
        ["packed", "native_layer_norm", "packed", "packed"],
    ),
    "nothing recorded": (lambda x: x.detach().sin(), ["detach", "sin"]),
}


@pytest.mark.parametrize(("function", "order"), OPERATIONS.values(), ids=OPERATIONS.keys())
def test_inputs_are_packed_before_an_operation_runs_and_outputs_after(function, order):
    seen = []
    x = torch.ones(2, requires_grad=True)
    hooks = torch.autograd.graph.saved_tensors_hooks(lambda t: (seen.append("packed"), t)[1], lambda t: t)
    with hooks, Listing(seen):
        function(x)
    assert seen == order


def test_nothing_is_written_if_what_is_kept_of_it_cannot_be_packed():
    def refuse(tensor):
        raise ValueError("no")

    x = torch.tensor([1.0, 2.0], requires_grad=True)
    for write in (lambda y: y.mul_(x), lambda y: y.sin_(), lambda y: y.masked_fill_(y > 1, 0.0)):
        y = x.clone()
        with (
            pytest.raises(ValueError, match="no"),
            torch.autograd.graph.saved_tensors_hooks(refuse, lambda t: t),
        ):
            write(y)
        assert torch.equal(y, x)
        assert y._version == 0
        assert y.grad_fn.name() == "CloneBackward0"


def test_old_values_are_packed_as_a_copy_with_history():
    packed = []
    y = torch.ones(2, requires_grad=True).clone()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: (packed.append(t), t)[1], lambda t: t):
        y.sin_()
    assert packed[0].grad_fn.name() == "CloneBackward0"
    assert torch.equal(packed[0], torch.ones(2))

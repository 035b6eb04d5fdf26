"""`_version`: what counts as a change, and who shares the count."""

import pytest
import rushlight as torch
from support import raises

MODIFIED = "one of the variables needed for gradient computation has been modified by an inplace operation"
CHANGES = {
    "add_": lambda x: x.add_(1),
    "sub_": lambda x: x.sub_(1),
    "mul_": lambda x: x.mul_(2),
    "div_": lambda x: x.div_(2),
    "pow_": lambda x: x.pow_(2),
    "neg_": lambda x: x.neg_(),
    "exp_": lambda x: x.exp_(),
    "log_": lambda x: x.log_(),
    "sqrt_": lambda x: x.sqrt_(),
    "sin_": lambda x: x.sin_(),
    "cos_": lambda x: x.cos_(),
    "tanh_": lambda x: x.tanh_(),
    "sigmoid_": lambda x: x.sigmoid_(),
    "relu_": lambda x: x.relu_(),
    "abs_": lambda x: x.abs_(),
    "clamp_": lambda x: x.clamp_(0, 1),
    "zero_": lambda x: x.zero_(),
    "fill_": lambda x: x.fill_(3),
    "copy_": lambda x: x.copy_(torch.ones(2, 2)),
    "scatter_add_": lambda x: x.scatter_add_(0, torch.zeros(1, 2, dtype=torch.int64), torch.ones(1, 2)),
    "setitem": lambda x: x.__setitem__(0, 5),
    "setitem by mask": lambda x: x.__setitem__(x > 0, 5),
    "setitem by index": lambda x: x.__setitem__(torch.tensor([0]), 5),
    "iadd": lambda x: x.__iadd__(1),
    "isub": lambda x: x.__isub__(1),
    "imul": lambda x: x.__imul__(2),
    "itruediv": lambda x: x.__itruediv__(2),
    "ipow": lambda x: x.__ipow__(2),
}


def test_a_new_tensor_is_at_version_zero():
    assert torch.ones(2)._version == 0
    assert (torch.ones(2) + 1)._version == 0


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_every_change_counts_one(change):
    x = torch.ones(2, 2)
    change(x)
    assert x._version == 1
    change(x)
    assert x._version == 2


@pytest.mark.parametrize("name", [name for name in CHANGES if name.endswith("_")])
def test_a_change_in_place_returns_the_tensor_itself(name):
    x = torch.ones(2, 2)
    address = x.data_ptr()
    assert CHANGES[name](x) is x
    assert x.data_ptr() == address


def test_reading_counts_nothing():
    x = torch.ones(2, 2)
    x + 1, x.sum(), x[0], x.view(4), x.tolist(), x.clone(), repr(x), x.numpy()
    assert x._version == 0


def test_an_operator_with_assignment_keeps_the_object():
    x = y = torch.ones(2)
    x += 1
    x *= 3
    assert x is y and y.tolist() == [6.0, 6.0]


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.view(4),
        lambda x: x.t(),
        lambda x: x[0],
        lambda x: x[:, 1:],
        lambda x: x.detach(),
        lambda x: x.unbind()[1],
    ],
    ids=["view", "t", "select", "slice", "detach", "unbind"],
)
def test_views_and_detached_tensors_share_the_count(view):
    x = torch.ones(2, 2)
    v = view(x)
    v.add_(1)
    assert x._version == 1 and v._version == 1
    x.add_(1)
    assert x._version == 2 and v._version == 2


def test_data_shares_the_memory_and_not_the_count():
    x = torch.ones(2)
    d = x.data
    d.add_(1)
    assert x.tolist() == [2.0, 2.0]
    assert x._version == 0 and d._version == 1


def test_a_change_through_data_is_not_noticed_by_backward():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 1
    z = y * y
    y.data.fill_(10)
    z.sum().backward()
    assert x.grad.tolist() == [20.0]


def test_clone_starts_anew():
    x = torch.ones(2)
    x.add_(1)
    assert x.clone()._version == 0


def test_a_detached_change_is_noticed_by_backward():
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 1
    z = y * y
    y.detach().fill_(10)
    with pytest.raises(RuntimeError, match="is at version 1; expected version 0 instead"):
        z.sum().backward()


def test_an_update_of_a_leaf_without_recording_is_noticed():
    w = torch.tensor([2.0], requires_grad=True)
    loss = (w * w).sum()
    with torch.no_grad():
        w.sub_(0.1)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize(
    "harmless",
    [lambda y: y + 1, lambda y: y * 2, lambda y: -y, lambda y: y.sum(), lambda y: y.view(1), lambda y: y - 3],
    ids=["add", "mul by number", "neg", "sum", "view", "sub"],
)
def test_a_change_of_what_nobody_saved_is_harmless(harmless):
    x = torch.tensor([2.0], requires_grad=True)
    y = x * 1
    z = harmless(y).sum()
    y.detach().fill_(10)
    z.backward()
    assert x.grad is not None


def test_a_failed_change_does_not_count():
    x = torch.ones(2)
    with pytest.raises(RuntimeError):
        x.add_(torch.ones(3))
    assert x._version == 0
    assert x.tolist() == [1.0, 1.0]


@pytest.mark.parametrize(
    ("dtype", "name"),
    [
        (torch.bool, "CPUBoolType"),
        (torch.complex64, "CPUComplexFloatType"),
        (torch.int64, "torch.LongTensor"),
        (torch.float32, "torch.FloatTensor"),
    ],
)
def test_a_saved_tensor_that_was_overwritten_is_told_of_with_its_type(dtype, name):
    class Keeping(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, kept):
            ctx.save_for_backward(kept)
            return x * 1

        @staticmethod
        def backward(ctx, gradient):
            assert ctx.saved_tensors
            return gradient, None

    kept = torch.ones(2, dtype=dtype)
    y = Keeping.apply(torch.ones(2, requires_grad=True), kept)
    kept.fill_(0)
    with raises(
        RuntimeError,
        f"{MODIFIED}: [{name} [2]] is at version 1; expected version 0 instead.",
    ):
        y.sum().backward()


@pytest.mark.parametrize(
    ("write", "source"),
    [
        (lambda w, x: w.add_(x), ", which is output 0 of Add,"),
        (lambda w, x: w.add_(1).mul_(x), ", which is output 0 of Mul,"),
        (lambda w, x: w[0].mul_(x[0]), ", which is output 0 of torch::autograd::CopySlices,"),
        (lambda w, x: w.add_(1), ""),
    ],
)
def test_a_saved_tensor_that_got_a_history_since_is_told_of_with_it(write, source):
    x, w = torch.ones(3, requires_grad=True), torch.ones(3)
    y = x * w
    write(w, x)
    with raises(RuntimeError, f"{MODIFIED}: [torch.FloatTensor [3]]{source} is at version"):
        y.sum().backward()


@pytest.mark.parametrize(
    "write", [lambda y: y.add_(1), lambda y: y[0].mul_(2), lambda y: y.fill_(1), lambda y: y.mul_(y.detach())]
)
def test_a_saved_tensor_that_left_the_history_behind_is_told_of_without(write):
    x = torch.ones(3, requires_grad=True)
    y = x * 1
    y.add_(1)
    z = x * y.detach()
    write(y)
    with raises(RuntimeError, f"{MODIFIED}: [torch.FloatTensor [3]] is at version"):
        (z + y).sum().backward()


@pytest.mark.parametrize(
    ("write", "name"),
    [
        (lambda y: y.__setitem__(slice(None), 3), "FillBackward3"),
        (lambda y: y.__setitem__(Ellipsis, 3), "FillBackward3"),
        (lambda y: y.__setitem__(slice(0, 3), torch.tensor(3.0)), "FillBackward3"),
        (lambda y: y.fill_(3), "FillBackward2"),
        (lambda y: y.sum_to_size(1)[0].__setitem__(Ellipsis, 3), None),
    ],
)
def test_an_assigned_number_is_recorded_like_an_assigned_tensor(write, name):
    y = torch.ones(3, requires_grad=True).clone()
    write(y)
    assert y.grad_fn.name() == (name or "CloneBackward0")


def test_a_number_assigned_to_a_tensor_without_dimensions_is_copied():
    for value in (3, torch.tensor(3.0)):
        y = torch.ones(3, requires_grad=True).sum()
        y[...] = value
        assert y.grad_fn.name() == "torch::autograd::CopyBackwards"


def test_the_result_of_a_product_must_not_be_overwritten():
    x = torch.ones(3, requires_grad=True)
    for of in (lambda: x.prod(), lambda: x.prod(0)):
        y = of()
        y.mul_(2)
        with raises(RuntimeError, "one of the variables needed for gradient computation has been modified"):
            y.backward()


def test_the_operation_that_made_an_overwritten_tensor_is_named_with_its_overload():
    x = torch.ones(2, 2, requires_grad=True)
    named = {"Sum1": lambda: x.sum(0), "Max1": lambda: x.max(), "Mm": lambda: x @ x}
    named["torch::autograd::CopyBackwards"] = lambda: torch.zeros(2, 2).copy_(x)
    for name, make in named.items():
        y = make()
        z = y * y
        torch.autograd.graph.increment_version(y)
        with pytest.raises(RuntimeError, match=f", which is output 0 of {name}, is at version"):
            z.sum().backward()

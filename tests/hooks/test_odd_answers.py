"""Hooks that answer tensors of another form than they were given."""

import pytest
import rushlight as torch


def saved(function, unpack):
    x = torch.arange(1.0, 7.0).reshape(2, 3).requires_grad_()
    with torch.autograd.graph.saved_tensors_hooks(lambda t: t, unpack):
        return x, function(x)


@pytest.mark.parametrize("function", [torch.exp, lambda x: x.softmax(-1), lambda x: x @ x.t()])
@pytest.mark.parametrize("unpack", [lambda t: t.reshape(-1)[:4], lambda t: torch.ones(7, 2, 5)])
def test_a_saved_tensor_of_another_shape_is_refused(function, unpack):
    x, y = saved(function, unpack)
    with pytest.raises(RuntimeError):
        torch.autograd.grad(y.sum(), x)


@pytest.mark.parametrize("unpack", [lambda t: t.double(), lambda t: t.half()])
def test_a_saved_tensor_may_be_one_of_another_type(unpack):
    x, y = saved(torch.sin, unpack)
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert gradient.dtype == torch.float32
    assert torch.allclose(gradient, x.cos(), atol=1e-2)


@pytest.mark.own
def test_what_is_refused_is_said():
    _, y = saved(torch.exp, lambda t: torch.ones(1, 2, 3))
    words = (
        r"^A saved tensor is expected to be a Float tensor of shape \[2, 3\], as when it was saved, but is a Float "
        r"tensor of shape \[1, 2, 3\] now"
    )
    with pytest.raises(RuntimeError, match=words):
        y.sum().backward()


def test_a_saved_tensor_may_be_one_that_is_repeated():
    x, y = saved(torch.exp, lambda t: t[:1])
    (gradient,) = torch.autograd.grad(y.sum(), x)
    assert torch.equal(gradient, x[:1].exp().expand(2, 3))


@pytest.mark.parametrize("form", ["tensor", "node"])
@pytest.mark.parametrize("function", [lambda x: x.softmax(-1), lambda x: x.cumsum(0), lambda x: x @ x.t()])
def test_a_gradient_that_a_hook_makes_smaller_is_refused(function, form):
    x = torch.ones(2, 3, requires_grad=True)
    y = function(x)
    if form == "tensor":
        y.register_hook(lambda gradient: gradient.resize_(1))
    else:
        y.grad_fn.register_prehook(lambda gradients: (gradients[0].resize_(1),))
    with pytest.raises(RuntimeError):
        torch.autograd.grad((y * 2).sum(), x)


def test_so_is_one_that_other_nodes_got_too():
    x = torch.ones(2, 3, requires_grad=True)
    a, b = x.softmax(-1), x.cumsum(0)
    # The sum hands both the same gradient.
    b.register_hook(lambda gradient: gradient.resize_(1))
    with pytest.raises(RuntimeError):
        torch.autograd.grad(((a + b) * 2).sum(), x)

"""Hooks that functions under transforms register: each sees the derivatives of one transform."""

import rushlight as torch
from rushlight.func import grad, hessian, vjp, vmap


def tenfold(x):
    """The sum of the squares of `2 * x`, whose gradient a hook takes ten times."""
    y = x * 2
    y.register_hook(lambda gradient: gradient * 10)
    return (y * y).sum()


def test_a_hook_sees_the_gradient_of_its_transform():
    assert torch.equal(grad(tenfold)(torch.tensor([1.0, 2.0])), torch.tensor([80.0, 160.0]))


def test_a_hook_does_not_see_what_an_outer_transform_differentiates():
    slope = grad(lambda x: grad(tenfold)(x).sum())
    assert torch.equal(slope(torch.tensor([1.0, 2.0])), torch.tensor([80.0, 80.0]))
    assert torch.equal(hessian(tenfold)(torch.tensor([1.0])), torch.tensor([[80.0]]))


def test_a_hook_does_not_see_a_backward_outside():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    grad(tenfold)(x).sum().backward()
    assert torch.equal(x.grad, torch.tensor([80.0, 80.0]))


def test_a_hook_sees_what_is_pulled_back_after_its_transform():
    _, pull_back = vjp(tenfold, torch.tensor([1.0, 2.0]))
    assert torch.equal(pull_back(torch.tensor(1.0))[0], torch.tensor([80.0, 160.0]))
    assert torch.equal(vmap(pull_back)(torch.ones(2))[0], torch.tensor([[80.0, 160.0]] * 2))


def test_a_hook_of_a_node_sees_one_transform_only():
    seen = []

    def watched(x):
        y = x.sin()
        y.grad_fn.register_hook(lambda *_: seen.append("after"))
        y.grad_fn.register_prehook(lambda *_: seen.append("before"))
        return y.sum()

    grad(lambda x: grad(watched)(x).sum())(torch.tensor([1.0]))
    assert seen == ["before", "after"]


def test_a_hook_of_the_outside_is_called_outside_only():
    seen = []
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = x * 3
    y.register_hook(lambda _: seen.append("outside"))
    slope = grad(lambda z: (z * z * y).sum())(y)
    assert seen == []
    slope.sum().backward()
    assert seen == ["outside"]


def test_a_hook_sees_a_gradient_asked_for_within_its_function():
    def slope(x):
        y = x * 2
        y.register_hook(lambda gradient: gradient * 10)
        return torch.autograd.grad((y * y).sum(), x)[0]

    assert torch.equal(vjp(slope, torch.tensor([1.0]))[0], torch.tensor([80.0]))


def test_a_hook_of_an_argument_sees_its_gradient():
    def doubled(x):
        x.register_hook(lambda gradient: gradient * 2)
        return (x * x).sum()

    assert torch.equal(grad(doubled)(torch.tensor([1.0])), torch.tensor([4.0]))
    assert torch.equal(grad(lambda x: grad(doubled)(x).sum())(torch.tensor([1.0])), torch.tensor([4.0]))
    assert torch.equal(vmap(grad(doubled))(torch.ones(2, 1)), torch.tensor([[4.0]] * 2))

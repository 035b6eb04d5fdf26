"""Mappings within derivatives, derivatives within mappings, and gradients that are batched."""

import pytest
import rushlight as torch
from rushlight.func import functional_call, grad, hessian, jacfwd, jacrev, jvp, vjp, vmap
from support import numbers, raises

F = torch.nn.functional


def curved(x):
    return x.sin() * x.sum()


def written(x):
    y = x.clone()
    y[0] = y[1] * 2
    y.mul_(x)
    y[1].add_(3)
    return y


def overwritten(x):
    y = torch.zeros(3, 2) + x
    y[1:].mul_(x)
    y.t_().add_(1)
    return y


def each(func, x):
    return torch.stack([func(row) for row in x])


@pytest.mark.parametrize(
    "func",
    [
        lambda x: x.sin().sum(),
        lambda x: (numbers(4, 3) @ x).tanh().pow(2).sum(),
        lambda x: x.softmax(0)[0] * x.norm(),
        lambda x: (x[torch.tensor([0, 0, 2])] * x).sum(),
        lambda x: torch.where(x > 0, x * x, x).prod(),
        lambda x: F.cross_entropy(x, torch.tensor(1)),
        lambda x: written(x).pow(2).sum(),
        lambda x: overwritten(x[:2]).pow(2).sum(),
        lambda x: torch.cat([x, x * 2]).cumsum(0).logsumexp(0),
        lambda x: vmap(lambda v: (v * x).sin().sum())(numbers(4, 3)).sum(),
        lambda x: grad(lambda y: (y**3).sum() * x[0])(x).sum(),
    ],
)
def test_gradients_of_samples_are_those_of_each(func):
    x = numbers(5, 3)
    expected = each(grad(func), x)
    torch.testing.assert_close(vmap(grad(func))(x), expected)
    torch.testing.assert_close(grad(lambda x: vmap(func)(x).sum())(x), expected)
    leaf = x.clone().requires_grad_()
    vmap(func)(leaf).sum().backward()
    torch.testing.assert_close(leaf.grad, expected)


def test_gradients_by_what_all_samples_share_differ_between_them():
    weight, bias, x = numbers(4, 2), numbers(4), numbers(3, 2)
    target = torch.tensor([0, 3, 1])

    def loss(weight, bias, x, target):
        return F.cross_entropy(F.linear(x.unsqueeze(0), weight, bias), target.unsqueeze(0))

    found = vmap(grad(loss, argnums=(0, 1)), in_dims=(None, None, 0, 0))(weight, bias, x, target)
    for sample in range(3):
        expected = grad(loss, argnums=(0, 1))(weight, bias, x[sample], target[sample])
        torch.testing.assert_close(tuple(gradient[sample] for gradient in found), expected)


def test_a_module_has_gradients_for_each_sample():
    model = torch.nn.Sequential(torch.nn.Linear(3, 5), torch.nn.ReLU(), torch.nn.Linear(5, 2))
    parameters = {name: parameter.detach() for name, parameter in model.named_parameters()}
    x, y = numbers(4, 3), numbers(4, 2)

    def loss(parameters, x, y):
        return F.mse_loss(functional_call(model, parameters, (x,)), y)

    found = vmap(grad(loss), in_dims=(None, 0, 0))(parameters, x, y)
    for sample in range(4):
        one = torch.autograd.grad(F.mse_loss(model(x[sample]), y[sample]), list(model.parameters()))
        torch.testing.assert_close([gradient[sample] for gradient in found.values()], list(one))


def test_derivatives_of_derivatives_are_taken_within_a_mapping():
    x = numbers(2, 3)
    torch.testing.assert_close(vmap(grad(grad(lambda x: x**3)))(x[0]), 6 * x[0])
    scalar = lambda x: curved(x).sum()  # noqa: E731
    for second in (
        hessian,
        lambda f: jacrev(jacrev(f)),
        lambda f: jacfwd(jacfwd(f)),
        lambda f: jacrev(jacfwd(f)),
    ):
        torch.testing.assert_close(vmap(second(scalar))(x), each(second(scalar), x))


def test_products_with_jacobians_are_taken_within_a_mapping():
    x, v = numbers(2, 3), numbers(2, 3) + 1
    forth = torch.stack([jvp(curved, (a,), (b,))[1] for a, b in zip(x, v, strict=True)])
    torch.testing.assert_close(vmap(lambda x, v: jvp(curved, (x,), (v,))[1])(x, v), forth)
    torch.testing.assert_close(jvp(vmap(curved), (x,), (v,))[1], forth)
    torch.testing.assert_close(
        vmap(lambda v: jvp(curved, (x[0],), (v,))[1])(v),
        torch.stack([jvp(curved, (x[0],), (b,))[1] for b in v]),
    )
    back = torch.stack([vjp(curved, a)[1](b)[0] for a, b in zip(x, v, strict=True)])
    torch.testing.assert_close(vmap(lambda x, v: vjp(curved, x)[1](v)[0])(x, v), back)


def test_what_was_differentiated_within_a_mapping_is_differentiated_outside():
    leaf = numbers(3, 2).requires_grad_()
    slopes = vmap(grad(lambda x: (x**3).sum()))(leaf)
    (found,) = torch.autograd.grad(slopes.sum(), leaf)
    torch.testing.assert_close(found, 6 * leaf.detach())


def test_batched_gradients_are_rows_of_the_jacobian():
    x = numbers(3).requires_grad_()
    y = curved(x)
    (rows,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, retain_graph=True)
    torch.testing.assert_close(rows, jacrev(curved)(x.detach()))
    (rows,) = torch.autograd.grad(y, x, torch.eye(3), is_grads_batched=True, create_graph=True)
    assert rows.requires_grad
    (second,) = torch.autograd.grad(rows.sum(), x)
    torch.testing.assert_close(second, grad(lambda x: jacrev(curved)(x).sum())(x.detach()))


def test_batched_gradients_may_miss_an_input():
    x, unused = numbers(2).requires_grad_(), numbers(2).requires_grad_()
    found = torch.autograd.grad(x * 2, (x, unused), torch.eye(2), is_grads_batched=True, allow_unused=True)
    torch.testing.assert_close(found[0], 2 * torch.eye(2))
    assert found[1] is None


def test_a_gradient_may_be_mapped_over():
    x = numbers(3).requires_grad_()
    y = curved(x)
    rows = vmap(lambda v: torch.autograd.grad(y, x, v, retain_graph=True)[0])(torch.eye(3))
    torch.testing.assert_close(rows, jacrev(curved)(x.detach()))


def test_gradients_of_random_samples_use_what_was_drawn():
    torch.manual_seed(0)
    found = vmap(grad(lambda x: (torch.rand(2) * x).sum()), randomness="different")(torch.ones(3, 2))
    torch.manual_seed(0)
    torch.testing.assert_close(found, torch.rand(3, 2))


def test_mappings_do_not_leave_marks_on_leaves():
    leaf = numbers(3, 2).requires_grad_()
    with raises(RuntimeError, "backward() called inside a functorch transform. This is not supported"):
        vmap(lambda x: (x * leaf[0]).sum().backward())(numbers(3, 2))
    assert leaf.grad is None


def test_gradients_of_weights_lie_in_order_for_every_sample():
    x, weight, bias = numbers(4, 5, 3), numbers(2, 3), numbers(2)
    for inputs in (x, x[:, 0]):
        per_sample = vmap(grad(lambda w, x: F.linear(x, w, bias).pow(2).sum()), in_dims=(None, 0))
        found = per_sample(weight, inputs)
        assert found.stride() == (6, 3, 1)
        assert found.view(4, -1).shape == (4, 6)


@pytest.mark.own
@pytest.mark.parametrize("function", [lambda x: torch.cdist(x, x), lambda x: torch.special.zeta(x, x)])
def test_tangents_pass_around_a_mapping(function):
    x = numbers(2, 4, 3).abs() + 1.5
    expected = torch.stack([jvp(function, (one,), (one,))[1] for one in x])
    assert torch.allclose(jvp(vmap(function), (x,), (x,))[1], expected)
    assert torch.allclose(jvp(vmap(vmap(function)), (x[None],), (x[None],))[1][0], expected)

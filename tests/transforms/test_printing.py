"""The text of tensors within transforms: a layer for each that they belong to."""

import pytest
import rushlight as torch
from rushlight.func import debug_unwrap, grad, jvp, vmap

PLAIN = "tensor([1., 2.])"
X = torch.tensor([1.0, 2.0])


def layers(*titles, core=PLAIN):
    text = core
    for title in reversed(titles):
        text = f"{title}, value=\n" + "\n".join(f"    {line}" for line in text.splitlines()) + "\n)"
    return text


def looked(transform, look=str):
    seen = []

    def show(x):
        seen.append(look(x))
        return x.sum()

    transform(show)
    return seen[0]


FIRST, SECOND = "GradTrackingTensor(lvl=1", "GradTrackingTensor(lvl=2"

CASES = {
    "grad": (lambda f: grad(f)(X), layers(FIRST)),
    "grad of grad": (lambda f: grad(lambda x: grad(f)(x).sum())(X), layers(SECOND, FIRST)),
    "jvp": (lambda f: jvp(f, (X,), (X,)), layers(FIRST)),
    "an argument that is not differentiated": (
        lambda f: grad(lambda x, y: f(y) + x.sum())(torch.ones(1), X),
        layers(FIRST),
    ),
    "gradients of samples": (
        lambda f: vmap(grad(f))(torch.stack([X, X])),
        layers(SECOND, "BatchedTensor(lvl=1, bdim=0", core="tensor([[1., 2.],\n        [1., 2.]])"),
    ),
    "gradient of a mapping": (
        lambda f: grad(lambda x: vmap(f)(x).sum())(torch.stack([X, X])),
        layers("BatchedTensor(lvl=2, bdim=0", FIRST, core="tensor([[1., 2.],\n        [1., 2.]])"),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_tensor_shows_every_transform_around_it(name):
    transform, expected = CASES[name]
    assert looked(transform) == expected
    assert not looked(transform, lambda x: str(debug_unwrap(x))).startswith(("Grad", "Batched"))


def test_what_was_captured_shows_none():
    captured = torch.ones(1, requires_grad=True)
    assert looked(lambda f: grad(f)(X), lambda x: str(captured)) == "tensor([1.], requires_grad=True)"


def test_what_left_a_transform_shows_none():
    assert str(grad(lambda x: x.sum())(X)) == "tensor([1., 1.])"


TRACKED = torch.tensor([1.0, 2.0], requires_grad=True)


@pytest.mark.parametrize(
    ("transform", "shown"),
    [
        (lambda f: grad(f)(TRACKED), "tensor([1., 2.], requires_grad=True)"),
        (lambda f: grad(f)(TRACKED * 1), "tensor([1., 2.], grad_fn=<MulBackward0>)"),
        (lambda f: grad(lambda x: f(x * TRACKED))(torch.ones(2)), "tensor([1., 2.], grad_fn=<MulBackward0>)"),
        (lambda f: grad(lambda x: f(x.exp() * TRACKED.detach()))(torch.zeros(2)), PLAIN),
        (
            lambda f: jvp(lambda x: f(x * TRACKED), (torch.ones(2),), (X,)),
            "tensor([1., 2.], grad_fn=<MulBackward0>)",
        ),
    ],
)
def test_the_numbers_show_the_history_that_leads_out_of_all_transforms(transform, shown):
    assert looked(transform) == layers(FIRST, core=shown)


def test_a_parameter_shows_itself_while_a_function_is_mapped():
    shown = []
    vmap(lambda x: shown.append(str(torch.nn.Parameter(X))) or x)(X)
    assert shown == ["Parameter containing:\ntensor([1., 2.], requires_grad=True)"]

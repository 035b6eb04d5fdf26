"""The former forms of sums of products, with the numbers in front of what they weigh."""

import warnings

import pytest
import rushlight as torch

X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
Y = torch.tensor([[0.0, 1.0], [2.0, 5.0]])
# name: what is added to, and the factors.
SUMS = {
    "addmm": (X, X, Y),
    "addmv": (X[0], X, Y[0]),
    "addr": (X, X[0], Y[1]),
    "baddbmm": (X.expand(2, 2, 2), X.expand(2, 2, 2), Y.expand(2, 2, 2)),
    "addbmm": (X, X.expand(3, 2, 2), Y.expand(3, 2, 2)),
}
every_sum = pytest.mark.parametrize("name", SUMS)


@pytest.fixture(autouse=True)
def _quietly():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@every_sum
def test_functions_take_weights_in_front(name):
    (x, left, right), function = SUMS[name], getattr(torch, name)
    expected = function(x, left, right, beta=2, alpha=3)
    assert function(2, x, 3, left, right).equal(expected)
    assert function(2, x, left, right).equal(function(x, left, right, beta=2))
    out = torch.empty(0)
    assert function(2, x, 3, left, right, out=out) is out
    assert out.equal(expected)


@every_sum
def test_methods_take_weights_in_front(name):
    x, left, right = SUMS[name]
    expected = getattr(torch, name)(x, left, right, beta=2, alpha=3)
    assert getattr(x, name)(2, 3, left, right).equal(expected)
    assert getattr(x, name)(2, left, right).equal(getattr(x, name)(left, right, beta=2))
    target = x.clone()
    assert getattr(target, name + "_")(2, 3, left, right) is target
    assert target.equal(expected)


@every_sum
def test_weights_may_be_tensors_without_dimensions_and_be_named(name):
    x, left, right = SUMS[name]
    first, second = (
        ("mat", "vec") if name == "addmv" else ("vec1", "vec2") if name == "addr" else ("mat1", "mat2")
    )
    if "bmm" in name:
        first, second = "batch1", "batch2"
    expected = getattr(torch, name)(x, left, right, beta=2)
    assert getattr(torch, name)(torch.tensor(2.0), x, left, right).equal(expected)
    assert getattr(x, name)(2, **{first: left, second: right}).equal(expected)


@every_sum
def test_gradients_pass_the_former_forms(name):
    x, left, right = (part.clone().requires_grad_() for part in SUMS[name])
    getattr(torch, name)(2, x, 3, left, right).sum().backward()
    found = x.grad, left.grad, right.grad
    fresh = [part.detach().requires_grad_() for part in (x, left, right)]
    expected = torch.autograd.grad(getattr(torch, name)(*fresh, beta=2, alpha=3).sum(), fresh)
    assert all(one.equal(other) for one, other in zip(found, expected, strict=True))


def test_weights_behind_what_is_added_to_are_refused():
    with pytest.raises(TypeError, match="addmv"):
        torch.addmv(X[0], 1, X, Y[0])
    with pytest.raises(TypeError, match=r"addmv_\(\) takes 3 positional arguments but 5 were given"):
        torch.addmv_(X[0], 1, 1, X, Y[0])


@pytest.mark.usefixtures("every_warning")
def test_the_warning_names_what_to_call_instead():
    with pytest.warns(UserWarning) as caught:
        torch.addr(1, X, 1, X[0], X[0])
    assert str(caught[0].message).startswith(
        "This overload of addr is deprecated:\n\taddr(Number beta, Tensor input, Number alpha, Tensor vec1, "
        "Tensor vec2, *, Tensor out = None)\nConsider using one of the following signatures instead:\n\t"
        "addr(Tensor input, Tensor vec1, Tensor vec2, *, Number beta = 1, Number alpha = 1, Tensor out = None)"
    )

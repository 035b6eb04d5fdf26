"""What a tensor is inside of transforms, as programs ask that look beneath."""

import pytest
import rushlight as torch
from rushlight._C import _functorch
from rushlight.func import grad, jvp, vmap

X = torch.tensor([[1.0, 2.0], [3.0, 4.0]])


def answers(x):
    return (
        _functorch.is_batchedtensor(x),
        _functorch.is_gradtrackingtensor(x),
        _functorch.is_functorch_wrapped_tensor(x),
        _functorch.maybe_get_level(x),
        _functorch.maybe_get_bdim(x),
    )


BATCHED, TRACKED = (True, False, True), (False, True, True)


@pytest.mark.parametrize(
    ("transform", "expected"),
    [
        (lambda f: f(X), (False, False, False, -1, -1)),
        (lambda f: vmap(f)(X), (*BATCHED, 1, 0)),
        (lambda f: vmap(f, in_dims=1)(X), (*BATCHED, 1, 1)),
        (lambda f: grad(f)(X), (*TRACKED, 1, -1)),
        (lambda f: jvp(f, (X,), (X,)), (*TRACKED, 1, -1)),
        (lambda f: vmap(grad(f))(X), (*TRACKED, 2, -1)),
        (lambda f: grad(lambda x: vmap(f)(x).sum())(X), (*BATCHED, 2, 0)),
    ],
)
def test_the_outermost_layer_has_a_kind_a_level_and_samples(transform, expected):
    seen = []

    def look(x):
        seen.append(answers(x))
        return x.sum()

    transform(look)
    assert seen == [expected]


def test_one_layer_is_taken_off_at_a_time():
    texts = []

    def look(x):
        value = _functorch.get_unwrapped(x)
        texts.append(str(value))
        texts.append(str(_functorch.get_unwrapped(value)))
        return x.sum()

    vmap(grad(look))(X)
    assert texts[0].startswith("BatchedTensor(lvl=1, bdim=0, value=")
    assert texts[1] == str(X)
    with pytest.raises(RuntimeError, match="No wrappers present!"):
        _functorch.get_unwrapped(X)


def test_a_derivative_that_is_over_has_no_level():
    kept = []
    grad(lambda x: kept.append(x * 2) or x.sum())(X)
    assert answers(kept[0]) == (*TRACKED, -2, -1)
    assert torch.equal(_functorch.unwrap_if_dead(kept[0]), X * 2)


def test_levels_are_counted():
    assert _functorch.maybe_current_level() is None
    levels = []
    vmap(grad(lambda x: levels.append(_functorch.maybe_current_level()) or x.sum()))(X)
    assert levels == [2]
    with pytest.raises(ZeroDivisionError):
        vmap(lambda x: x / 0 if False else 1 / 0)(X)
    assert _functorch.maybe_current_level() is None


def test_what_is_no_tensor_is_refused():
    with pytest.raises(
        TypeError, match=r"^is_batchedtensor\(\): incompatible function arguments. The following"
    ):
        _functorch.is_batchedtensor(3)

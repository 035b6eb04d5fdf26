"""Norms and products of `linalg` that are written into tensors, and norms by their old names."""

import pytest
import rushlight as torch
from rushlight import linalg
from support import raises

X = torch.arange(12.0).reshape(3, 4)


@pytest.mark.parametrize(
    "call",
    [
        lambda **out: linalg.norm(X, **out),
        lambda **out: linalg.norm(X, dim=0, **out),
        lambda **out: linalg.norm(X, "nuc", **out),
        lambda **out: linalg.vector_norm(X, 3, 0, **out),
        lambda **out: linalg.matrix_norm(X, **out),
        lambda **out: linalg.matrix_norm(X, 1, **out),
        lambda **out: linalg.vecdot(X, X, **out),
        lambda **out: linalg.vecdot(X[0], X[0], **out),
        lambda **out: linalg.multi_dot([X, X.t(), X], **out),
        lambda **out: linalg.multi_dot([X[0], X.t()], **out),
    ],
)
def test_a_result_is_written_into_a_tensor(call):
    expected = call()
    out = torch.empty_like(expected)
    assert call(out=out) is out and torch.equal(out, expected)
    out = torch.empty(0)
    assert call(out=out) is out and torch.equal(out, expected)
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        call(out=torch.empty(7))
    with pytest.raises(RuntimeError, match="xpected out"):
        call(out=torch.empty_like(expected, dtype=torch.float64))


def test_the_words_for_another_type_are_those_of_the_function():
    out = torch.empty((), dtype=torch.float64)
    with raises(RuntimeError, "linalg.norm expected out tensor dtype Float but got: Double"):
        linalg.norm(X, out=out)
    with raises(RuntimeError, "linalg.matrix_norm expected out tensor dtype Float but got: Double"):
        linalg.matrix_norm(X, out=out)
    with raises(RuntimeError, "linalg.vecdot: Expected out of dtypeFloat but found Double"):
        linalg.vecdot(X, X, out=out)
    with raises(RuntimeError, "multi_dot(): expected out tensor to have dtype float but got double"):
        linalg.multi_dot([X, X.t()], out=out)


def test_products_are_not_recorded_into_tensors():
    x = X.clone().requires_grad_()
    text = (
        "functions with out=... arguments don't support automatic differentiation, but one of the arguments"
    )
    with raises(RuntimeError, f"sum(): {text}"):
        linalg.vecdot(x, x, out=torch.empty(3))
    with raises(RuntimeError, f"mm(): {text}"):
        linalg.multi_dot([x, X.t()], out=torch.empty(3, 3))
    assert linalg.norm(x, out=torch.empty(())).requires_grad


@pytest.mark.parametrize("order", ["fro", "nuc", 1, 2])
def test_the_dimensions_of_matrices_are_two(order):
    with raises(RuntimeError, "linalg.matrix_norm: dim must be a 2-tuple. Got 0 1 2"):
        linalg.matrix_norm(X, order, (0, 1, 2))
    with raises(RuntimeError, "linalg.matrix_norm: dims must be different. Got (0, 0)"):
        linalg.matrix_norm(X, order, (0, -2))


@pytest.mark.filterwarnings("ignore:at::")
def test_norms_have_old_names():
    assert torch.frobenius_norm(X, [0]).tolist() == pytest.approx(linalg.vector_norm(X, dim=0).tolist())
    assert torch.frobenius_norm(X, [0, 1], True).shape == (1, 1)
    assert torch.frobenius_norm(X, []).shape == ()
    assert torch.nuclear_norm(X, keepdim=True).item() == pytest.approx(linalg.matrix_norm(X, "nuc").item())
    assert torch.nuclear_norm(X, out=torch.empty(())).shape == ()
    with raises(RuntimeError, "Expected at most 2 dimensions, but got 3 dimensions instead."):
        torch.frobenius_norm(X.reshape(3, 2, 2), [0, 1, 2])
    with raises(RuntimeError, "linalg.matrix_norm: dims must be different. Got (0, 0)"):
        torch.nuclear_norm(X, 0)


def test_an_old_norm_is_differentiated_as_the_norm_it_is():
    x = X.clone().requires_grad_()
    (slope,) = torch.autograd.grad(torch.frobenius_norm(x, [0, 1]), x)
    assert torch.allclose(slope, X / linalg.norm(X))

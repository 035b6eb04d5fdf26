"""`func.jacrev`, `func.jacfwd` and `func.hessian`."""

import pytest
import rushlight as torch
from support import assert_tensor, raises, tensor

jacrev, jacfwd, hessian, grad = torch.func.jacrev, torch.func.jacfwd, torch.func.hessian, torch.func.grad
BOTH = pytest.mark.parametrize("jac", [jacrev, jacfwd])

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script")


@BOTH
def test_the_jacobian_has_the_shape_of_the_output_and_then_of_the_input(jac):
    x = torch.arange(6, dtype=torch.float64).view(2, 3)
    found = jac(lambda x: x.sum(1) ** 2)(x)
    assert_tensor(found, [[[6.0] * 3, [0.0] * 3], [[0.0] * 3, [24.0] * 3]])
    assert_tensor(jac(lambda x: x**2)(torch.tensor(3.0, dtype=torch.float64)), 6.0)


@BOTH
def test_argnums_chooses_arguments(jac):
    x, y = tensor(1.0, 2.0), tensor(3.0)
    assert_tensor(jac(lambda x, y: x * y, 1)(x, y), [[1.0], [2.0]])
    found = jac(lambda x, y: x * y, (0, 1))(x, y)
    assert type(found) is tuple
    assert_tensor(found[0], [[3.0, 0.0], [0.0, 3.0]])
    assert type(jac(lambda x: x, (0,))(x)) is tuple


@BOTH
def test_outputs_and_inputs_may_be_nested_containers(jac):
    found = jac(lambda d: {"sum": d["x"].sum(), "pair": (d["x"] * d["y"],)})(
        {"x": tensor(1.0, 2.0), "y": tensor(3.0)}
    )
    assert_tensor(found["sum"]["x"], [1.0, 1.0])
    assert_tensor(found["sum"]["y"], [0.0])
    assert_tensor(found["pair"][0]["y"], [[1.0], [2.0]])


@BOTH
def test_aux_is_handed_on(jac):
    found, aux = jac(lambda x: (x**2, x + 1), has_aux=True)(tensor(1.0, 2.0))
    assert_tensor(found, [[2.0, 0.0], [0.0, 4.0]])
    assert_tensor(aux, [2.0, 3.0])


@BOTH
def test_jacobians_can_be_nested(jac):
    assert_tensor(jac(jac(lambda x: (x**3).sum()))(tensor(1.0, 2.0)), [[6.0, 0.0], [0.0, 12.0]])


def test_a_hessian_of_several_arguments_nests_twice():
    found = hessian(lambda x, y: (x**3).sum() * y.sum(), (0, 1))(tensor(1.0, 2.0), tensor(3.0))
    assert_tensor(found[0][0], [[18.0, 0.0], [0.0, 36.0]])
    assert_tensor(found[0][1], [[3.0], [12.0]])
    assert_tensor(found[1][0], [[3.0, 12.0]])
    assert_tensor(found[1][1], [[0.0]])


@pytest.mark.parametrize("copy", [False, True])
@pytest.mark.parametrize("chunk_size", [1, 2, 3, 4, 7, None])
def test_jacrev_gives_the_same_in_pieces(chunk_size, copy):
    def f(x, y):
        return x.sum() * y, x * y.sum()

    arguments = tensor(1.0, 2.0), tensor(3.0, 4.0, 5.0)
    expected = jacrev(f, (0, 1))(*arguments)
    found = jacrev(f, (0, 1), chunk_size=chunk_size, _preallocate_and_copy=copy)(*arguments)
    for row, wanted in zip(found, expected, strict=True):
        for one, other in zip(row, wanted, strict=True):
            assert_tensor(one, other.numpy())


def test_a_piece_has_a_size():
    for size in (0, -1):
        with raises(ValueError, "jacrev: `chunk_size` should be greater than 0."):
            jacrev(torch.sin, chunk_size=size)


def test_what_an_output_does_not_depend_on_has_zeros():
    assert_tensor(jacrev(lambda x: tensor(1.0, 2.0))(tensor(1.0)), [[0.0], [0.0]])
    assert_tensor(jacrev(lambda x, y: x, 1)(tensor(1.0, 2.0), tensor(1.0)), [[0.0], [0.0]])


def test_jacrev_can_be_differentiated_from_outside():
    x = tensor(1.0, 2.0, requires_grad=True)
    assert_tensor(torch.autograd.grad(jacrev(lambda x: x**3)(x).sum(), x)[0], [6.0, 12.0])
    assert not jacrev(torch.sin)(tensor(1.0)).requires_grad


def test_jacrev_words_its_errors_as_vjp_does():
    with raises(
        RuntimeError,
        "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type <class 'int'>",
    ):
        jacrev(lambda x: 3)(tensor(1.0))
    with raises(RuntimeError, "Got argnum=1, but only 1 positional inputs"):
        jacrev(torch.sin, 1)(tensor(1.0))


def test_jacfwd_words_its_errors_as_jvp_does():
    with raises(
        RuntimeError,
        "jvp(f, primals, tangents): expected f(*primals) to return only tensors, got unsupported type <class 'int'>",
    ):
        jacfwd(lambda x: 3)(tensor(1.0))

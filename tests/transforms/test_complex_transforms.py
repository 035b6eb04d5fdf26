"""Transforms of functions of complex numbers."""

import gc

import pytest
import rushlight as torch
from support import raises

CDOUBLE = torch.complex128


@pytest.fixture
def _nothing_stays():
    """A failure inside of a transform keeps what is in its frames until it is collected."""
    yield
    gc.collect()


def test_transforms_of_functions_take_complex_numbers():
    z = torch.tensor([1 + 2j, 3 - 4j], dtype=CDOUBLE)
    torch.testing.assert_close(torch.func.grad(lambda z: z.abs().sum())(z), z.sgn())
    torch.testing.assert_close(torch.func.vjp(torch.exp, z)[1](torch.ones_like(z))[0], z.exp().conj())
    torch.testing.assert_close(torch.func.jvp(torch.exp, (z,), (torch.ones_like(z),))[1], z.exp())
    torch.testing.assert_close(torch.vmap(lambda z: z.conj() * z)(z), z.abs() ** 2 + 0j)
    each = torch.vmap(torch.func.grad(lambda z: (z * z).real))(z)
    torch.testing.assert_close(each, 2 * z.conj().resolve_conj())


@pytest.mark.usefixtures("_nothing_stays")
@pytest.mark.parametrize("transform", ["jacrev", "jacfwd"])
@pytest.mark.parametrize(
    ("kind", "function", "argument"),
    [
        ("inputs", lambda z: z * z, torch.ones(2, dtype=CDOUBLE)),
        ("outputs", lambda x: x * 1j, torch.ones(2)),
    ],
)
def test_complex_numbers_have_no_jacobian_in_one_piece(transform, kind, function, argument):
    with raises(
        RuntimeError,
        f"{transform}: Expected all {kind} to be real but received complex tensor at flattened input idx: 0",
    ):
        getattr(torch.func, transform)(function)(argument)

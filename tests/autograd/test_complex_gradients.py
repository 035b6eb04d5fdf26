"""Gradients of complex numbers: ∂L/∂x + i ∂L/∂y of a real L, through functions of all kinds."""

from operator import methodcaller

import pytest
import rushlight as torch
from rushlight.autograd import Function, forward_ad, functional, gradcheck, gradgradcheck
from support import raises

CDOUBLE = torch.complex128


def c(*shape):
    return torch.randn(*shape, dtype=CDOUBLE, requires_grad=True)


def r(*shape):
    return torch.randn(*shape, dtype=torch.float64, requires_grad=True)


def positive(*shape):
    return (torch.rand(*shape, dtype=torch.float64) + 0.5).requires_grad_()


UNARY = [
    *(
        "exp",
        "expm1",
        "exp2",
        "log",
        "log2",
        "log10",
        "log1p",
        "sqrt",
        "rsqrt",
        "reciprocal",
        "square",
        "neg",
    ),
    *(
        "sin",
        "cos",
        "tan",
        "asin",
        "acos",
        "atan",
        "sinh",
        "cosh",
        "tanh",
        "asinh",
        "acosh",
        "atanh",
        "sigmoid",
    ),
    *("sgn", "abs", "angle", "conj", "conj_physical", "resolve_conj"),
]
FUNCTIONS = {name: (methodcaller(name), lambda: (c(3),)) for name in UNARY}
FUNCTIONS |= {
    "real": (lambda x: x.real, lambda: (c(3),)),
    "imag": (lambda x: x.imag, lambda: (c(3),)),
    "imag_of_conj": (lambda x: x.conj().imag * 1, lambda: (c(3),)),
    "view_as_real": (torch.view_as_real, lambda: (c(3),)),
    "view_as_complex": (torch.view_as_complex, lambda: (r(3, 2),)),
    "complex": (torch.complex, lambda: (r(3), r(3))),
    "polar": (torch.polar, lambda: (positive(3), r(3))),
    "add": (lambda a, b: torch.add(a, b, alpha=2 - 1j), lambda: (c(3), c(3))),
    "add_real": (lambda a, b: a + b, lambda: (c(3), r(3))),
    "sub": (lambda a, b: a - b, lambda: (r(3), c(3))),
    "rsub": (lambda a: (1 + 2j) - a, lambda: (c(3),)),
    "mul": (lambda a, b: a * b, lambda: (c(2, 3), c(3))),
    "mul_real": (lambda a, b: a * b, lambda: (r(3), c(3))),
    "mul_number": (lambda a: a * (1 + 2j), lambda: (r(3),)),
    "div": (lambda a, b: a / b, lambda: (c(3), c(3))),
    "div_real": (lambda a, b: a / b, lambda: (r(3), c(3))),
    "rdiv": (lambda a: (1 + 2j) / a, lambda: (c(3),)),
    "pow_number": (lambda a: a**3 + a**-1 + a**0.5 + a ** (1 + 2j), lambda: (c(3),)),
    "pow": (lambda a, b: a**b, lambda: (c(3), c(3))),
    "rpow": (lambda b: 2**b + (1 + 1j) ** b, lambda: (c(3),)),
    "sum": (lambda a: a.sum(1, keepdim=True), lambda: (c(2, 3),)),
    "mean": (lambda a: a.mean(0), lambda: (c(2, 3),)),
    "prod": (lambda a: a.prod(1), lambda: (c(2, 3),)),
    "cumsum": (lambda a: a.cumsum(1), lambda: (c(2, 3),)),
    "cumprod": (lambda a: a.cumprod(1), lambda: (c(2, 3),)),
    "var": (lambda a: a.var(0), lambda: (c(4, 2),)),
    "std_mean": (lambda a: torch.std_mean(a, 0), lambda: (c(4, 2),)),
    "norm": (lambda a: torch.linalg.vector_norm(a, 3), lambda: (c(3),)),
    "norm_2": (lambda a: a.norm(), lambda: (c(3),)),
    "logsumexp": (lambda a: a.logsumexp(0), lambda: (c(3),)),
    "mm": (torch.mm, lambda: (c(2, 3), c(3, 2))),
    "mv": (torch.mv, lambda: (c(2, 3), c(3))),
    "bmm": (torch.bmm, lambda: (c(2, 2, 3), c(2, 3, 2))),
    "dot": (torch.dot, lambda: (c(3), c(3))),
    "vdot": (torch.vdot, lambda: (c(3), c(3))),
    "outer": (torch.outer, lambda: (c(2), c(3))),
    "addmm": (
        lambda a, b, d: torch.addmm(a, b, d, alpha=1j, beta=2 - 1j),
        lambda: (c(2, 2), c(2, 3), c(3, 2)),
    ),
    "einsum": (lambda a, b: torch.einsum("ij,kj->ik", a, b), lambda: (c(2, 3), c(2, 3))),
    "linear": (torch.nn.functional.linear, lambda: (c(2, 3), c(4, 3), c(4))),
    "addcmul": (lambda a, b, d: torch.addcmul(a, b, d, value=1j), lambda: (c(3), c(3), c(3))),
    "addcdiv": (lambda a, b, d: torch.addcdiv(a, b, d, value=2), lambda: (c(3), c(3), c(3))),
    "lerp": (lambda a, b: torch.lerp(a, b, 0.3), lambda: (c(3), c(3))),
    "inverse": (torch.linalg.inv, lambda: (c(3, 3),)),
    "solve": (torch.linalg.solve, lambda: (c(3, 3), c(3))),
    "det": (torch.linalg.det, lambda: (c(3, 3),)),
    "logabsdet": (lambda a: torch.linalg.slogdet(a)[1], lambda: (c(3, 3),)),
    "cholesky": (
        lambda a: torch.linalg.cholesky(a @ a.mH + 3 * torch.eye(2, dtype=CDOUBLE)),
        lambda: (c(2, 2),),
    ),
    "where": (lambda a, b: torch.where(torch.tensor([True, False, True]), a, b), lambda: (c(3), c(3))),
    "masked_fill": (lambda a: a.masked_fill(torch.tensor([True, False, True]), 1j), lambda: (c(3),)),
    "index": (lambda a: a[torch.tensor([0, 0, 1])], lambda: (c(3),)),
    "gather": (lambda a: a.gather(0, torch.tensor([1, 1])), lambda: (c(3),)),
    "scatter_add": (lambda a, b: a.scatter_add(0, torch.tensor([1, 1]), b), lambda: (c(3), c(2))),
    "index_add": (lambda a, b: a.index_add(0, torch.tensor([1, 1]), b), lambda: (c(3), c(2))),
    "cat": (lambda a, b: torch.cat([a, b]), lambda: (c(3), r(3))),
    "tril": (lambda a: a.tril(), lambda: (c(3, 3),)),
    "adjoint": (lambda a: a.mH * 1, lambda: (c(2, 3),)),
    "as_strided": (lambda a: a.as_strided((2, 2), (1, 1)), lambda: (c(4),)),
    "pad": (lambda a: torch.nn.functional.pad(a, (1, 1)), lambda: (c(3),)),
    "to_complex": (lambda a: a.to(CDOUBLE) * 1j, lambda: (r(3),)),
    "written_real": (lambda a, b: _written((a * 1), lambda z: z.real.copy_(b)), lambda: (c(3), r(3))),
    "scaled_imag": (lambda a: _written(a * 1, lambda z: z.imag.mul_(3)), lambda: (c(3),)),
    "conj_exp_": (lambda a: _written(a * 1, lambda z: z.conj().exp_()), lambda: (c(3),)),
    "conj_mul_": (lambda a, b: _written(a * 1, lambda z: z[1:].conj().mul_(b)), lambda: (c(3), c(2))),
    "pairs_mul_": (
        lambda a, b: _written(a * 1, lambda z: torch.view_as_complex(z).mul_(b)),
        lambda: (r(3, 2), c(3)),
    ),
    "view_after_write": (lambda a: _view_after_write(a * 1), lambda: (c(3),)),
    "setitem": (lambda a, b: _written(a * 1, lambda z: z.__setitem__(0, b[0])), lambda: (c(3), c(1))),
    "exp_": (lambda a: (a * 1).exp_(), lambda: (c(3),)),
}


def _written(z, write):
    write(z)
    return z


def _view_after_write(z):
    part = z.imag
    z.mul_(2j)
    return part * 1


@pytest.mark.parametrize("name", FUNCTIONS)
def test_gradients_agree_with_finite_differences(name):
    function, make = FUNCTIONS[name]
    inputs = make()
    assert gradcheck(function, inputs, check_forward_ad=True)
    assert gradcheck(function, inputs, fast_mode=True)
    assert gradgradcheck(function, inputs, check_fwd_over_rev=True)


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name not in ("imag_of_conj",)])
def test_many_gradients_at_once_are_those_one_by_one(name):
    function, make = FUNCTIONS[name]
    assert gradcheck(function, make(), check_batched_grad=True)


def test_the_gradient_is_that_of_the_conjugate():
    z = torch.tensor([1 + 2j, 3 - 4j], requires_grad=True)
    (z * z.conj()).sum().real.backward()
    assert z.grad.tolist() == [2 + 4j, 6 - 8j]
    assert not z.grad.is_conj()
    w = torch.tensor([1 + 2j], requires_grad=True)
    (w * (3 + 1j)).sum().real.backward()
    assert w.grad.tolist() == [3 - 1j]


def test_a_real_input_gets_a_real_gradient():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    (x * (1 + 2j)).sum().imag.backward()
    assert x.grad.dtype is torch.float32 and x.grad.tolist() == [2, 2]
    y = torch.tensor([1.0], requires_grad=True)
    (y * torch.tensor([3 + 4j])).abs().sum().backward()
    assert y.grad.tolist() == [5]


def test_gradients_of_complex_leaves_accumulate():
    z = torch.tensor([1 + 1j], requires_grad=True)
    z.sum().real.backward()
    z.sum().imag.backward()
    assert z.grad.tolist() == [1 + 1j]


def test_a_complex_scalar_has_no_gradient_of_its_own():
    z = torch.zeros(2, dtype=torch.complex64, requires_grad=True)
    text = "grad can be implicitly created only for real scalar outputs but got torch.complex64"
    with raises(RuntimeError, text):
        z.sum().backward()
    with raises(RuntimeError, text):
        torch.autograd.grad(z.sum(), z)
    with raises(RuntimeError, "grad can be implicitly created only for scalar outputs"):
        (z * 2).backward()


def test_a_gradient_is_complex_if_the_output_is():
    z = torch.zeros(2, dtype=torch.complex64, requires_grad=True)
    with raises(
        RuntimeError,
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in "
        "dtype: grad_output[0] has a dtype of torch.float32 and output[0] has a dtype of torch.complex64.",
    ):
        (z * 2).backward(torch.ones(2))
    with raises(RuntimeError, "For complex Tensors, both grad_output and output are required to have"):
        torch.autograd.grad(z.abs(), z, torch.ones(2, dtype=torch.complex64))
    (z * 2).backward(torch.ones(2, dtype=CDOUBLE))
    assert z.grad.dtype is torch.complex64


def test_a_leaf_of_complex_numbers_may_require_grad_and_one_of_integers_not():
    assert torch.zeros(2, dtype=torch.complex64).requires_grad_().requires_grad
    assert torch.nn.Parameter(torch.zeros(2, dtype=torch.complex64)).requires_grad
    with raises(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"):
        torch.zeros(2, dtype=torch.int32, requires_grad=True)


def test_the_grad_of_a_leaf_has_its_dtype():
    z = torch.zeros(2, dtype=torch.complex64, requires_grad=True)
    with raises(
        RuntimeError,
        "attempting to assign a gradient with dtype 'float' to a tensor with grad_dtype 'ComplexFloat'.",
    ):
        z.grad = torch.ones(2)


def test_hooks_see_complex_gradients_and_answer_some():
    z = torch.tensor([1 + 2j], requires_grad=True)
    seen = []
    y = z * 2
    y.register_hook(lambda g: (seen.append(g), g * 1j)[1])
    y.sum().real.backward()
    assert seen[0].tolist() == [1] and z.grad.tolist() == [2j]
    y = z * 2
    y.register_hook(lambda g: g.real)
    with raises(
        RuntimeError,
        "hook '<lambda>' has changed the type of value (was CPUComplexFloatType got torch.FloatTensor)",
    ):
        y.sum().real.backward()


class Given(Function):
    """The identity, with a gradient of any kind."""

    @staticmethod
    def forward(ctx, x, answer):
        ctx.answer = answer
        return x.clone()

    @staticmethod
    def backward(ctx, g):
        return ctx.answer(g), None


def test_a_function_may_answer_a_real_gradient_for_a_complex_input():
    z = torch.tensor([1 + 2j], requires_grad=True)
    Given.apply(z, lambda g: g.real).sum().real.backward()
    assert z.grad.dtype is torch.complex64 and z.grad.tolist() == [1]


def test_a_function_may_not_answer_a_complex_gradient_for_a_real_input():
    x = torch.tensor([1.0], requires_grad=True)
    with raises(
        RuntimeError,
        "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
        "got false.  (Could this error message be improved?  If so, please report an enhancement request to "
        "PyTorch.)",
    ):
        Given.apply(x, lambda g: g * 1j).sum().backward()


def test_nodes_are_named_and_keep_what_torch_keeps():
    z = torch.tensor([1 + 2j], requires_grad=True)
    x = torch.ones(1, requires_grad=True)
    names = {
        "ConjBackward0": z.conj(),
        "ConjPhysicalBackward0": z.conj_physical(),
        "ViewAsRealBackward0": torch.view_as_real(z),
        "ViewAsComplexBackward0": torch.view_as_complex(torch.ones(2, requires_grad=True)),
        "SelectBackward0": z.real,
        "AbsBackward0": z.abs(),
        "AngleBackward0": z.angle(),
        "SgnBackward0": z.sgn(),
        "ComplexBackward0": torch.complex(x, x),
        "PolarBackward0": torch.polar(x, x),
        "NegViewBackward0": torch._neg_view(x),
        "CloneBackward0": z.conj().resolve_conj(),
        "VdotBackward0": torch.vdot(z, z),
    }
    for name, y in names.items():
        assert y.grad_fn.name() == name
    assert z.imag.grad_fn.next_functions[0][0].name() == "ViewAsRealBackward0"
    assert z.abs().grad_fn._saved_self is not None and z.sgn().grad_fn._saved_self.tolist() == [1 + 2j]
    assert torch.polar(x, x).grad_fn._saved_result.dtype is torch.complex64
    assert z.add(z, alpha=2j).grad_fn._saved_alpha == 2j
    assert z.pow(2j).grad_fn._saved_exponent == 2j
    assert (z * 2j).grad_fn._saved_other.dtype is CDOUBLE


@pytest.mark.own
@pytest.mark.parametrize("function", [torch.nn.functional.silu, torch.nan_to_num])
def test_units_of_complex_numbers_have_derivatives(function):
    z = torch.tensor([1 + 2j, -0.3 + 0.1j], dtype=CDOUBLE, requires_grad=True)
    assert gradcheck(function, z, check_forward_ad=True, check_batched_grad=True)
    assert gradgradcheck(function, z)


def test_the_logistic_unit_of_complex_numbers_is_a_product():
    z = torch.tensor([1 + 2j])
    torch.testing.assert_close(torch.nn.functional.silu(z), z * z.sigmoid())


def test_tangents_have_the_bits_of_what_they_belong_to():
    with forward_ad.dual_level():
        x, t = torch.randn(2, 2, dtype=CDOUBLE).conj(), torch.rand(2, 2, dtype=CDOUBLE)
        dual = forward_ad.make_dual(x, t)
        assert forward_ad.unpack_dual(dual).tangent.is_conj()
        torch.testing.assert_close(forward_ad.unpack_dual(dual[1:]).tangent, t[1:])
        plain = forward_ad.make_dual(torch.randn(2, dtype=CDOUBLE), torch.rand(2, dtype=CDOUBLE).conj())
        assert not forward_ad.unpack_dual(plain).tangent.is_conj()
        negative = forward_ad.make_dual(x.imag, t.imag)
        assert x.imag.is_neg() and forward_ad.unpack_dual(negative).tangent.is_neg()


def test_jacobians_of_complex_functions_are_computed_forward():
    z = torch.tensor([1 + 2j, 3 - 4j], dtype=CDOUBLE)
    forward = functional.jacobian(lambda z: z * z, z, strategy="forward-mode", vectorize=True)
    torch.testing.assert_close(forward, torch.diag(2 * z))
    with raises(RuntimeError, "grad can be implicitly created only for real scalar outputs but got"):
        functional.jacobian(lambda z: z * z, z)
    with raises(RuntimeError, "grad can be implicitly created only for real scalar outputs but got"):
        functional.hessian(lambda z: (z * z.conj()).sum().real, z)
    _, product = functional.jvp(lambda z: z * z, z, torch.ones(2, dtype=CDOUBLE))
    torch.testing.assert_close(product, 2 * z)

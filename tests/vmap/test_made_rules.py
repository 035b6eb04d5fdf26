"""Functions of one's own whose batching rule is made: mapped, differentiated, and both in any order."""

import pytest
import rushlight as torch
from rushlight.autograd import Function
from rushlight.func import grad, hessian, jacfwd, jacrev, jvp, vmap
from support import raises


class Exponential(Function):
    """It keeps what it answers."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.exp()

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(output)
        ctx.save_for_forward(output)

    @staticmethod
    def backward(ctx, gradient):
        (y,) = ctx.saved_tensors
        return gradient * y

    @staticmethod
    def jvp(ctx, tangent):
        (y,) = ctx.saved_tensors
        return tangent * y


class Product(Function):
    """It keeps what it is given, and a number."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x, y, factor):
        return x * y * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs[:2])
        ctx.save_for_forward(*inputs[:2])
        ctx.factor = inputs[2]

    @staticmethod
    def backward(ctx, gradient):
        x, y = ctx.saved_tensors
        by_x = gradient * y * ctx.factor if ctx.needs_input_grad[0] else None
        return by_x, gradient * x * ctx.factor, None

    @staticmethod
    def jvp(ctx, x_tangent, y_tangent, _):
        x, y = ctx.saved_tensors
        return (x_tangent * y + x * y_tangent) * ctx.factor


def product(x, y):
    return Product.apply(x, y, 3.0)


def plain_product(x, y):
    return x * y * 3.0


X = torch.arange(6.0).reshape(2, 3)
Y = torch.tensor([1.0, 2.0, 3.0])

EXPONENTIALS = {
    "mapped": lambda f: vmap(f)(Y),
    "mapped twice": lambda f: vmap(vmap(f))(X),
    "gradients of samples": lambda f: vmap(grad(f))(Y),
    "gradient of a mapping": lambda f: grad(lambda x: vmap(f)(x).sum())(X),
    "jacrev": lambda f: jacrev(f)(Y),
    "jacfwd": lambda f: jacfwd(f)(Y),
    "hessian": lambda f: hessian(lambda x: f(x).sum())(Y),
    "mapped hessian": lambda f: vmap(hessian(lambda x: f(x).sum()))(X),
    "forward over reverse": lambda f: jvp(grad(lambda x: f(x).sum()), (Y,), (Y,))[1],
    "second gradients of samples": lambda f: vmap(grad(grad(f)))(Y),
}

PRODUCTS = {
    "shared operand": lambda f: vmap(f, (0, None))(X, Y),
    "samples along columns": lambda f: vmap(f, (1, 0))(X.t(), X),
    "gradients of samples": lambda f: vmap(grad(lambda x, y: f(x, y).sum(), 1), (0, None))(X, Y),
    "jacrev": lambda f: vmap(jacrev(f, 1), (0, None))(X, Y),
    "jacfwd": lambda f: vmap(jacfwd(f, 1), (0, None))(X, Y),
    "jvp of a mapping": lambda f: jvp(lambda y: vmap(f, (0, None))(X, y), (Y,), (Y,))[1],
    "nested with a shared operand": lambda f: vmap(vmap(f, (0, None)), (None, 0))(Y, Y),
}


@pytest.mark.parametrize("name", EXPONENTIALS)
def test_a_function_that_keeps_its_output_composes(name):
    use = EXPONENTIALS[name]
    torch.testing.assert_close(use(Exponential.apply), use(torch.exp))


@pytest.mark.parametrize("name", PRODUCTS)
def test_a_function_that_keeps_its_inputs_composes(name):
    use = PRODUCTS[name]
    torch.testing.assert_close(use(product), use(plain_product))


def test_an_operand_that_samples_share_gets_the_sum_of_their_gradients():
    x, y = X.clone().requires_grad_(), Y.clone().requires_grad_()
    found = torch.autograd.grad((vmap(product, (0, None))(x, y) ** 2).sum(), (x, y))
    expected = torch.autograd.grad(((x * y * 3.0) ** 2).sum(), (x, y))
    torch.testing.assert_close(found, expected)


class Told(Exponential):
    """It tells what its rule is told."""

    generate_vmap_rule = False
    told: list = []  # noqa: RUF012

    @staticmethod
    def vmap(info, in_dims, x):
        Told.told.append((info.batch_size, info.randomness, in_dims))
        return x.exp(), in_dims[0]


def test_a_written_rule_is_told_how_random_numbers_are_drawn():
    Told.told.clear()
    vmap(Told.apply, in_dims=1, randomness="same")(X)
    assert Told.told == [(3, "same", (1,))]


class Misplaced(Exponential):
    generate_vmap_rule = False

    @staticmethod
    def vmap(info, in_dims, x):
        return x.exp(), (0, 0)


def test_dimensions_that_do_not_fit_the_output_are_refused():
    with raises(
        RuntimeError,
        "The autograd.Function's vmap staticmethod returned an incompatible (output, out_dims) tuple. "
        "Expected out_dims=(0, 0) to be compatible with the structure of `output`. out_dims has structure "
        "TreeSpec(tuple, None, [*,\n  *]) but output has structure *. For more details, please see "
        "https://pytorch.org/docs/main/notes/extending.func.html",
    ):
        vmap(Misplaced.apply)(X)


class Ambiguous(Told):
    generate_vmap_rule = True


def test_two_rules_are_one_too_many():
    with raises(
        RuntimeError,
        "You tried to vmap over Ambiguous, but it has both generate_vmap_rule=True and an overridden vmap "
        "staticmethod. Please set generate_vmap_rule=False or delete the overridden vmap staticmethod to "
        "avoid ambiguity. For more details, please see "
        "https://pytorch.org/docs/main/notes/extending.func.html",
    ):
        vmap(Ambiguous.apply)(X)


def filled(x):
    y = torch.zeros(3)
    y.copy_(x)
    return y * 2


def test_a_tensor_made_inside_takes_the_tangents_of_what_is_copied_into_it():
    torch.testing.assert_close(jacfwd(filled)(Y), 2 * torch.eye(3))


class Attributed(Function):
    """It keeps a tensor as an attribute."""

    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x * x

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.twice = inputs[0] * 2

    @staticmethod
    def backward(ctx, gradient):
        assert ctx.twice.shape == gradient.shape
        return gradient * ctx.twice


def test_attributes_of_a_context_are_those_of_the_sample():
    x = torch.arange(6.0).reshape(3, 2)
    assert torch.equal(grad(lambda x: vmap(Attributed.apply)(x).sum())(x), 2 * x)
    assert torch.equal(vmap(grad(lambda x: Attributed.apply(x).sum()))(x), 2 * x)
    y = x.clone().requires_grad_()
    vmap(Attributed.apply, in_dims=1)(y).sum().backward()
    assert torch.equal(y.grad, 2 * x)


def test_a_written_rule_must_name_a_dimension_that_there_is():
    class Far(Function):
        @staticmethod
        def forward(x):
            return x

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            return x * 2, 5

    with raises(IndexError, "Dimension out of range (expected to be in range of [-2, 1], but got 5)"):
        vmap(Far.apply)(torch.ones(3, 2))

"""`gradcheck`: what it finds, and what it says of it."""

import pytest
import rushlight as torch
from rushlight.autograd.gradcheck import GradcheckError
from support import leaf, raises

gradcheck, gradgradcheck = torch.autograd.gradcheck, torch.autograd.gradgradcheck
pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.script")
MODES = pytest.mark.parametrize("fast", [False, True])


def wrong(x):
    return x * x.detach()


def too_much(x):
    y = x * 2
    y.register_hook(lambda gradient: gradient + 0.01)
    return y


class Restless:
    """A function whose gradient is another one every time."""

    def __init__(self):
        self.calls = 0

    def __call__(self, x):
        y = x * 2
        y.register_hook(self.disturb)
        return y

    def disturb(self, gradient):
        self.calls += 1
        return gradient * (1 + 1e-3 * (self.calls % 2))


@MODES
def test_right_gradients_pass(fast):
    assert gradcheck(torch.sin, leaf(0.5, 1.0), fast_mode=fast) is True
    assert gradcheck(lambda x, y: (x * y, x.sum()), (leaf(0.5, 1.0), leaf(2.0, 3.0)), fast_mode=fast)
    assert gradcheck(lambda x, n: x * n, (leaf(0.5), 3), fast_mode=fast)
    assert gradcheck(lambda x: [x, x * 2], [leaf(0.5)], fast_mode=fast)
    assert gradcheck(lambda x: x, leaf(0.5), fast_mode=fast)


@MODES
@pytest.mark.parametrize("shape", [(), (0,), (2, 3)])
def test_every_shape_can_be_checked(shape, fast):
    x = torch.rand(shape, dtype=torch.float64)
    assert gradcheck(torch.exp, x.requires_grad_(), fast_mode=fast)
    assert gradcheck(torch.exp, x.detach().t().requires_grad_() if x.ndim == 2 else leaf(1.0), fast_mode=fast)


@MODES
def test_forward_mode_can_be_checked_too(fast):
    x, y = leaf(0.5, 1.0), leaf(2.0, 3.0)
    for backward in (False, True):
        assert gradcheck(
            lambda x, y: (x * y, x.sum()),
            (x, y),
            check_forward_ad=True,
            check_backward_ad=backward,
            fast_mode=fast,
        )


def test_outputs_without_gradient_are_left_out_and_must_be_constant():
    assert gradcheck(lambda x: (x * 2, x.detach().long()), leaf(0.5, 1.5))
    assert gradcheck(lambda x: torch.ones(2, dtype=torch.float64), leaf(0.5))
    with raises(GradcheckError, "Numerical gradient for function expected to be zero"):
        gradcheck(lambda x: x.detach(), leaf(0.5))


def test_a_wrong_gradient_is_shown_with_what_it_should_be():
    text = "Jacobian mismatch for output 0 with respect to input 0,\nnumerical:tensor([[1.0000, 0.0000],\n        [0.0000, 3.0000]], dtype=torch.float64)\nanalytical:tensor([[0.5000, 0.0000],\n        [0.0000, 1.5000]], dtype=torch.float64)\n"
    with raises(GradcheckError, text):
        gradcheck(wrong, leaf(0.5, 1.5))
    with raises(GradcheckError, "Jacobian mismatch for output 1 with respect to input 0,"):
        gradcheck(lambda x, y: (x * y, x.detach() * y), (leaf(0.5), leaf(2.0)))


def test_fast_mode_shows_the_slow_one_too():
    with pytest.raises(GradcheckError) as caught:
        gradcheck(wrong, leaf(0.5, 1.5), fast_mode=True)
    message = str(caught.value)
    assert message.startswith("Jacobian mismatch for output 0 with respect to input 0,\nnumerical:")
    assert (
        "\n\nThe above quantities relating the numerical and analytical jacobians are computed \nin fast mode. See: https://github.com/pytorch/pytorch/issues/53876 for more background \nabout fast mode. Below, we recompute numerical and analytical jacobians in slow mode:\n\nNumerical:\n tensor([[1.0000, 0.0000],\n"
        in message
    )
    assert "The max per-element difference (slow mode) is: 1." in message


def test_raise_exception_can_be_switched_off():
    assert gradcheck(wrong, leaf(0.5), raise_exception=False) is False
    assert gradcheck(torch.sin, leaf(0.5), raise_exception=False) is True
    with pytest.raises(ValueError):
        gradcheck(torch.sin, torch.ones(1, dtype=torch.float64), raise_exception=False)


@MODES
def test_tolerances_are_the_callers(fast):
    assert gradcheck(lambda x: x * 2, leaf(0.5), eps=1e-2, atol=1e-8, rtol=0.0, fast_mode=fast)
    assert not gradcheck(
        lambda x: x**3, leaf(0.5), eps=0.1, atol=1e-8, rtol=1e-8, raise_exception=False, fast_mode=fast
    )
    assert gradcheck(lambda x: x**3, leaf(0.5), eps=0.1, atol=0.1, fast_mode=fast)


@MODES
def test_gradients_must_be_repeatable(fast):
    with pytest.raises(GradcheckError) as caught:
        gradcheck(Restless(), leaf(0.5), atol=0.1, fast_mode=fast)
    message = str(caught.value)
    assert message.startswith(
        "Backward is not reentrant, i.e., running backward with same input and grad_output multiple times gives different values, although analytical gradient matches numerical gradient.The tolerance for nondeterminism was 0.0.\n\nNOTE: If your op relies on non-deterministic operations"
    )
    assert message.endswith("module_test entry to have `gradcheck_nondet_tol=<tol>`\n")
    assert gradcheck(
        Restless(), leaf(0.5), atol=0.1, nondet_tol=0.1, check_undefined_grad=False, fast_mode=fast
    )


def test_zero_gradients_must_give_zeros():
    with raises(GradcheckError, "backward not multiplied by grad_output"):
        gradcheck(too_much, leaf(0.5), atol=1.0, check_undefined_grad=False)


@pytest.mark.parametrize("shape", [(2,), (1,)])
@pytest.mark.filterwarnings("ignore:Input #0 requires gradient")
def test_low_precision_fails_after_a_warning(shape):
    with pytest.warns(
        UserWarning,
        match=r"^Input #0 requires gradient and is not a double precision floating point or complex. This check will likely fail if all the inputs are not of double precision floating point or complex. $",
    ):
        gradcheck(lambda x: x * 2, torch.ones(shape, requires_grad=True), eps=1e-2, atol=1e-2)


def test_memory_must_not_overlap():
    x = torch.ones(1, dtype=torch.float64).expand(3).requires_grad_()
    with raises(
        RuntimeError,
        "The 0th input has a dimension with stride 0. gradcheck only supports inputs that are non-overlapping to be able to compute the numerical gradients correctly. You should call .contiguous on the input before passing it to gradcheck.",
    ):
        gradcheck(torch.sin, x)


def test_some_input_must_require_grad():
    with raises(
        ValueError,
        "gradcheck expects at least one input tensor to require gradient, but none of them have requires_grad=True.",
    ):
        gradcheck(torch.sin, torch.ones(1, dtype=torch.float64))


def test_outputs_must_keep_shape_and_type():
    with raises(
        AssertionError,
        "Expected `func` to return outputs with the same shape when inputs are perturbed on index (0,) by 1e-06, but got: shapes torch.Size([1]) and torch.Size([2]).",
    ):
        gradcheck(lambda x: x[:1] if x[0] < 0.5 else x[:2], leaf(0.5, 1.0, 2.0))
    with raises(
        AssertionError,
        "Expected `func` to return outputs with the same dtype when inputs are perturbed on index (0,) by 1e-06, but got: dtypes torch.float32 and torch.float64.",
    ):
        gradcheck(lambda x: x.float() if x[0] < 0.5 else x, leaf(0.5))
    with raises(
        AssertionError,
        "Expected `func` to return outputs with the same shape when inputs are perturbed by 1e-06, but got: shapes torch.Size([1]) and torch.Size([2]).",
    ):
        gradcheck(lambda x: x[:1] if x[0] < 0.5 else x[:2], leaf(0.5, 1.0, 2.0), fast_mode=True)


COMBINATIONS = [
    (
        {"check_backward_ad": False},
        "Expected at least one of check_forward_ad or check_backward_ad to be True",
    ),
    (
        {"check_backward_ad": False, "check_forward_ad": True, "check_batched_grad": True},
        "Setting check_batched_grad=True requires check_backward_ad to be True",
    ),
    (
        {"check_batched_forward_grad": True},
        "Setting check_batched_forward_grad=True requires check_forward_ad to be True",
    ),
]


@pytest.mark.parametrize(("options", "text"), COMBINATIONS)
def test_options_must_go_together(options, text):
    with raises(AssertionError, text):
        gradcheck(torch.sin, leaf(0.5), **options)


def test_batched_gradients_can_be_checked():
    assert gradcheck(lambda x, y: x.sin() * y, (leaf(0.5, 1.0), leaf(2.0, 3.0)), check_batched_grad=True)
    assert gradcheck(torch.sin, leaf(0.5, 1.0), check_forward_ad=True, check_batched_forward_grad=True)


def test_a_gradient_that_cannot_be_batched_is_an_error():
    def f(x):
        y = x * 2
        y.register_hook(lambda gradient: gradient * (1.0 if gradient.sum().item() > -1e9 else 2.0))
        return y

    with pytest.raises(GradcheckError) as caught:
        gradcheck(f, leaf(0.5), check_batched_grad=True)
    message = str(caught.value)
    assert message.startswith("While computing batched gradients, got: ")
    assert (
        "\n\ngradcheck or gradgradcheck failed while testing batched gradient computation.\nThis could have been invoked"
        in message
    )


class Careless(torch.autograd.Function):
    """Its backward does not expect that a gradient may be missing."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 10

    @staticmethod
    def backward(ctx, gradient):
        if gradient is None:
            raise RuntimeError("a gradient is missing")
        return gradient * 10


class Wasteful(torch.autograd.Function):
    """Its backward makes something of nothing."""

    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 10

    @staticmethod
    def backward(ctx, gradient):
        return torch.ones(1, dtype=torch.float64) if gradient is None else gradient * 10


@pytest.mark.filterwarnings("ignore:Backwards compatibility")
def test_missing_gradients_must_be_expected():
    notes = 'Please look at "Notes about undefined output gradients" in "tools/autograd/derivatives.yaml"'
    with raises(GradcheckError, f"Expected backward function to handle undefined output grads. {notes}"):
        gradcheck(Careless.apply, leaf(0.5))
    with raises(
        GradcheckError,
        f"Expected all input grads to be undefined or zero when all output grads are undefined or zero. {notes}",
    ):
        gradcheck(Wasteful.apply, leaf(0.5))
    assert gradcheck(Careless.apply, leaf(0.5), check_undefined_grad=False)
    with pytest.warns(
        UserWarning,
        match=r"^Backwards compatibility: New undefined gradient support checking feature is enabled by default",
    ):
        gradcheck(Careless.apply, leaf(0.5), raise_exception=False)


@MODES
def test_second_derivatives_are_checked(fast):
    assert gradgradcheck(lambda x: x**3, leaf(0.5, 1.5), fast_mode=fast)
    assert gradgradcheck(lambda x, y: ((x * y).sin(), x.sum()), (leaf(0.5), leaf(2.0)), fast_mode=fast)
    assert gradgradcheck(lambda x: x * 2, leaf(0.5), fast_mode=fast)
    assert gradgradcheck(lambda x: x**3, leaf(0.5, 1.5), leaf(1.0, 2.0), fast_mode=fast)
    assert gradgradcheck(lambda x: x**3, leaf(0.5, 1.5), gen_non_contig_grad_outputs=True, fast_mode=fast)
    with pytest.raises(GradcheckError, match="Jacobian mismatch for output 0 with respect to input 0"):
        gradgradcheck(
            lambda x: x**2 * x.detach(), leaf(0.5), torch.ones(1, dtype=torch.float64), fast_mode=fast
        )


@MODES
def test_forward_over_reverse_is_checked(fast):
    assert gradgradcheck(
        lambda x, y: (x * y).sin(), (leaf(0.5), leaf(2.0)), check_fwd_over_rev=True, fast_mode=fast
    )
    assert gradgradcheck(
        lambda x: x**3,
        leaf(0.5),
        check_fwd_over_rev=True,
        check_rev_over_rev=False,
        check_undefined_grad=False,
        fast_mode=fast,
    )


def test_options_of_second_derivatives_must_go_together():
    x = leaf(0.5)
    with raises(
        AssertionError, "Expected at least one of check_fwd_over_rev or check_rev_over_rev to be True"
    ):
        gradgradcheck(torch.sin, x, check_rev_over_rev=False)
    with raises(AssertionError, "Setting check_undefined_grad=True requires check_rev_over_rev to be True"):
        gradgradcheck(torch.sin, x, check_fwd_over_rev=True, check_rev_over_rev=False)
    with raises(AssertionError, "Setting check_batched_grad=True requires check_rev_over_rev to be True"):
        gradgradcheck(
            torch.sin,
            x,
            check_fwd_over_rev=True,
            check_rev_over_rev=False,
            check_undefined_grad=False,
            check_batched_grad=True,
        )


class Halved(torch.autograd.Function):
    """A function of the older form, which transforms of functions refuse."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        ctx.save_for_backward(x)
        return x * x / 2

    @staticmethod
    def backward(ctx, gradient):
        return gradient * ctx.saved_tensors[0]

    @staticmethod
    def jvp(ctx, tangent):
        return tangent * ctx.saved_tensors[0]


@MODES
def test_tangents_of_functions_of_the_older_form_are_checked_together(fast):
    options = {"check_forward_ad": True, "check_batched_forward_grad": True, "check_batched_grad": True}
    assert gradcheck(Halved.apply, leaf(0.5, 2.0), fast_mode=fast, **options)


class Deciding(torch.autograd.Function):
    """A function whose backward looks at a number of what it is given."""

    @staticmethod
    def forward(ctx, x, look):
        ctx.look = look
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        ctx.look(gradient)
        return gradient.clone(), None


@pytest.mark.parametrize(
    ("look", "text"),
    [
        (lambda g: g.sum().item(), "Batching rule not implemented for aten::item. We could not generate a"),
        (lambda g: bool(g.sum() > 0), "Batching rule not implemented for aten::is_nonzero. We could not gen"),
        (lambda g: torch.rand(2) * g, "vmap: We do not yet support calling random operations inside of vma"),
    ],
)
def test_what_rules_cannot_do_for_many_gradients_is_told_in_their_own_words(look, text):
    x = torch.ones(2, requires_grad=True)
    y = Deciding.apply(x, look)
    with raises(RuntimeError, text):
        torch.autograd.grad(y, x, torch.eye(2), is_grads_batched=True)


class Calling(torch.autograd.Function):
    """A function whose backward calls another one."""

    @staticmethod
    def forward(ctx, x):
        return x * 1

    @staticmethod
    def backward(ctx, gradient):
        return Halved.apply(gradient)


def test_functions_of_the_older_form_may_be_called_in_backward_of_many_gradients():
    x = torch.ones(2, requires_grad=True)
    (found,) = torch.autograd.grad(Calling.apply(x), x, 2 * torch.eye(2), is_grads_batched=True)
    assert found.equal(2 * torch.eye(2))


def test_without_outputs_to_weigh_nothing_is_left_for_the_function():
    x = leaf(1.0, 2.0)
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        gradgradcheck(lambda x: x.detach(), (x,))
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'x'"):
        gradgradcheck(lambda x: x > 0, (x,), raise_exception=False)


def test_weights_that_lie_apart_are_every_other_of_twice_as_many_numbers():
    torch.manual_seed(0)
    gradgradcheck(lambda x: x**2, leaf(1.0, 2.0), gen_non_contig_grad_outputs=True)
    following = torch.rand(1)
    torch.manual_seed(0)
    torch.rand(4, dtype=torch.float64)
    assert following == torch.rand(1)

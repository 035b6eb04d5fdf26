"""Tangents of functions of one's own that return views or write in place: as torch wants them."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD

VIEW = (
    "A custom Function's forward is returning a view (or an input as-is) but the jvp is not returning a view."
)
GIVEN = "A custom Function is returning a view but the jvp is not returning a view of the {} grad input."


def passed(forward, jvp, primal=None):
    members = {"forward": staticmethod(forward), "jvp": staticmethod(jvp)}
    function = type("Own", (torch.autograd.Function,), members)
    with fwAD.dual_level():
        whole = torch.tensor([1.0, 2.0, 3.0]) if primal is None else primal
        dual = fwAD.make_dual(whole, torch.tensor([4.0, 5.0, 6.0]))
        return fwAD.unpack_dual(function.apply(dual)).tangent.tolist()


def narrow(ctx, x):
    return x.narrow(0, 0, 2)


def written(ctx, x):
    ctx.mark_dirty(x)
    return x.mul_(2)


def test_a_view_of_the_tangent_is_the_tangent_of_a_view():
    assert passed(narrow, lambda ctx, t: t.narrow(0, 0, 2)) == [4.0, 5.0]
    assert passed(lambda ctx, x: x, lambda ctx, t: t.view_as(t)) == [4.0, 5.0, 6.0]


@pytest.mark.parametrize(
    ("forward", "jvp", "text"),
    [
        (narrow, lambda ctx, t: t[:2].clone(), VIEW),
        (narrow, lambda ctx, t: t.clone()[:2], GIVEN.format("given")),
        (lambda ctx, x: x, lambda ctx, t: t, VIEW),
        (lambda ctx, x: x, lambda ctx, t: t * 2, VIEW),
        (lambda ctx, x: x.view(3, 1), lambda ctx, t: t, VIEW),
    ],
)
def test_what_is_no_view_of_the_tangent_is_refused(forward, jvp, text):
    with pytest.raises(RuntimeError) as caught:
        passed(forward, jvp)
    assert str(caught.value) == text


def test_a_tangent_written_to_is_the_tangent_of_what_was_written_to():
    assert passed(written, lambda ctx, t: t.mul_(2)) == [8.0, 10.0, 12.0]


@pytest.mark.parametrize("jvp", [lambda ctx, t: t.mul(2), lambda ctx, t: None])
def test_a_tangent_that_was_not_written_to_is_refused(jvp):
    with pytest.raises(RuntimeError) as caught:
        passed(written, jvp)
    assert str(caught.value) == (
        "An inplace custom Function is not modifying the forward mode gradients inplace. If the forward is "
        "modifying an input inplace, then the jvp function must modify the corresponding gradient inplace."
    )


def test_a_tangent_put_in_the_place_of_another_is_refused():
    with pytest.raises(RuntimeError) as caught:
        passed(written, lambda ctx, t: t.mul_(2).clone().add_(0))
    assert str(caught.value).startswith("An inplace custom Function is not ")


@pytest.mark.parametrize(
    ("jvp", "text"),
    [
        (lambda ctx, t: 3, "expected Variable or None (got int) for grad output 0."),
        (
            lambda ctx, t: t[:1],
            "Trying to set a forward gradient that has a different size than that of the original Tensor, "
            "this is not supported. Tensor is of size [3] while the given forward gradient is of size [1].",
        ),
    ],
)
def test_what_is_no_tangent_is_refused(jvp, text):
    with pytest.raises(RuntimeError) as caught:
        passed(lambda ctx, x: x.clone(), jvp)
    assert str(caught.value) == text


def test_a_constant_has_no_tangent():
    def constant(ctx, x):
        result = x.clone()
        ctx.mark_non_differentiable(result)
        return result

    with pytest.raises(RuntimeError) as caught:
        passed(constant, lambda ctx, t: t)
    assert str(caught.value) == (
        "Function's jvp returned a gradient at position 0, but  the corresponding forward output is not a "
        "differentiable Tensor.You should return None at that position instead."
    )


def test_a_tangent_may_be_more_precise_than_its_tensor():
    class Doubled(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def jvp(ctx, t):
            return t.double() * 2

    with fwAD.dual_level():
        dual = Doubled.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))
        assert (dual.dtype, fwAD.unpack_dual(dual).tangent.dtype) == (torch.float32, torch.float64)


def test_what_is_no_tensor_may_be_answered_a_tangent():
    class Two(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2, "no tensor"

        @staticmethod
        def jvp(ctx, t):
            return t * 2, t

    with fwAD.dual_level():
        first, second = Two.apply(fwAD.make_dual(torch.ones(2), torch.ones(2)))
        assert fwAD.unpack_dual(first).tangent.tolist() == [2.0, 2.0] and second == "no tensor"


def test_a_list_is_no_answer_of_several_tangents():
    with pytest.raises(RuntimeError) as caught:
        passed(lambda ctx, x: (x * 2, x * 3), lambda ctx, t: [t, t])
    assert str(caught.value) == "expected Variable or None (got list) for grad output 0."

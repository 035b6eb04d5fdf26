"""`func.jvp`: structure of arguments and results, errors, nesting, and what stays outside."""

import pytest
import rushlight as torch
import rushlight.autograd.forward_ad as fwAD
from rushlight.func import jvp
from support import raises

X, T = torch.tensor([0.5, 1.5]), torch.tensor([1.0, 10.0])


def test_value_and_derivative_come_together():
    value, derivative = jvp(torch.sin, (X,), (T,))
    torch.testing.assert_close(value, X.sin())
    torch.testing.assert_close(derivative, X.cos() * T)


def test_arguments_and_results_may_be_containers():
    def f(arguments, z):
        return {"product": arguments["a"] * arguments["b"], "rest": [z * 2]}

    value, derivative = jvp(f, ({"a": X, "b": X}, X), ({"a": T, "b": T}, T))
    torch.testing.assert_close(value, {"product": X * X, "rest": [X * 2]})
    torch.testing.assert_close(derivative, {"product": 2 * X * T, "rest": [T * 2]})


def test_auxiliary_results_are_handed_through():
    value, derivative, aux = jvp(lambda x: (x * 2, [x, x + 1]), (X,), (T,), has_aux=True)
    assert value.tolist() == (X * 2).tolist() and derivative.tolist() == (T * 2).tolist()
    assert aux[1].tolist() == (X + 1).tolist()


def test_a_result_that_does_not_depend_on_the_arguments_has_a_derivative_of_zeros():
    assert jvp(lambda x: T, (X,), (T,))[1].tolist() == [0.0, 0.0]
    with raises(
        RuntimeError,
        "jvp(f, primals, tangents, strict=True): The output of f is independent of the inputs. This is not "
        "allowed with strict=True.",
    ):
        jvp(lambda x: T, (X,), (T,), strict=True)


JVP = "jvp(f, primals, tangents): "


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (
            lambda: jvp(torch.sin, X, T),
            "Expected primals to be a tuple. E.g. it should be valid to call f(*primals).",
        ),
        (lambda: jvp(torch.sin, (1,), (T,)), "Expected primals to only contain Tensors, got <class 'int'>"),
        (
            lambda: jvp(torch.sin, (X,), (1.0,)),
            "Expected tangents to only contain Tensors, got <class 'float'>",
        ),
        (lambda: jvp(torch.sin, (), ()), "Expected primals to contain at least one Tensor."),
        (
            lambda: jvp(lambda x: 1, (X,), (T,)),
            "expected f(*primals) to return only tensors, got unsupported type <class 'int'>",
        ),
        (
            lambda: jvp(lambda x: None, (X,), (T,)),
            "Expected f to be a function that has non-empty output (got output = [None])",
        ),
        (
            lambda: jvp(lambda x: (), (X,), (T,)),
            "Expected f to be a function that has non-empty output (got output = [])",
        ),
        (
            lambda: jvp(lambda x: x, (X,), (T,), has_aux=True),
            "output of function f should be a tuple: (output, aux) if has_aux is True",
        ),
        (
            lambda: jvp(torch.sin, (X,), T),
            "Expected primals and tangents to have the same python structure. For example, if primals is a "
            "tuple of 3 tensors, tangents also must be. Got primals with structure TreeSpec(tuple, None, [*]) "
            "and tangents with structure *",
        ),
    ],
)
def test_wrong_arguments_and_results_are_refused(call, text):
    with raises(RuntimeError, JVP + text):
        call()


def test_auxiliary_results_must_be_tensors():
    with raises(RuntimeError, "Expected tensors, got unsupported type <class 'int'>"):
        jvp(lambda x: (x, {"a": 1}), (X,), (T,), has_aux=True)


def test_transforms_nest_without_confusing_their_tangents():
    def slope(x):
        return jvp(lambda y: x * y, (X,), (torch.ones(2),))[1]

    value, derivative = jvp(slope, (X,), (T,))
    assert value.tolist() == X.tolist() and derivative.tolist() == T.tolist()
    second = jvp(lambda x: jvp(torch.sin, (x,), (torch.ones(2),))[1], (X,), (T,))[1]
    torch.testing.assert_close(second, -X.sin() * T)
    third = jvp(
        lambda x: jvp(lambda x: jvp(torch.exp, (x,), (x,))[1], (x,), (torch.ones(2),))[1],
        (X,),
        (torch.ones(2),),
    )[1]
    torch.testing.assert_close(third, (X + 2) * X.exp())


def test_a_level_of_forward_mode_around_a_transform_or_in_it_is_refused():
    text = "Nested forward mode AD is not supported at the moment"
    with fwAD.dual_level(), raises(RuntimeError, text):
        jvp(torch.sin, (X,), (T,))
    with raises(RuntimeError, text):
        jvp(lambda x: fwAD.enter_dual_level(), (X,), (T,))
    assert fwAD._current_level == -1


def test_inside_of_a_transform_dual_tensors_belong_to_it():
    seen = []

    def f(x):
        seen.append(fwAD.unpack_dual(x).tangent.sum().item())
        return x * fwAD.make_dual(X, T)

    derivative = jvp(f, (X,), (T,))[1]
    torch.testing.assert_close(derivative, 2 * X * T)
    assert seen == [11.0]


def test_switching_forward_mode_off_outside_does_not_matter_inside():
    with fwAD._set_fwd_grad_enabled(False):
        assert jvp(torch.neg, (X,), (T,))[1].tolist() == (-T).tolist()
        assert not fwAD._is_fwd_grad_enabled()


def test_switching_forward_mode_off_inside_makes_constants():
    def f(x):
        with fwAD._set_fwd_grad_enabled(False):
            y = x * 2
        return x * y

    assert jvp(f, (X,), (T,))[1].tolist() == (2 * X * T).tolist()


def test_switching_forward_mode_off_inside_holds_for_all_levels_around():
    def outer(x):
        with fwAD._set_fwd_grad_enabled(False):
            return jvp(torch.sin, (x,), (torch.ones(2),))[1]

    value, derivative = jvp(outer, (X,), (T,))
    torch.testing.assert_close(value, X.cos())
    assert derivative.tolist() == [0.0, 0.0]


def test_a_derivative_can_be_differentiated_backward():
    x = X.clone().requires_grad_()
    value, derivative = jvp(torch.sin, (x,), (T,))
    torch.testing.assert_close(torch.autograd.grad(derivative.sum(), x)[0], -X.sin() * T)
    torch.testing.assert_close(torch.autograd.grad(value.sum(), x)[0], X.cos())


def test_results_have_no_tangents_left():
    value, derivative = jvp(torch.sin, (X,), (T,))
    with fwAD.dual_level():
        assert fwAD.unpack_dual(value).tangent is None and fwAD.unpack_dual(derivative).tangent is None


def test_writing_to_an_argument_writes_to_the_tensors_outside():
    def f(x):
        return x.mul_(2)

    x, t = torch.ones(2), torch.ones(2)
    jvp(f, (x,), (t,))
    assert x.tolist() == t.tolist() == [2.0, 2.0]


def test_the_identity_gives_views():
    value, derivative = jvp(lambda x: x, (X,), (T,))
    assert value is not X and value.data_ptr() == X.data_ptr() and derivative.data_ptr() == T.data_ptr()


def test_transforms_in_a_mapping_keep_the_tangents_of_their_tangents():
    def second(t):
        return jvp(lambda x: jvp(torch.sin, (x,), (t,))[1], (X,), (t,))[1]

    found = torch.func.vmap(second)(torch.eye(2))
    torch.testing.assert_close(found, torch.diag(-X.sin()))


def test_what_is_not_recorded_gives_tangents_without_a_history():
    assert not jvp(torch.exp, (X,), (T,))[1].requires_grad

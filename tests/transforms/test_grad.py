"""`func.grad` and `func.grad_and_value`."""

import pytest
import rushlight as torch
from support import assert_tensor, raises, tensor

grad, grad_and_value = torch.func.grad, torch.func.grad_and_value


def scalar(value, requires_grad=False):
    return torch.tensor(value, dtype=torch.float64, requires_grad=requires_grad)


def test_grad_is_a_function_of_the_same_arguments():
    assert_tensor(grad(lambda x: (x**3).sum())(tensor(1.0, 2.0)), [3.0, 12.0])
    assert_tensor(grad(lambda x, *, k: (x * k).sum())(tensor(1.0, 2.0), k=tensor(5.0, 7.0)), [5.0, 7.0])


def test_grad_and_value_gives_the_gradient_first():
    gradient, value = grad_and_value(lambda x: (x**3).sum())(tensor(1.0, 2.0))
    assert_tensor(gradient, [3.0, 12.0])
    assert_tensor(value, 9.0)


def test_grad_can_be_nested():
    x = scalar(2.0)
    assert_tensor(grad(grad(lambda x: x**4))(x), 48.0)
    assert_tensor(grad(grad(grad(lambda x: x**4)))(x), 48.0)


def test_a_nested_grad_may_use_the_outer_argument_as_a_constant():
    found = grad(lambda x: grad(lambda y: x**2 * y**3)(x) + x)(scalar(2.0))
    # d/dx (x² · 3x² + x)
    assert_tensor(found, 12 * 8.0 + 1)
    found = grad(lambda x: grad(lambda y: x**2 * y)(scalar(1.0)))(scalar(3.0))
    assert_tensor(found, 6.0)


def test_an_inner_derivative_by_something_else_is_zero():
    assert_tensor(grad(lambda x: grad(lambda y: x**2)(scalar(1.0)) + x)(scalar(3.0)), 1.0)


@pytest.mark.parametrize("argnums", [1, -1])
def test_argnums_chooses_an_argument(argnums):
    assert_tensor(grad(lambda x, y: (x * y**2).sum(), argnums)(tensor(3.0), tensor(5.0)), [30.0])


def test_a_tuple_of_argnums_gives_a_tuple_in_its_order():
    found = grad(lambda x, y, z: (x * y**2 * z).sum(), (1, 0))(tensor(3.0), tensor(5.0), tensor(1.0))
    assert type(found) is tuple
    assert_tensor(found[0], [30.0])
    assert_tensor(found[1], [25.0])
    assert type(grad(lambda x: x.sum(), (0,))(tensor(1.0))) is tuple


def test_arguments_may_be_nested_containers():
    found = grad(lambda d: d["a"].sum() * d["b"][0])({"a": tensor(1.0, 2.0), "b": [scalar(5.0)]})
    assert_tensor(found["a"], [5.0, 5.0])
    assert_tensor(found["b"][0], 3.0)


def test_the_same_tensor_twice_is_two_arguments():
    x = tensor(3.0)
    assert_tensor(grad(lambda x, y: (x**2 * y).sum())(x, x), [18.0])


def test_aux_is_handed_on():
    x = tensor(1.0, 2.0)
    gradient, aux = grad(lambda x: (x.sum(), {"twice": 2 * x, "same": [x]}), has_aux=True)(x)
    assert_tensor(gradient, [1.0, 1.0])
    assert_tensor(aux["twice"], [2.0, 4.0])
    assert aux["same"][0] is x
    assert not aux["twice"].requires_grad
    gradient, (value, aux) = grad_and_value(lambda x: (x.sum(), x), has_aux=True)(x)
    assert_tensor(value, 3.0)


def test_inside_the_argument_is_a_leaf_that_requires_grad():
    seen = []

    def look(x):
        seen.append((x.requires_grad, x.is_leaf, x.grad_fn))
        return x.sum()

    grad(look)(tensor(1.0))
    grad(look)(tensor(1.0, requires_grad=True))
    grad(look)(tensor(1.0, requires_grad=True) * 2)
    assert seen == [(True, True, None)] * 3


def test_results_have_no_history_if_nothing_outside_requires_grad():
    gradient, value = grad_and_value(lambda x: (x**3).sum())(tensor(1.0, 2.0))
    assert not gradient.requires_grad and not value.requires_grad
    assert gradient.grad_fn is None


def test_results_can_be_differentiated_from_outside():
    x = tensor(1.0, 2.0, requires_grad=True)
    gradient, value = grad_and_value(lambda x: (x**3).sum())(x)
    assert_tensor(torch.autograd.grad(value, x)[0], [3.0, 12.0])
    assert_tensor(torch.autograd.grad(gradient.sum(), x)[0], [6.0, 12.0])


def test_results_can_be_differentiated_by_what_the_function_captured():
    w = tensor(3.0, 5.0, requires_grad=True)
    gradient, value = grad_and_value(lambda x: (x**2 * w).sum())(tensor(1.0, 2.0))
    assert_tensor(torch.autograd.grad(value, w)[0], [1.0, 4.0])
    assert_tensor(torch.autograd.grad(gradient.sum(), w)[0], [2.0, 4.0])


def test_aux_that_depends_on_what_requires_grad_outside_keeps_its_history():
    w = tensor(3.0, requires_grad=True)
    _, aux = grad(lambda x: (x.sum(), (x.exp(), x.exp() * w)), has_aux=True)(tensor(0.0))
    assert not aux[0].requires_grad
    assert_tensor(torch.autograd.grad(aux[1], w)[0], [1.0])


def test_no_leaf_gets_a_gradient():
    x, w = tensor(1.0, requires_grad=True), tensor(2.0, requires_grad=True)
    grad(lambda x: (x * w).sum())(x)
    assert x.grad is None and w.grad is None


def test_no_grad_inside_is_obeyed():
    def f(x):
        with torch.no_grad():
            shift = x**2
        return x**3 - shift

    assert_tensor(grad(f)(scalar(2.0)), 12.0)
    assert_tensor(grad(grad(f))(scalar(2.0)), 12.0)
    x = scalar(2.0, requires_grad=True)
    assert_tensor(torch.autograd.grad(grad(f)(x), x)[0], 12.0)


def test_no_grad_outside_is_not_seen_inside_but_by_the_result():
    x = scalar(2.0, requires_grad=True)
    w = scalar(3.0, requires_grad=True)
    with torch.no_grad():
        gradient, value = grad_and_value(lambda x: x**3 * w)(x)
        assert not torch.is_grad_enabled()
    assert_tensor(gradient, 36.0)
    assert not gradient.requires_grad and not value.requires_grad


def test_no_grad_around_a_nested_grad_makes_it_a_constant():
    def f(x):
        with torch.no_grad():
            slope = grad(lambda x: x**4)(x)
        return x**3 - slope

    x = scalar(1.5, requires_grad=True)
    found = grad(f)(x)
    assert_tensor(found, 3 * 1.5**2)
    assert_tensor(torch.autograd.grad(found, x)[0], 6 * 1.5)


def test_what_is_unrelated_has_a_gradient_of_zeros():
    assert_tensor(grad(lambda x: scalar(1.0))(tensor(1.0, 2.0)), [0.0, 0.0])
    assert_tensor(grad(lambda x, y: x.sum(), (0, 1))(tensor(1.0), tensor(1.0, 2.0))[1], [0.0, 0.0])
    assert_tensor(grad(lambda x: x.sum().long())(tensor(1.0)), [0.0])


def test_hooks_inside_run():
    def f(x):
        y = x * 2
        y.register_hook(lambda gradient: gradient * 10)
        x.register_hook(lambda gradient: gradient + 1)
        return y.sum()

    assert_tensor(grad(f)(tensor(1.0)), [21.0])


def test_autograd_grad_inside_works():
    def f(x):
        (slope,) = torch.autograd.grad((x**3).sum(), x, create_graph=True)
        return slope.sum()

    assert_tensor(grad(f)(tensor(2.0)), [12.0])


def test_writing_to_what_was_computed_inside_works():
    def f(x):
        y = x.clone()
        y[0] = 5.0
        y.mul_(2)
        return (x * y).sum()

    assert_tensor(grad(f)(tensor(2.0, 3.0)), [10.0, 12.0])


def test_writing_to_the_argument_is_writing_to_a_leaf():
    text = "a leaf Variable that requires grad is being used in an in-place operation."
    for x in (tensor(1.0), tensor(1.0, requires_grad=True), tensor(1.0, requires_grad=True) * 2):
        with raises(RuntimeError, text):
            grad(lambda x: x.sin_().sum())(x)
    with raises(
        RuntimeError, "a view of a leaf Variable that requires grad is being used in an in-place operation."
    ):
        grad(lambda x: x.view(-1).sin_().sum())(tensor(1.0))


CAPTURED = [
    (lambda w, x: w.mul_(x), "mul_.Tensor"),
    (lambda w, x: w.add_(2), "add_.Tensor"),
    (lambda w, x: w.pow_(2), "pow_.Scalar"),
    (lambda w, x: w.copy_(x), "copy_"),
    (lambda w, x: w.zero_(), "zero_"),
    (lambda w, x: w.view(-1).sub_(x), "sub_.Tensor"),
    (lambda w, x: w.__setitem__(0, x[0]), "copy_"),
    (lambda w, x: w.__imul__(x), "mul_.Tensor"),
    (lambda w, x: w.__setitem__(0, 5.0), "copy_"),
    (lambda w, x: w.__setitem__(slice(1), 5.0), "fill_.Tensor"),
    (lambda w, x: w.__setitem__(..., x[0]), "fill_.Tensor"),
    (lambda w, x: w.__setitem__(slice(1), x[:1]), "copy_"),
    (lambda w, x: w.set_(x), "set_.source_Tensor"),
    (lambda w, x: torch.nn.functional.dropout(w, inplace=True), "mul_.Tensor"),
]


@pytest.mark.parametrize(("write", "operation"), CAPTURED)
def test_writing_to_what_the_function_captured_is_refused(write, operation):
    w, x = tensor(1.0, 2.0), tensor(3.0, 4.0)
    text = f"During a grad (vjp, jvp, grad, etc) transform, the function provided attempted to call in-place operation (aten::{operation}) that would mutate a captured Tensor. This is not supported; please rewrite the function being transformed to explicitly accept the mutated Tensor(s) as inputs."
    for transformed in (
        lambda f: grad(f)(x),
        lambda f: torch.func.vjp(f, x),
        lambda f: torch.func.jvp(f, (x,), (x,)),
        lambda f: grad(lambda x: grad(f)(x).sum())(x),
    ):
        with raises(RuntimeError, text):
            transformed(lambda x: (write(w, x), x.sum())[1])
    assert_tensor(w, [1.0, 2.0])


def test_what_changes_nothing_is_no_write():
    w = tensor(1.0, 2.0)
    f = lambda x: torch.nn.functional.dropout(w, training=False, inplace=True).sum() + x.sum()  # noqa: E731
    assert_tensor(grad(f)(tensor(3.0)), [1.0])


def test_writing_to_an_argument_by_which_is_not_differentiated_works():
    w = tensor(1.0, 2.0)
    assert_tensor(grad(lambda x, w: (w.mul_(2) * x).sum())(tensor(3.0, 4.0), w), [2.0, 4.0])
    assert_tensor(w, [2.0, 4.0])
    assert_tensor(grad(lambda x, *, w: (w.view(-1).mul_(2) * x).sum())(tensor(3.0, 4.0), w=w), [4.0, 8.0])


def test_an_error_inside_leaves_the_mode_as_it_was():
    with torch.no_grad():
        with pytest.raises(ZeroDivisionError):
            grad(lambda x: 1 / 0)(tensor(1.0))
        assert not torch.is_grad_enabled()
    tensor(1.0, requires_grad=True).sum().backward()


ARGUMENTS = [
    (2, "Got argnum=2, but only 2 positional inputs"),
    (-3, "Got argnum=-3, but only 2 positional inputs"),
    ((), "argnums must be non-empty"),
    ((0, 0), "argnums elements must be unique, got (0, 0)"),
    ((0, -2), "argnums elements must be unique, got (0, 0)"),
    ("a", "argnums must be int or Tuple[int, ...], got: <class 'str'>"),
    ([0], "argnums must be int or Tuple[int, ...], got: <class 'list'>"),
    ((0, "b"), "argnum must be int, got: <class 'str'>"),
]


@pytest.mark.parametrize(("argnums", "text"), ARGUMENTS)
def test_wrong_argnums_are_refused(argnums, text):
    with raises(RuntimeError, text):
        grad(lambda x, y: (x * y).sum(), argnums)(tensor(1.0), tensor(1.0))


OUTPUTS = [
    (lambda x: 3, "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got <class 'int'>"),
    (
        lambda x: None,
        "grad_and_value(f)(*args): Expected f(*args) to return a Tensor, got <class 'NoneType'>",
    ),
    (
        lambda x: x,
        "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with 1 dims. Maybe you wanted to use the vjp or jacrev APIs instead?",
    ),
]


@pytest.mark.parametrize(("function", "text"), OUTPUTS)
def test_only_scalars_have_a_gradient(function, text):
    with raises(RuntimeError, text):
        grad(function)(tensor(1.0))


def test_only_tensors_of_floats_are_differentiated_by():
    with raises(ValueError, "Thing passed to transform API must be Tensor, got <class 'float'>"):
        grad(lambda x: x)(3.0)
    with raises(RuntimeError, "only Tensors of floating point dtype can require gradients"):
        grad(lambda x: x.sum())(torch.arange(3))


def test_aux_must_be_there_and_be_of_tensors():
    with raises(
        RuntimeError,
        "grad_and_value(f)(*args): output of function f should be a tuple: (output, aux) if has_aux is True",
    ):
        grad(lambda x: x.sum(), has_aux=True)(tensor(1.0))
    with raises(RuntimeError, "Expected tensors, got unsupported type <class 'int'>"):
        grad(lambda x: (x.sum(), 3), has_aux=True)(tensor(1.0))


HINT = "inside of a function being transformed by a functorch transform. This is unsupported, please attempt to use the functorch transforms (e.g. grad, vjp, jacrev, jacfwd, hessian) or call"


def test_what_works_on_leaves_is_refused_inside():
    x = tensor(1.0)
    with raises(
        RuntimeError,
        "backward() called inside a functorch transform. This is not supported, please use functorch.grad or functorch.vjp instead or call backward() outside of functorch transforms.",
    ):
        grad(lambda x: (x.sum().backward(), x.sum())[1])(x)
    with raises(
        RuntimeError,
        f"You are attempting to call Tensor.requires_grad_() (or perhaps using torch.autograd.functional.* APIs) {HINT} requires_grad_()",
    ):
        grad(lambda x: (x.requires_grad_(), x.sum())[1])(x)
    with raises(RuntimeError, f"You are attempting to call Tensor.retain_grad() {HINT} retain_grad()"):
        grad(lambda x: (x.sin().retain_grad(), x.sum())[1])(x)


def test_hooks_of_saved_tensors_are_refused():
    text = "torch.func.{grad, vjp, jacrev, hessian} don't yet support saved tensor hooks. Please open an issue with your use case."
    hooks = torch.autograd.graph.saved_tensors_hooks
    for transformed in (
        grad(torch.sum),
        torch.func.jacrev(torch.sin),
        lambda x: torch.func.vjp(torch.sin, x),
    ):
        with hooks(lambda x: x, lambda x: x), raises(RuntimeError, text):
            transformed(tensor(1.0))

    def f(x):
        with hooks(lambda x: x, lambda x: x):
            return x.sum()

    with raises(RuntimeError, text):
        grad(f)(tensor(1.0))
    with hooks(lambda x: x, lambda x: x):
        assert_tensor(tensor(1.0, requires_grad=True).exp(), [2.718281828459045])


def test_the_result_is_wrapped_in_the_functions_name():
    def area(x):
        """Words."""
        return x.sum()

    for transformed in (grad(area), grad_and_value(area), torch.func.jacrev(area), torch.func.jacfwd(area)):
        assert transformed.__name__ == "area" and transformed.__doc__ == "Words."

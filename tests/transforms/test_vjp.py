"""`func.vjp` and the function that it returns; `func.linearize`."""

import pytest
import rushlight as torch
from support import assert_tensor, raises, tensor

grad, vjp, linearize = torch.func.grad, torch.func.vjp, torch.func.linearize


def test_vjp_returns_the_value_and_a_function_of_cotangents():
    value, pull_back = vjp(lambda x, y: x * y, tensor(2.0, 3.0), tensor(5.0, 7.0))
    assert_tensor(value, [10.0, 21.0])
    found = pull_back(tensor(1.0, 10.0))
    assert type(found) is tuple
    assert_tensor(found[0], [5.0, 70.0])
    assert_tensor(found[1], [2.0, 30.0])


def test_cotangents_may_be_pulled_back_any_number_of_times():
    _, pull_back = vjp(torch.sin, tensor(0.0))
    assert_tensor(pull_back(tensor(1.0))[0], [1.0])
    assert_tensor(pull_back(tensor(5.0))[0], [5.0])


def test_without_retain_graph_once_is_enough():
    _, pull_back = vjp(torch.sin, tensor(0.0))
    pull_back(tensor(1.0), retain_graph=False)
    with raises(RuntimeError, "Trying to backward through the graph a second time"):
        pull_back(tensor(1.0))


def test_inputs_and_outputs_may_be_nested_containers():
    value, pull_back = vjp(
        lambda d: {"a": d["x"] * 2, "b": (d["y"][0],)}, {"x": tensor(1.0), "y": [tensor(2.0)]}
    )
    assert_tensor(value["b"][0], [2.0])
    (found,) = pull_back({"a": tensor(3.0), "b": (tensor(4.0),)})
    assert_tensor(found["x"], [6.0])
    assert_tensor(found["y"][0], [4.0])


def test_aux_comes_third():
    value, pull_back, aux = vjp(lambda x: (x * 2, {"a": x}), tensor(1.0), has_aux=True)
    assert_tensor(pull_back(value)[0], [4.0])
    assert_tensor(aux["a"], [1.0])


def test_an_output_that_is_an_input_comes_back_as_it_was():
    x = tensor(1.0, 2.0)
    value, pull_back = vjp(lambda x: x, x)
    assert value is x
    assert_tensor(pull_back(tensor(3.0, 4.0))[0], [3.0, 4.0])


def test_results_have_a_history_only_if_something_outside_requires_grad():
    value, pull_back = vjp(torch.exp, tensor(1.0))
    assert not value.requires_grad and not pull_back(tensor(1.0))[0].requires_grad
    x = tensor(0.5, requires_grad=True)
    value, pull_back = vjp(lambda x: x**3, x)
    assert_tensor(torch.autograd.grad(pull_back(tensor(1.0))[0], x, retain_graph=True)[0], [3.0])
    assert_tensor(torch.autograd.grad(value, x)[0], [0.75])
    with torch.no_grad():
        value, pull_back = vjp(torch.exp, x)
        assert not value.requires_grad and not pull_back(tensor(1.0))[0].requires_grad


def test_pulling_back_can_be_differentiated_by_the_cotangent():
    _, pull_back = vjp(lambda x: x**2, tensor(3.0))
    cotangent = tensor(1.0, requires_grad=True)
    assert_tensor(torch.autograd.grad(pull_back(cotangent)[0], cotangent)[0], [6.0])
    assert_tensor(grad(lambda c: pull_back(c)[0].sum())(tensor(1.0)), [6.0])


def test_pulling_back_inside_grad_differentiates_the_whole():
    def f(x):
        _, pull_back = vjp(lambda y: y**3, x)
        return pull_back(torch.ones_like(x))[0].sum()

    assert_tensor(grad(f)(tensor(2.0)), [12.0])


def test_outputs_that_do_not_depend_on_an_input_give_zeros():
    _, pull_back = vjp(lambda x, y: (x, tensor(1.0)), tensor(1.0), tensor(2.0, 3.0))
    found = pull_back((tensor(5.0), tensor(5.0)))
    assert_tensor(found[0], [5.0])
    assert_tensor(found[1], [0.0, 0.0])


STRUCTURE = (
    "Expected pytree structure of cotangents to be the same as pytree structure of outputs to the function. "
)


def test_cotangents_must_have_the_structure_of_the_value():
    x = tensor(1.0)
    with raises(RuntimeError, STRUCTURE + "cotangents: *, primal output: (*, *)"):
        vjp(lambda x: (x, x), x)[1](x)
    with raises(RuntimeError, STRUCTURE + "cotangents: (*, *), primal output: [*, *]"):
        vjp(lambda x: [x, x], x)[1]((x, x))
    with raises(RuntimeError, STRUCTURE + "cotangents: (*, *), primal output: {'a': *, 'b': (*,)}"):
        vjp(lambda x: {"a": x, "b": (x,)}, x)[1]((x, x))


def test_cotangents_must_have_the_shape_of_the_value():
    with raises(
        RuntimeError,
        "Mismatch in shape: grad_output[0] has a shape of torch.Size([4]) and output[0] has a shape of torch.Size([1]).",
    ):
        vjp(torch.sin, tensor(1.0))[1](torch.ones(4))


OUTPUTS = [
    (lambda x: 3, "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type <class 'int'>"),
    (lambda x: (x, 1), "vjp(f, *primals): expected f(*primals) to return only tensors, got unsupported type <class 'int'>"),
    (lambda x: None, "vjp(f, *primals): Expected f to be a function that has non-empty output (got output = [None])"),
    (lambda x: (), "vjp(f, *primals): Expected f to be a function that has non-empty output (got output = [])"),
    (lambda x: x.long(), "vjp(f, ...): All outputs of f must be floating-point or complex Tensors, got Tensor with dtype torch.int64"),
]  # fmt: skip


@pytest.mark.parametrize(("function", "text"), OUTPUTS)
def test_outputs_must_be_tensors_of_floats(function, text):
    with raises(RuntimeError, text):
        vjp(function, tensor(1.0))


def test_primals_must_be_tensors_and_aux_must_be_there():
    with raises(ValueError, "Thing passed to transform API must be Tensor, got <class 'float'>"):
        vjp(torch.sin, 3.0)
    with raises(
        RuntimeError,
        "vjp(f, *primals): output of function f should be a tuple: (output, aux) if has_aux is True",
    ):
        vjp(torch.sin, tensor(1.0), has_aux=True)


@pytest.mark.filterwarnings("ignore:.*torch.jit.script", "ignore:Attempted to insert a get_attr")
def test_linearize_pushes_tangents_forward_without_running_the_function_again():
    calls = []

    def f(x, y):
        calls.append(1)
        return {"product": x * y, "square": x**2}

    value, push = linearize(f, tensor(2.0), tensor(5.0))
    assert_tensor(value["product"], [10.0])
    before = len(calls)
    found = push(tensor(1.0), tensor(10.0))
    assert_tensor(found["product"], [5.0 + 20.0])
    assert_tensor(found["square"], [4.0])
    assert_tensor(push(tensor(0.0), tensor(1.0))["product"], [2.0])
    assert len(calls) == before


@pytest.mark.filterwarnings("ignore:.*torch.jit.script", "ignore:Attempted to insert a get_attr")
def test_linearize_refuses_tangents_that_do_not_fit():
    _, push = linearize(torch.sin, tensor(1.0))
    with raises(
        RuntimeError,
        "tangent:0 with shape torch.Size([2]) in flattened pytree doesn't match the shape torch.Size([1]) of the corresponding primal.",
    ):
        push(tensor(1.0, 2.0))
    with raises(
        RuntimeError,
        "tangent:0 with dtype torch.float32 in flattened pytree doesn't match the dtype torch.float64 of the corresponding primal.",
    ):
        push(torch.ones(1))
    with pytest.raises(
        RuntimeError,
        match=r"(?s)Expected the tangents TreeSpec.* to have the same argspec as the primals TreeSpec",
    ):
        push(tensor(1.0), tensor(1.0))

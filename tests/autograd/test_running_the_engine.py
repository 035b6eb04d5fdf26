"""The engine as an object: `Variable._execution_engine.run_backward`."""

import pytest
import rushlight as torch
from support import raises

run = torch.autograd.Variable._execution_engine.run_backward


def graph():
    x = torch.ones(2, requires_grad=True)
    return x, (x * 2).sum()


def test_gradients_of_inputs_are_returned():
    x, y = graph()
    (found,) = run((y,), (torch.ones(()),), False, False, (x,), allow_unreachable=True, accumulate_grad=False)
    assert found.tolist() == [2.0, 2.0] and x.grad is None


def test_gradients_are_accumulated():
    x, y = graph()
    assert run((y,), (torch.ones(()),), False, False, (), True, True) is None
    assert x.grad.tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("changed", "text"),
    [
        ({"tensors": 1}, "tensors argument is expected to be a tuple, but got int"),
        ({"tensors": (1,)}, "element 0 of tensors tuple is neither a Tensor nor a GradientEdge"),
        (
            {"grad_tensors": (None,)},
            "element 0 of gradients tuple is None, but the corresponding Tensor requires grad",
        ),
        ({"grad_tensors": (1,)}, "element 0 of gradients tuple is not a Tensor or None"),
        ({"grad_tensors": ()}, "got 1 tensors and 0 gradients"),
        ({"inputs": 1}, "inputs to run_backward must be a tuple"),
        ({"inputs": (1,)}, "all inputs have to be Tensors or GradientEdges, but got int"),
    ],
)
def test_arguments_are_checked(changed, text):
    arguments = {"tensors": (graph()[1],), "grad_tensors": (torch.ones(()),)}
    with raises(RuntimeError, text):
        run(**arguments | changed, keep_graph=False, create_graph=False)


def test_a_node_is_asked_for_while_a_run_is_under_way():
    _, y = graph()
    with raises(RuntimeError, "_get_should_execute_nodes should only be called during the backward pass"):
        torch._C._will_engine_execute_node(y.grad_fn)
    with raises(RuntimeError, "_will_engine_execute_node expects an grad_fn, but got int"):
        torch._C._will_engine_execute_node(1)


def test_a_node_without_hooks_is_known_to_be_on_the_way_or_not():
    x, found = torch.ones(2, requires_grad=True), []
    first = x * 2
    second = first.sin()
    third, aside = second.exp(), x + 1
    result = third.sum()
    nodes = [part.grad_fn for part in (first, second, third, aside)]
    second.register_hook(lambda _: found.append([torch._C._will_engine_execute_node(node) for node in nodes]))
    result.backward(retain_graph=True)
    assert found.pop() == [True, True, True, False]
    torch.autograd.grad(result, second, retain_graph=True)
    assert found.pop() == [False, True, True, False]
    torch.autograd.grad(result, x)
    assert found.pop() == [True, True, True, False]


@pytest.mark.parametrize("roots", [1, 2])
def test_a_root_is_on_the_way_if_the_run_has_others_too(roots):
    x, found = torch.ones(2, requires_grad=True), []
    inner = x * 2
    outputs = [inner.sum(), inner.prod()][:roots]
    inner.register_hook(lambda _: found.append(torch._C._will_engine_execute_node(outputs[0].grad_fn)))
    torch.autograd.backward(outputs)
    assert found == [roots == 2]


def test_a_leaf_that_the_run_starts_from_is_not_on_the_way():
    x, found = torch.ones(2, requires_grad=True), []
    node = (x * 2).grad_fn.next_functions[0][0]
    x.register_hook(lambda _: found.append(torch._C._will_engine_execute_node(node)))
    x.backward(torch.ones(2))
    assert found == [False]

"""Functions with a backward of their own: what forward may return, what backward may answer."""

import pytest
import rushlight as torch
from custom_functions.making import function, leaf
from rushlight.autograd import Function
from support import raises


class Product(Function):
    @staticmethod
    def forward(ctx, a, b, factor=2):
        ctx.save_for_backward(a, b)
        ctx.factor = factor
        return a * b * factor

    @staticmethod
    def backward(ctx, gradient):
        a, b = ctx.saved_tensors
        return gradient * b * ctx.factor, gradient * a * ctx.factor, None


def test_backward_is_the_users():
    a, b = leaf(1, 2), leaf(3, 4)
    Product.apply(a, b, 3).sum().backward()
    assert a.grad.tolist() == [9.0, 12.0]
    assert b.grad.tolist() == [3.0, 6.0]


def test_the_node_is_the_context_and_named_for_the_function():
    y = Product.apply(leaf(1), leaf(2), 5)
    assert y.grad_fn.factor == 5
    assert type(y.grad_fn).__name__ == "ProductBackward"
    assert y.grad_fn.name() == "ProductBackward"
    assert y.grad_fn is y.grad_fn
    assert y.grad_fn.needs_input_grad == (True, True, False)
    assert isinstance(y.grad_fn, torch.autograd.graph.Node)
    assert len(y.grad_fn.next_functions) == 2


def test_the_context_outlives_the_tensor():
    x = leaf(1)
    node = Product.apply(x, x).grad_fn
    assert node.next_functions[0][0].variable is x


def test_it_can_be_differentiated_twice():
    a = leaf(3)
    (first,) = torch.autograd.grad(Product.apply(a, a, 1), a, create_graph=True)
    (second,) = torch.autograd.grad(first, a)
    assert (first.item(), second.item()) == (6.0, 2.0)


def test_arguments_can_be_named():
    a, b = leaf(1), leaf(2)
    assert Product.apply(a, factor=3, b=b).item() == 6.0
    with raises(TypeError, "forward() missing required argument: 'b' (position 1)"):
        Product.apply(a, factor=3)
    with raises(TypeError, "forward() got multiple values for argument 'a'"):
        Product.apply(a, a=b)
    with raises(TypeError, "forward() got an unexpected keyword argument 'other'"):
        Product.apply(a, b, other=1)


def test_setup_context_stands_apart_from_forward():
    class Scaled(Function):
        @staticmethod
        def forward(x, factor=5):
            return x * factor

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.inputs = inputs
            ctx.save_for_backward(output)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * ctx.inputs[1], None

    x = leaf(1, 2)
    y = Scaled.apply(x)
    y.sum().backward()
    assert x.grad.tolist() == [5.0, 5.0]
    assert y.grad_fn.inputs[0] is x
    with raises(TypeError, "missing a required argument: 'x'"):
        Scaled.apply()


def test_vjp_is_another_name_of_backward():
    x = leaf(1)
    function(lambda ctx, x: x * 2, vjp=staticmethod(lambda ctx, g: g * 7)).apply(x).backward()
    assert x.grad.tolist() == [7.0]
    both = function(lambda ctx, x: x * 2, lambda ctx, g: g, vjp=staticmethod(lambda ctx, g: g))
    with raises(RuntimeError, "Implementing both 'backward' and 'vjp' for a custom Function is not allowed."):
        both.apply(x).backward()


def test_what_is_not_written_says_so():
    class Empty(Function):
        pass

    with raises(NotImplementedError, "You must implement the forward function for custom autograd.Function."):
        Empty.apply(leaf(1))
    y = function(lambda ctx, x: x * 2).apply(leaf(1))
    with raises(NotImplementedError, "You must implement either the backward or vjp method for your custom"):
        y.backward()


def test_instances_belong_to_another_age():
    with pytest.warns(DeprecationWarning, match="should not be instantiated"):
        made = Product()
    with raises(RuntimeError, "Legacy autograd function with non-static forward method is deprecated."):
        made(leaf(1))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (
            lambda g: (g, g),
            "function MadeBackward returned an incorrect number of gradients (expected 1, got 2)",
        ),
        (lambda g: (), "function MadeBackward returned an incorrect number of gradients (expected 1, got 0)"),
        (lambda g: "a", "expected Variable or None (got str)"),
        (lambda g: [g], "expected Variable or None (got list)"),
        (
            lambda g: torch.ones(7),
            "Function MadeBackward returned an invalid gradient at index 0 - got [7] but expected shape "
            "compatible with [2]",
        ),
    ],
)
def test_wrong_gradients_are_named(answer, text):
    y = function(lambda ctx, x: x * 2, lambda ctx, g: answer(g)).apply(leaf(1, 2))
    with raises(RuntimeError, text):
        y.sum().backward()


def test_a_gradient_of_what_is_no_tensor_must_be_none():
    x = leaf(1)
    made = function(lambda ctx, x, number: x * number, lambda ctx, g: (g, g))
    with raises(RuntimeError, "function MadeBackward returned a gradient different than None at position 2"):
        made.apply(x, 3).backward()
    function(lambda ctx, x, number: x * number, lambda ctx, g: (g, None, None)).apply(x, 3).backward()
    assert x.grad.tolist() == [1.0]


def test_results_that_are_no_tensors_pass_through():
    seen = []

    def backward(ctx, *gradients):
        seen.extend(gradients)
        return gradients[1]

    word, y, nothing = function(lambda ctx, x: ("word", x * 2, None), backward).apply(leaf(1))
    y.backward()
    assert (word, nothing) == ("word", None)
    assert (seen[0], seen[2]) == (None, None)
    assert y.output_nr == 1


@pytest.mark.parametrize("materialize", [True, False])
def test_missing_gradients_are_zeros_or_none(materialize):
    seen = []

    def forward(ctx, x):
        ctx.set_materialize_grads(materialize)
        return x * 3, x * 2

    def backward(ctx, first, second):
        seen.append(first)
        return second

    function(forward, backward).apply(leaf(1))[1].backward()
    assert seen[0] is None if not materialize else seen[0].tolist() == [0.0]


def test_outputs_can_be_constant():
    def forward(ctx, x):
        order = x * 3
        ctx.mark_non_differentiable(order)
        return order, x * 2

    order, y = function(forward, lambda ctx, g, h: h).apply(leaf(1))
    assert not order.requires_grad
    assert y.requires_grad


def test_saved_inputs_come_back_as_the_same_objects():
    x = leaf(1)
    y = Product.apply(x, x)
    assert y.grad_fn.saved_tensors[0] is x


def test_saved_outputs_know_their_node():
    def forward(ctx, x):
        y = x * 2
        ctx.save_for_backward(y, None)
        return y

    y = function(forward, lambda ctx, g: g).apply(leaf(1))
    saved, nothing = y.grad_fn.saved_tensors
    assert nothing is None
    assert saved.grad_fn is y.grad_fn


def test_saved_tensors_are_freed_after_backward():
    text = "Trying to backward through the graph a second time (or directly access saved tensors after they"
    y = Product.apply(leaf(1), leaf(2))
    y.backward()
    with raises(RuntimeError, text):
        _ = y.grad_fn.saved_tensors
    with raises(RuntimeError, text):
        y.backward()
    assert y.grad_fn.factor == 2


def test_without_saved_tensors_backward_can_run_again():
    x = leaf(1)
    y = function(lambda ctx, x: x * 2, lambda ctx, g: g).apply(x)
    y.backward()
    y.backward()
    assert x.grad.tolist() == [2.0]


def test_a_saved_tensor_that_was_overwritten_is_refused():
    x = leaf(1)
    a = x * 1
    y = Product.apply(a, x)
    a.add_(1)
    with raises(RuntimeError, "one of the variables needed for gradient computation has been modified by an"):
        y.backward()


def test_only_tensors_can_be_saved():
    def forward(ctx, x):
        ctx.save_for_backward(x, 3)
        return x * 2

    with raises(TypeError, "save_for_backward can only save variables, but argument 1 is of type int"):
        function(forward).apply(leaf(1))


def test_once_differentiable_refuses_the_second_derivative():
    backward = torch.autograd.function.once_differentiable(lambda ctx, g: g * 2)
    x = leaf(1)
    seed = leaf(1)
    (gradient,) = torch.autograd.grad(
        function(lambda ctx, x: x * 2, backward).apply(x), x, seed, create_graph=True
    )
    assert gradient.grad_fn.name() == "torch::autograd::Error"
    with raises(RuntimeError, "trying to differentiate twice a function that was marked with"):
        gradient.backward()


def test_contexts_cannot_be_pickled():
    import pickle

    with raises(TypeError, "cannot pickle 'ProductBackward' object"):
        pickle.dumps(Product.apply(leaf(1), leaf(2)).grad_fn)


def test_nothing_is_recorded_without_gradients():
    x = leaf(1)
    with torch.no_grad():
        assert not Product.apply(x, x).requires_grad
    assert not Product.apply(x.detach(), x.detach()).requires_grad


def test_backward_runs_on_the_thread_that_asked():
    import threading

    seen = []

    def backward(ctx, g):
        seen.append(threading.get_ident())
        return g

    y = function(lambda ctx, x: x * 2, backward).apply(leaf(1))
    thread = threading.Thread(target=y.backward)
    thread.start()
    thread.join()
    assert len(seen) == 1


def test_backward_inside_of_backward_goes_thousands_deep():
    class Deep(Function):
        @staticmethod
        def forward(ctx, x):
            with torch.enable_grad():
                ctx.below = x.detach().requires_grad_() - 1
            return ctx.below.detach()

        @staticmethod
        def backward(ctx, gradient):
            if ctx.below.item() >= 0:
                with torch.enable_grad():
                    Deep.apply(ctx.below).backward()
            return gradient

    x = torch.tensor(3500.0, requires_grad=True)
    Deep.apply(x).backward()
    assert x.grad.item() == 1.0


@pytest.mark.parametrize("attribute", ["dirty_tensors", "non_differentiable", "to_save"])
def test_what_a_context_is_told_of_tensors_is_a_tuple(attribute):
    class Listed(Function):
        @staticmethod
        def forward(ctx, x):
            setattr(ctx, attribute, [x])
            return x

        @staticmethod
        def backward(ctx, gradient):
            return gradient

    with raises(
        RuntimeError, f"autograd internal error: {attribute} attribute is expected to be a tuple but is "
    ):
        Listed.apply(torch.ones(2, requires_grad=True) * 1)


def test_a_parameter_before_one_that_is_named_has_to_be_given():
    class Scaled(Function):
        @staticmethod
        def forward(ctx, x, times=3, plus=0):
            return x * times + plus

        @staticmethod
        def backward(ctx, gradient):
            return gradient, None, None

    x = torch.ones(2, requires_grad=True)
    assert Scaled.apply(x, times=2).tolist() == [2.0, 2.0]
    with raises(TypeError, "forward() missing required argument: 'times' (position 1)"):
        Scaled.apply(x, plus=1)


def test_a_derivative_that_is_the_last_one_consists_of_tensors():
    class Wrong(Function):
        @staticmethod
        def forward(ctx, x, n):
            return x * n

        @staticmethod
        @torch.autograd.function.once_differentiable
        def backward(ctx, gradient):
            return gradient, 3

    x, gradient = torch.ones(2, requires_grad=True), torch.ones(2, requires_grad=True)
    with raises(AttributeError, "'int' object has no attribute 'detach'"):
        torch.autograd.grad(Wrong.apply(x, 2), x, gradient, create_graph=True)


def test_the_class_of_a_node_is_a_class_of_nodes_and_the_function_itself_is_none():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    Node = torch.autograd.graph.Node
    assert issubclass(type(Double.apply(torch.ones(2, requires_grad=True)).grad_fn), Node)
    assert not issubclass(Double, Node) and not issubclass(torch.autograd.Function, Node)

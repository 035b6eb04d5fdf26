"""Functions of one's own under the transforms of `torch.func`."""

import pytest
import rushlight as torch
from rushlight.autograd import Function
from rushlight.func import grad, jacrev, vjp, vmap
from support import raises


class Cube(Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x, factor):
        return x**3 * factor

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.save_for_backward(*inputs)

    @staticmethod
    def backward(ctx, gradient):
        x, factor = ctx.saved_tensors
        return gradient * 3 * x**2 * factor, (gradient * x**3).sum()


class Scale(Function):
    @staticmethod
    def forward(x):
        return x * 2

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

    @staticmethod
    def vmap(info, in_dims, x):
        return Scale.apply(x), in_dims[0]


def test_a_function_is_differentiated_by_its_backward():
    assert grad(lambda x: Cube.apply(x, torch.tensor(2.0)))(torch.tensor(3.0)).item() == 54.0


def test_the_rule_for_many_samples_is_made_of_the_parts():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    factor = torch.tensor(2.0, requires_grad=True)
    y = vmap(Cube.apply, in_dims=(0, None))(x, factor)
    assert y.tolist() == [[2.0, 16.0], [54.0, 128.0]]
    y.sum().backward()
    assert x.grad.tolist() == [[6.0, 24.0], [54.0, 96.0]]
    assert factor.grad.item() == 100.0


def test_the_rule_for_many_samples_can_be_the_users():
    x = torch.tensor([1.0, 2.0], requires_grad=True)
    y = vmap(Scale.apply)(x)
    y.sum().backward()
    assert y.tolist() == [2.0, 4.0]
    assert x.grad.tolist() == [2.0, 2.0]


def test_a_function_has_gradients_per_sample():
    per_sample = vmap(grad(lambda x: Scale.apply(x).sum()))
    assert per_sample(torch.ones(2, 3)).tolist() == [[2.0] * 3] * 2


def test_without_a_rule_a_function_is_not_mapped():
    class Plain(Function):
        @staticmethod
        def forward(x):
            return x * 2

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

    with raises(RuntimeError, "You tried to vmap over Plain, but it does not have vmap support."):
        vmap(Plain.apply)(torch.ones(2))


@pytest.mark.parametrize("transform", [vmap, lambda f: grad(lambda x: f(x).sum())])
def test_transforms_want_setup_context(transform):
    class Old(Function):
        @staticmethod
        def forward(ctx, x):
            return x * 2

    with raises(RuntimeError, "In order to use an autograd.Function with functorch transforms"):
        transform(Old.apply)(torch.ones(2))


def test_one_without_a_rule_is_refused_inside_a_mapping_whatever_it_is_given():
    class Square(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x**2

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2 * ctx.saved_tensors[0]

    shared = torch.ones(2)
    with pytest.raises(
        RuntimeError, match=r"^You tried to vmap over Square, but it does not have vmap support"
    ):
        torch.func.vmap(lambda x: x * Square.apply(shared))(torch.ones(3, 2))


def test_a_rule_runs_outside_of_the_mapping():
    class Noisy(torch.autograd.Function):
        @staticmethod
        def forward(x):
            return x.clone()

        @staticmethod
        def setup_context(ctx, inputs, output):
            pass

        @staticmethod
        def vmap(info, in_dims, x):
            assert info.randomness == "error"
            return x + torch.rand(()) * 0, in_dims[0]

    samples = torch.ones(3, 2)
    assert torch.func.vmap(Noisy.apply)(samples).equal(samples)


def test_the_node_of_a_mapped_function_is_named_for_it():
    class Cube(torch.autograd.Function):
        generate_vmap_rule = True

        @staticmethod
        def forward(x):
            return x**3

        @staticmethod
        def setup_context(ctx, inputs, output):
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 3 * ctx.saved_tensors[0] ** 2

    x = torch.ones(3, requires_grad=True)
    assert torch.vmap(Cube.apply)(x).grad_fn.name() == "VmappedCubeBackward"


class Flat(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x.view(-1)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.shape = inputs[0].shape

    @staticmethod
    def backward(ctx, gradient):
        return gradient.view(ctx.shape) * 3


def test_a_view_that_a_function_made_may_be_written_to_inside_of_a_transform():
    x = torch.arange(6.0).view(2, 3)
    found = grad(lambda x: Flat.apply(x * 1).mul_(2).sum())(x)
    assert torch.equal(found, torch.full((2, 3), 6.0))
    found = vjp(lambda x: Flat.apply(x * 1).mul_(x.view(-1)), x)[1](torch.ones(6))[0]
    assert torch.equal(found, x * 3 + x)
    found = vmap(grad(lambda x: Flat.apply(x * 1).mul_(2).sum()))(x)
    assert torch.equal(found, torch.full((2, 3), 6.0))


def test_outside_it_may_not():
    x = torch.ones(2, 3, requires_grad=True)
    with raises(
        RuntimeError, "Output 0 of Flat is a view and is being modified inplace. This view was created"
    ):
        Flat.apply(x * 1).mul_(2)


def test_inference_tensors_are_constants_of_functions_that_are_transformed():
    with torch.inference_mode():
        weights = torch.tensor([1.0, 2.0, 3.0])
    x = torch.ones(3)
    assert torch.equal(grad(lambda x: (x * weights).sum())(x), weights.clone())
    assert torch.equal(vmap(grad(lambda x: (x * weights).sum()))(x.expand(2, 3))[1], weights.clone())
    assert torch.equal(jacrev(lambda x: x * weights)(x), torch.diag(weights.clone()))


class Doubled(torch.autograd.Function):
    """Computed by numpy, which knows of no transform."""

    @staticmethod
    def forward(x):
        assert not isinstance(x.tolist(), torch.Tensor)
        return torch.tensor(x.numpy() * 2)

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient * 2

    @staticmethod
    def vmap(info, in_dims, x):
        return Doubled.apply(x), in_dims[0]


def test_a_forward_sees_the_numbers_whatever_transforms_are_around():
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
    assert torch.equal(grad(lambda x: Doubled.apply(x).sum())(x), torch.full((2, 2), 2.0))
    assert torch.equal(grad(lambda x: Doubled.apply(x * x).sum())(x), 4 * x)
    assert torch.equal(vmap(grad(lambda x: Doubled.apply(x).sum()))(x), torch.full((2, 2), 2.0))
    assert torch.equal(grad(lambda x: vmap(Doubled.apply)(x).sum())(x), torch.full((2, 2), 2.0))


def test_outside_of_a_forward_a_function_that_is_differentiated_does_not():
    with raises(RuntimeError, "Cannot access data pointer of Tensor that doesn't have storage"):
        grad(lambda x: (torch.tensor(x.detach().numpy()) * x).sum())(torch.ones(2))


class Passed(torch.autograd.Function):
    generate_vmap_rule = True

    @staticmethod
    def forward(x):
        return x

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, gradient):
        return gradient

    @staticmethod
    def jvp(ctx, tangent):
        return tangent


class Short(Passed):
    @staticmethod
    def backward(ctx, gradient):
        return ()


def test_inside_of_a_transform_its_nodes_are_named_for_that():
    names = []

    def named(x):
        y = Short.apply(x)
        names.append(y.grad_fn.name())
        return y.sum()

    with pytest.raises(RuntimeError, match=r"^function ShortGeneratedBackward returned an incorrect number"):
        torch.func.grad(named)(torch.ones(2))
    assert names == ["ShortGeneratedBackward"]


def test_forward_an_argument_may_be_returned_with_its_direction():
    x, direction = torch.ones(2), torch.tensor([1.0, 2.0])
    value, derivative = torch.func.jvp(Passed.apply, (x,), (direction,))
    assert value.tolist() == [1.0, 1.0]
    assert derivative.tolist() == [1.0, 2.0]

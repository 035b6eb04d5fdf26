"""Operators that calculate gradients, called by their handles: they agree with backward."""

import pytest
import rushlight as torch

F = torch.nn.functional
aten = torch.ops.aten


def drawn(*shape, seed=0):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


OF_ELEMENTS = {
    "silu_backward": (F.silu, ()),
    "mish_backward": (F.mish, ()),
    "gelu_backward": (F.gelu, ()),
    "hardswish_backward": (F.hardswish, ()),
    "hardsigmoid_backward": (F.hardsigmoid, ()),
    "softplus_backward": (F.softplus, (1.5, 20.0)),
    "hardtanh_backward": (F.hardtanh, (-0.5, 1.0)),
    "glu_backward": (F.glu, (1,)),
    "replication_pad2d_backward": (lambda x, padding: F.pad(x, padding, "replicate"), ([1, 1, 2, 0],)),
    "reflection_pad2d_backward": (lambda x, padding: F.pad(x, padding, "reflect"), ([1, 1, 2, 0],)),
    "avg_pool2d_backward": (F.avg_pool2d, ([2, 2], [2, 2], [0, 0], False, True, None)),
}


@pytest.mark.parametrize("name", OF_ELEMENTS)
def test_the_gradient_of_a_function(name):
    function, rest = OF_ELEMENTS[name]
    x = drawn(1, 2, 4, 4).requires_grad_()
    y = function(x, *rest)
    grad = drawn(*y.shape, seed=1)
    expected = torch.autograd.grad(y, x, grad)[0]
    torch.testing.assert_close(getattr(aten, name)(grad, x.detach(), *rest), expected)


OF_RESULTS = {
    "sigmoid_backward": (torch.sigmoid, ()),
    "tanh_backward": (torch.tanh, ()),
    "_log_softmax_backward_data": (lambda x, *rest: x.log_softmax(1), (1, torch.float64)),
}


@pytest.mark.parametrize("name", OF_RESULTS)
def test_the_gradient_by_the_result_of_a_function(name):
    function, rest = OF_RESULTS[name]
    x = drawn(2, 3).requires_grad_()
    y, grad = function(x, *rest), drawn(2, 3, seed=1)
    expected = torch.autograd.grad(y, x, grad)[0]
    torch.testing.assert_close(getattr(aten, name)(grad, y.detach(), *rest), expected)


def test_units_that_bend():
    x, grad = torch.tensor([-1.0, 0.5]), torch.tensor([2.0, 2.0])
    assert aten.threshold_backward(grad, x, 0.1).tolist() == [0.0, 2.0]
    assert aten.leaky_relu_backward(grad, x, 0.25, False).tolist() == [0.5, 2.0]
    of_input = aten.elu_backward(grad, 1.5, 1.0, 1.0, False, x)
    torch.testing.assert_close(of_input, torch.tensor([1.1036, 2.0]), atol=1e-4, rtol=0)
    torch.testing.assert_close(of_input, aten.elu_backward(grad, 1.5, 1.0, 1.0, True, F.elu(x, 1.5)))


@pytest.mark.parametrize(("reduction", "number"), [("none", 0), ("mean", 1), ("sum", 2)])
@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss", "huber_loss"])
def test_the_gradient_of_a_loss(name, reduction, number):
    x, target = drawn(2, 3).requires_grad_(), drawn(2, 3, seed=2)
    parameter = {"smooth_l1_loss": ("beta", 0.7), "huber_loss": ("delta", 0.7)}.get(name)
    loss = getattr(F, name)(x, target, reduction=reduction, **dict([parameter] if parameter else []))
    grad = torch.full_like(loss, 2.0)
    found = getattr(aten, f"{name}_backward")(grad, x.detach(), target, number, *(parameter or ())[1:])
    torch.testing.assert_close(found, torch.autograd.grad(loss, x, grad)[0])


def test_the_gradient_of_choosing_a_class():
    x, target = drawn(3, 4).requires_grad_(), torch.tensor([1, -100, 3])
    weight = torch.tensor([1.0, 2.0, 3.0, 4.0], dtype=torch.float64)
    loss, total = aten.nll_loss_forward(x.detach(), target, weight, 1, -100)
    assert total.item() == 6.0
    expected = F.nll_loss(x, target, weight)
    torch.testing.assert_close(loss, expected.detach())
    grad = torch.tensor(2.0, dtype=torch.float64)
    found = aten.nll_loss_backward(grad, x.detach(), target, weight, 1, -100, total)
    torch.testing.assert_close(found, torch.autograd.grad(expected, x, grad)[0])


def decomposed_layer(*args):
    return torch._decomp.decompositions.native_layer_norm_backward(*args)


def test_the_gradients_of_layers():
    x, weight, bias = (drawn(*shape, seed=seed) for seed, shape in enumerate([(2, 3), (3,), (3,)]))
    tensors = [one.requires_grad_() for one in (x, weight, bias)]
    grad = drawn(2, 3, seed=4)
    _, mean, rstd = aten.native_layer_norm(x.detach(), [3], weight.detach(), bias.detach(), 1e-5)
    found = aten.native_layer_norm_backward(grad, x, [3], mean, rstd, weight, bias, [True, True, True])
    expected = torch.autograd.grad(F.layer_norm(x, [3], weight, bias), tensors, grad)
    torch.testing.assert_close(found, expected)
    # Without dimensions in front nothing is summed over them.
    decomposed = decomposed_layer(grad[0], x[0], [3], mean[0], rstd[0], weight, bias, [True, True, True])
    expected = torch.autograd.grad(F.layer_norm(x[0], [3], weight, bias), tensors, grad[0])
    torch.testing.assert_close(decomposed, (expected[0][0], *expected[1:]))
    image, kernel, grad = drawn(1, 2, 4, 4), drawn(3, 2, 2, 2, seed=1), drawn(1, 3, 3, 3, seed=2)
    rest = ([1, 1], [0, 0], [1, 1], False, [0, 0], 1)
    of_image, of_kernel, of_bias = aten.convolution_backward(
        grad, image, kernel, [3], *rest, [False, True, True]
    )
    assert of_image is None
    torch.testing.assert_close(of_bias, grad.sum((0, 2, 3)))
    made = kernel.requires_grad_()
    torch.testing.assert_close(of_kernel, torch.autograd.grad(F.conv2d(image, made), made, grad)[0])
    table = aten.embedding_dense_backward(torch.ones(3, 2), torch.tensor([1, 1, 0]), 3, 0, False)
    assert table.tolist() == [[0.0, 0.0], [2.0, 2.0], [0.0, 0.0]]


def test_the_gradient_of_the_largest_in_a_window():
    image = drawn(1, 2, 4, 4)
    pooled, places = aten.max_pool2d_with_indices(image, [2, 2])
    window = ([2, 2], [2, 2], [0, 0], [1, 1], False)
    found = aten.max_pool2d_with_indices_backward(torch.ones_like(pooled), image, *window, places)
    assert found.sum().item() == 8.0 and (found[found != 0] == 1).all()
    assert torch.equal(image[found != 0].sort().values, pooled.flatten().sort().values)


def test_the_gradients_of_views_stand_among_zeros():
    one = torch.ones(2)
    assert aten.select_backward(one, [2, 2], 0, 1).tolist() == [[0.0, 0.0], [1.0, 1.0]]
    assert aten.slice_backward(one, [4], 0, 0, 4, 2).tolist() == [1.0, 0.0, 1.0, 0.0]
    assert aten.diagonal_backward(one, [2, 2], 0, 0, 1).tolist() == [[1.0, 0.0], [0.0, 1.0]]


def test_gradients_of_gradients():
    x = drawn(3).requires_grad_()
    grad = drawn(3, seed=1).requires_grad_()
    assert torch.autograd.gradcheck(aten.silu_backward, (grad, x))
    assert torch.autograd.gradcheck(aten.tanh_backward, (grad, x))


def test_elements_are_chosen_and_written_by_handle():
    x, places = torch.arange(6.0).view(2, 3), torch.tensor([1, 0])
    assert aten.index(x, [places]).tolist() == [[3.0, 4.0, 5.0], [0.0, 1.0, 2.0]]
    assert aten.index.Tensor(x, [None, places]).tolist() == [[1.0, 0.0], [4.0, 3.0]]
    added = aten.index_put(x, [None, torch.tensor([1, 1])], torch.tensor(7.0), True)
    assert added.tolist() == [[0.0, 15.0, 2.0], [3.0, 18.0, 5.0]]
    assert aten.index_put_(x, [None, places], torch.tensor(0.0)) is x
    assert x.tolist() == [[0.0, 0.0, 2.0], [0.0, 0.0, 5.0]]
    found = aten.unique_dim(torch.tensor([3, 1, 3]), 0)
    assert [one.tolist() for one in found] == [[1, 3], [1, 0, 1], [1, 2]]


def test_attention_says_the_logarithm_of_its_denominators():
    query, key = drawn(1, 1, 3, 4), drawn(1, 1, 3, 4, seed=1)
    output, sums = aten._scaled_dot_product_flash_attention_for_cpu(query, key, key, 0.0, True)
    torch.testing.assert_close(output, F.scaled_dot_product_attention(query, key, key, is_causal=True))
    torch.testing.assert_close(sums[0, 0, 0], (query[0, 0, 0] * key[0, 0, 0]).sum() / 2)

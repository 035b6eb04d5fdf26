"""Mixed precision: `autocast` as a block and a decorator, what it computes how, functions of one's own."""

import threading
import warnings

import pytest
import rushlight as torch
from support import raises

F = torch.nn.functional


def told():
    """What this thread is told."""
    return (
        torch.is_autocast_enabled("cpu"),
        torch.get_autocast_dtype("cpu"),
        torch.is_autocast_cache_enabled(),
    )


OFF = (False, torch.bfloat16, True)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16], ids=["bfloat16", "float16"])
def test_products_are_computed_in_the_half_type(dtype):
    x = torch.ones(2, 2)
    image, kernel = torch.ones(1, 1, 3, 3), torch.ones(1, 1, 2, 2)
    with torch.autocast("cpu", dtype=dtype):
        products = [x @ x, x.mm(x), torch.matmul(x, x), torch.addmm(x, x, x), torch.einsum("ij,jk", x, x)]
        products += [F.linear(x, x), F.conv2d(image, kernel), torch.bmm(x[None], x[None])]
        products += [F.scaled_dot_product_attention(x[None], x[None], x[None]), torch.nn.Linear(2, 3)(x)]
    assert [y.dtype for y in products] == [dtype] * len(products)


def test_losses_are_computed_in_single_precision():
    x, target = torch.randn(3, 4).bfloat16(), torch.tensor([0, 1, 2])
    with torch.autocast("cpu"):
        losses = [F.mse_loss(x, x * 2), F.l1_loss(x, x * 2), F.cross_entropy(x, target)]
        losses += [
            F.nll_loss(x, target),
            F.kl_div(x, x.exp(), reduction="sum"),
            x.prod(),
            F.soft_margin_loss(x, x.sign()),
        ]
        losses += [F.binary_cross_entropy_with_logits(x, x.sigmoid()), x.trace()]
    assert {loss.dtype for loss in losses} == {torch.float32}


def test_everything_else_keeps_its_type():
    x, half = torch.ones(2, 2), torch.ones(2, 2, dtype=torch.bfloat16)
    with torch.autocast("cpu"):
        assert (x + x).dtype is torch.float32 and (half + half).dtype is torch.bfloat16
        assert half.softmax(0).dtype is torch.bfloat16 and x.sum().dtype is torch.float32
        assert torch.cat([x, half]).dtype is torch.float32
        assert torch.stack([half, x]).dtype is torch.float32
        assert (x.double() @ x.double()).dtype is torch.float64
        assert (x.long() @ x.long()).dtype is torch.int64


def test_gradients_have_the_types_of_the_parameters():
    module = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1))
    with torch.autocast("cpu"):
        loss = F.mse_loss(module(torch.ones(5, 3)), torch.zeros(5, 1))
    loss.backward()
    assert {parameter.grad.dtype for parameter in module.parameters()} == {torch.float32}


def test_a_parameter_is_converted_once_in_a_block():
    weight, x = torch.ones(2, 2, requires_grad=True), torch.ones(2, 2)

    def conversion(product):
        return product.grad_fn.next_functions[1][0]

    with torch.autocast("cpu"):
        first, second = conversion(x @ weight), conversion(x @ weight)
    with torch.autocast("cpu", cache_enabled=False):
        third, fourth = conversion(x @ weight), conversion(x @ weight)
    assert first is second and type(first).__name__ == "ToCopyBackward0"
    assert third is not fourth


def test_blocks_lie_within_each_other():
    x = torch.ones(2, 2)
    assert told() == OFF
    with torch.autocast("cpu"):
        assert told() == (True, torch.bfloat16, True)
        with torch.autocast("cpu", dtype=torch.float16, cache_enabled=False):
            assert told() == (True, torch.float16, False) and (x @ x).dtype is torch.float16
            with torch.autocast("cpu", enabled=False):
                assert not told()[0] and (x @ x).dtype is torch.float32
            assert (x @ x).dtype is torch.float16
        assert told() == (True, torch.bfloat16, True) and (x @ x).dtype is torch.bfloat16
    assert told() == OFF and (x @ x).dtype is torch.float32


def test_a_block_that_fails_is_left():
    with raises(ValueError, "inside"), torch.autocast("cpu"):
        raise ValueError("inside")
    assert told() == OFF


def test_a_function_is_decorated():
    @torch.autocast("cpu", dtype=torch.float16)
    def product(x):
        """What it says."""
        return x @ x

    assert product.__name__ == "product" and product.__doc__ == "What it says."
    assert product(torch.ones(2, 2)).dtype is torch.float16 and told() == OFF


def test_other_threads_are_not_told():
    seen = []
    with torch.autocast("cpu"):
        thread = threading.Thread(
            target=lambda: seen.append((told(), (torch.ones(1, 1) @ torch.ones(1, 1)).dtype))
        )
        thread.start()
        thread.join()
    assert seen == [(OFF, torch.float32)]


def test_it_is_turned_on_and_off_without_a_block():
    x = torch.ones(2, 2)
    torch.set_autocast_enabled("cpu", True)
    torch.set_autocast_dtype("cpu", torch.float16)
    try:
        assert (x @ x).dtype is torch.float16
    finally:
        torch.set_autocast_enabled("cpu", False)
        torch.set_autocast_dtype("cpu", torch.bfloat16)
    assert told() == OFF and (x @ x).dtype is torch.float32


def test_transforms_and_modes_work_in_a_block():
    x = torch.ones(2, 2)
    with torch.autocast("cpu"), torch.no_grad():
        assert (x @ x).dtype is torch.bfloat16
    with torch.autocast("cpu"):
        assert torch.vmap(lambda a: a @ x)(torch.ones(3, 2, 2)).dtype is torch.bfloat16
        assert torch.func.grad(lambda a: (a @ a).sum())(x).dtype is torch.float32


NOTED = []


class Product(torch.autograd.Function):
    """A product that notes what it is told."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu")
    def forward(ctx, x):
        NOTED.append(told()[0])
        ctx.save_for_backward(x)
        return x @ x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, gradient):
        (x,) = ctx.saved_tensors
        NOTED.append(told()[0])
        return (gradient @ x + x @ gradient).float()


class Exact(torch.autograd.Function):
    """A product in single precision."""

    @staticmethod
    @torch.amp.custom_fwd(device_type="cpu", cast_inputs=torch.float32)
    def forward(ctx, x):
        return x @ x

    @staticmethod
    @torch.amp.custom_bwd(device_type="cpu")
    def backward(ctx, gradient):
        assert not torch.is_autocast_enabled("cpu")
        return gradient


def test_the_backward_of_a_function_runs_as_its_forward_did():
    NOTED.clear()
    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        y = Product.apply(x)
    y.sum().backward()
    Product.apply(x).sum().backward()
    assert NOTED == [True, True, False, False] and y.dtype is torch.bfloat16


def test_a_function_may_want_its_inputs_in_one_type():
    x = torch.ones(2, 2, requires_grad=True)
    with torch.autocast("cpu"):
        y = Exact.apply(x.bfloat16())
    assert y.dtype is torch.float32
    assert Exact.apply(x.bfloat16()).dtype is torch.bfloat16
    y.sum().backward()
    assert x.grad.dtype is torch.float32


@pytest.mark.parametrize("use_reentrant", [False, True])
def test_a_checkpoint_is_computed_again_in_the_precision_that_was(use_reentrant):
    x, seen = torch.ones(2, 2, requires_grad=True), []

    def part(x):
        seen.append(told()[:2])
        return (x @ x).float().exp()

    with torch.autocast("cpu", dtype=torch.float16):
        y = torch.utils.checkpoint.checkpoint(part, x, use_reentrant=use_reentrant)
    y.sum().backward()
    assert seen == [(True, torch.float16)] * 2 and told() == OFF
    seen.clear()
    y = torch.utils.checkpoint.checkpoint(part, x, use_reentrant=use_reentrant)
    with torch.autocast("cpu"):
        y.sum().backward()
    assert seen == [(False, torch.bfloat16)] * 2


def test_what_there_is_not_is_told():
    with pytest.warns(UserWarning, match="In CPU autocast, but the target dtype is not supported. Disabling"):
        assert not torch.autocast("cpu", dtype=torch.float32)._enabled
    with pytest.warns(
        UserWarning, match="CUDA is not available or torch_xla is imported. Disabling autocast."
    ):
        torch.autocast("cuda")
    with raises(ValueError, "Expected `device_type` of type `str`, got: `<class 'int'>`"):
        torch.autocast(3)
    with raises(RuntimeError, "Expected one of cpu, cuda"):
        torch.autocast("nowhere")
    with raises(RuntimeError, "unsupported scalarType"):
        torch.autocast("meta")
    with raises(ValueError, "Expected `device_type` of type `str`, got: `<class 'int'>`"):
        torch.amp.custom_fwd(lambda: 1, device_type=1)
    assert torch.amp.is_autocast_available("cpu") and not torch.is_autocast_enabled()


def test_the_block_knows_what_it_was_made_with():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        block = torch.autocast("cpu", enabled=False)
    assert (block.device, block.fast_dtype, block._enabled) == ("cpu", torch.bfloat16, False)

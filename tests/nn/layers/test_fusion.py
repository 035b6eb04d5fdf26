"""Layers that take over what a norm after them does, and weights of convolutions in another order."""

import warnings

import pytest
import rushlight as torch
from rushlight import nn
from rushlight.nn import utils


def seen(norm, shape):
    """A norm that has seen numbers, and whose own are not those that it began with."""
    norm(torch.randn(shape) * 3 + 1)
    nn.init.uniform_(norm.weight)
    nn.init.uniform_(norm.bias)
    return norm.eval()


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("kind", "transpose"), [(nn.Conv2d, False), (nn.ConvTranspose2d, True)], ids=["conv", "transposed"]
)
def test_a_convolution_takes_over_its_norm(kind, transpose, bias):
    conv = kind(2, 3, 2, bias=bias).eval()
    norm = seen(nn.BatchNorm2d(3), (4, 3, 2, 2))
    fused = utils.fuse_conv_bn_eval(conv, norm, transpose=transpose)
    x = torch.randn(2, 2, 5, 5)
    torch.testing.assert_close(fused(x), norm(conv(x)), atol=1e-4, rtol=1e-4)
    assert fused is not conv
    assert fused.weight.requires_grad
    assert fused.bias.requires_grad is bias


def test_a_norm_without_numbers_of_its_own_scales_by_its_statistics():
    weight, bias = utils.fuse_conv_bn_weights(
        torch.ones(2, 1, 1), None, torch.ones(2), torch.full((2,), 3.0), 1.0, None, None
    )
    assert weight.flatten().tolist() == [0.5, 0.5]
    assert bias.tolist() == [-0.5, -0.5]


def test_a_linear_layer_takes_over_its_norm():
    linear = nn.Linear(4, 3).eval()
    norm = seen(nn.BatchNorm1d(3), (5, 3))
    x = torch.randn(2, 4)
    torch.testing.assert_close(
        utils.fuse_linear_bn_eval(linear, norm)(x), norm(linear(x)), atol=1e-4, rtol=1e-4
    )


def test_types_stay_those_of_the_layer():
    fused = utils.fuse_linear_bn_eval(nn.Linear(2, 2).half().eval(), nn.BatchNorm1d(2).eval())
    assert fused.weight.dtype == fused.bias.dtype == torch.float16


@pytest.mark.parametrize("fuse", [utils.fuse_conv_bn_eval, utils.fuse_linear_bn_eval])
def test_what_is_still_learning_is_not_fused(fuse):
    with pytest.raises(AssertionError, match=r"^Fusion only for eval!$"):
        fuse(nn.Linear(1, 1), nn.BatchNorm1d(1).eval())


def test_features_have_to_fit():
    with pytest.raises(AssertionError, match=r"got linear.out_features=3 and bn.num_features=2$"):
        utils.fuse_linear_bn_eval(nn.Linear(2, 3).eval(), nn.BatchNorm1d(2).eval())


def test_a_norm_without_statistics_is_not_fused():
    norm = nn.BatchNorm1d(2, track_running_stats=False).eval()
    with pytest.raises(AssertionError, match=r"bn.running_mean and bn.running_var must not be None"):
        utils.fuse_linear_bn_eval(nn.Linear(2, 2).eval(), norm)


def test_weights_of_convolutions_lie_otherwise():
    module = nn.Sequential(
        nn.Conv2d(2, 2, 2), nn.ConvTranspose2d(2, 3, 1), nn.Conv3d(2, 2, 2), nn.Linear(2, 2)
    )
    parameter = module[0].weight
    assert utils.convert_conv2d_weight_memory_format(module, torch.channels_last) is module
    assert module[0].weight is parameter
    assert module[0].weight.stride() == (8, 1, 4, 2)
    assert module[1].weight.stride() == (3, 1, 3, 3)
    assert module[2].weight.is_contiguous()
    utils.convert_conv3d_weight_memory_format(module, torch.channels_last_3d)
    assert module[2].weight.stride() == (16, 1, 8, 4, 2)


def test_only_an_empty_generator_is_told_that_nothing_is_clipped():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        utils.clip_grad_norm_(iter([]), 1.0)
    with pytest.warns(UserWarning, match="^`parameters` is an empty generator, no gradient clipping"):
        utils.clip_grad_norm_((p for p in ()), 1.0)


def test_the_old_name_of_clipping_is_deprecated():
    with pytest.warns(
        FutureWarning, match=r"^`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `"
    ):
        utils.clip_grad_norm([], 1.0)

"""How gradients of images lie in memory: with the channels last where the images have them so."""

import contextlib

import pytest
import rushlight as torch

F = torch.nn.functional
LAST = {4: torch.channels_last, 5: torch.channels_last_3d}


def elements(*shape):
    count = torch.Size(shape).numel()
    return (torch.arange(count, dtype=torch.float64) * 0.37).sin().reshape(shape)


KERNELS = elements(2, 3, 2, 2)
IMAGES = {
    "conv2d": lambda x: F.conv2d(x, KERNELS, padding=1),
    "conv_transpose2d": lambda x: F.conv_transpose2d(x, KERNELS.transpose(0, 1)),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive_avg_pool2d": lambda x: F.adaptive_avg_pool2d(x, 2),
    "adaptive_max_pool2d": lambda x: F.adaptive_max_pool2d(x, 2),
    "resized by areas": lambda x: F.interpolate(x, scale_factor=0.5, mode="area"),
    "padded with itself": lambda x: F.pad(x, (1, 1, 1, 1), mode="reflect"),
}
OTHERS = {
    "batch_norm": lambda x: F.batch_norm(x, None, None, training=True),
    "bilinear": lambda x: F.interpolate(x, scale_factor=2.0, mode="bilinear"),
}
VOLUMES = {
    "max_pool3d": lambda x: F.max_pool3d(x, 2),
    "trilinear": lambda x: F.interpolate(x, scale_factor=2.0, mode="trilinear"),
    "nearest": lambda x: F.interpolate(x, scale_factor=2.0),
}


def gradient(operation, x, layout_of_gradient=torch.contiguous_format):
    x = x.detach().requires_grad_()
    y = operation(x)
    weights = elements(*y.shape).contiguous(memory_format=layout_of_gradient)
    return torch.autograd.grad(y, x, weights)[0]


@pytest.mark.parametrize("operation", IMAGES.values(), ids=IMAGES)
def test_channels_that_come_last_do_so_in_the_gradient(operation):
    x = elements(2, 3, 4, 6)
    plain = gradient(operation, x)
    last = gradient(operation, x.contiguous(memory_format=torch.channels_last))
    assert last.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(last, plain)


@pytest.mark.parametrize("name", ["conv2d", "max_pool2d", "avg_pool2d", "padded with itself"])
def test_a_gradient_with_the_channels_last_does_not_lay_out_that_of_plain_images(name):
    assert gradient(IMAGES[name], elements(2, 3, 4, 6), torch.channels_last).is_contiguous()


def test_weights_have_their_gradients_laid_out_as_the_images():
    x = elements(2, 3, 4, 6).contiguous(memory_format=torch.channels_last)
    weight = KERNELS.clone().requires_grad_()
    (found,) = torch.autograd.grad(F.conv2d(x, weight).sum(), weight)
    assert found.stride() == (12, 1, 6, 3)


@pytest.mark.parametrize("operation", VOLUMES.values(), ids=VOLUMES)
def test_volumes_with_the_channels_last_stay_so(operation):
    x = elements(2, 3, 4, 4, 4)
    found = operation(x.contiguous(memory_format=torch.channels_last_3d))
    assert found.is_contiguous(memory_format=torch.channels_last_3d)
    torch.testing.assert_close(found, operation(x))


def test_a_leaky_unit_lays_its_gradient_out_as_its_input():
    assert gradient(F.leaky_relu, elements(3, 4).t()).stride() == (1, 4)


@pytest.mark.parametrize("shuffle", [F.pixel_shuffle, F.channel_shuffle])
def test_shuffled_images_keep_their_channels_last(shuffle):
    x = elements(2, 8, 3, 4)
    last = shuffle(x.contiguous(memory_format=torch.channels_last), 2)
    assert last.is_contiguous(memory_format=torch.channels_last)
    torch.testing.assert_close(last, shuffle(x, 2))


def test_the_gradient_of_a_sum_of_shuffled_images_repeats_nothing():
    x = elements(2, 8, 3, 4).requires_grad_()
    (found,) = torch.autograd.grad(F.pixel_shuffle(x, 2).sum(), x)
    assert found.is_contiguous()


def test_dimensions_come_back_behind_all_others_with_the_strides_of_new_ones():
    x = elements(3, 1, 4, 1).requires_grad_()
    (found,) = torch.autograd.grad(x.squeeze(), x, elements(4, 3).t())
    assert found.stride() == (1, 12, 3, 1)


def test_normalised_images_have_gradients_in_order():
    x = elements(3, 2, 4).requires_grad_()
    turned = elements(4, 2, 3).permute(2, 1, 0)
    for y in (F.batch_norm(x, None, None, training=True), F.layer_norm(x, (2, 4))):
        (found,) = torch.autograd.grad(y, x, turned)
        assert found.is_contiguous()


def test_the_greater_of_two_lays_gradients_out_as_the_first():
    x = elements(4, 3).t().requires_grad_()
    y = elements(3, 4).requires_grad_()
    found = torch.autograd.grad(torch.maximum(x, y), (x, y), elements(3, 4))
    assert [one.stride() for one in found] == [(1, 3), (1, 3)]


@contextlib.contextmanager
def unusual(situation):
    """Something that has operations looked at more closely, for as long as the block lasts."""
    if situation == "a level of forward mode":
        with torch.autograd.forward_ad.dual_level():
            yield
    elif situation == "saved tensors that are packed":
        with torch.autograd.graph.saved_tensors_hooks(lambda x: x, lambda x: x):
            yield
    else:
        yield


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize(
    "situation", ["recorded", "a level of forward mode", "saved tensors that are packed"]
)
@pytest.mark.parametrize("name", [*IMAGES, *OTHERS])
def test_gradients_lie_alike_whatever_else_goes_on(name, situation, last):
    operation = OTHERS.get(name) or IMAGES[name]
    x = elements(2, 3, 4, 6).contiguous(memory_format=LAST[4] if last else torch.contiguous_format)
    x.requires_grad_()
    y = operation(x)
    weights = elements(*y.shape).contiguous(memory_format=torch.contiguous_format if last else LAST[4])
    (plain,) = torch.autograd.grad(y, x, weights)
    with unusual(situation):
        (found,) = torch.autograd.grad(operation(x), x, weights, create_graph=situation == "recorded")
    assert found.stride() == plain.stride()
    torch.testing.assert_close(found, plain)

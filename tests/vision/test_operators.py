"""Operators of torchvision that are computed here. Numbers were recorded with torchvision's compiled ones."""

import pytest
import rushlight as torch

pytestmark = pytest.mark.own

vision = torch.ops.torchvision


def test_boxes_that_a_better_one_overlaps_go():
    boxes = torch.tensor([[0, 0, 10, 10], [1, 1, 11, 11], [20, 20, 30, 30], [0, 0, 10, 9], [5, 5, 5, 5.0]])
    scores = torch.tensor([0.8, 0.9, 0.1, 0.7, 0.95])
    assert vision.nms(boxes, scores, 0.5).tolist() == [4, 1, 2]
    assert vision.nms(boxes, scores, 0.7).tolist() == [4, 1, 0, 2]
    assert vision.nms(boxes[:0], scores[:0], 0.5).tolist() == []


def test_equal_scores_keep_their_order():
    boxes = torch.tensor([[0.0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 3, 3]])
    assert vision.nms(boxes, torch.ones(3), 0.5).tolist() == [0, 2]


def test_wrong_boxes_are_refused():
    with pytest.raises(RuntimeError, match="boxes should be a 2d tensor, got 1D"):
        vision.nms(torch.ones(4), torch.ones(1), 0.5)
    with pytest.raises(RuntimeError, match="boxes should have 4 elements in dimension 1, got 3"):
        vision.nms(torch.ones(1, 3), torch.ones(1), 0.5)
    with pytest.raises(RuntimeError, match="same number of elements in dimension 0, got 2 and 1"):
        vision.nms(torch.ones(2, 4), torch.ones(1), 0.5)


def plain(image, start, size, bins, samples):
    """The mean of samples of one region, one after another."""
    height, width = image.shape

    def at(y, x):
        if y < -1 or y > height or x < -1 or x > width:
            return 0.0
        y, x = max(y, 0.0), max(x, 0.0)
        low, left = min(int(y), height - 1), min(int(x), width - 1)
        down, right = min(low + 1, height - 1), min(left + 1, width - 1)
        v, u = (y - low if low < height - 1 else 0.0), (x - left if left < width - 1 else 0.0)
        top = image[low, left] * (1 - u) + image[low, right] * u
        return top * (1 - v) + (image[down, left] * (1 - u) + image[down, right] * u) * v

    step = [one / count for one, count in zip(size, bins, strict=True)]
    return [
        [
            sum(
                float(
                    at(
                        start[0] + (row + (i + 0.5) / samples[0]) * step[0],
                        start[1] + (column + (j + 0.5) / samples[1]) * step[1],
                    )
                )
                for i in range(samples[0])
                for j in range(samples[1])
            )
            / (samples[0] * samples[1])
            for column in range(bins[1])
        ]
        for row in range(bins[0])
    ]


@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("ratio", [2, -1])
def test_regions_are_sampled_between_points(aligned, ratio):
    image = torch.randn(2, 1, 6, 7)
    region = torch.tensor([[1.0, -3.0, 1.0, 9.0, 12.0], [0.0, 2.0, 2.0, 4.0, 14.0]])
    found = vision.roi_align(image, region, 0.5, 2, 3, ratio, aligned)
    for row, (which, left, top, right, bottom) in enumerate(region.tolist()):
        shift = 0.5 if aligned else 0.0
        start = top * 0.5 - shift, left * 0.5 - shift
        size = [(bottom - top) * 0.5, (right - left) * 0.5]
        size = size if aligned else [max(one, 1.0) for one in size]
        samples = [ratio, ratio] if ratio > 0 else [-(-size[0] // 2), -(-size[1] // 3)]
        expected = plain(image[int(which), 0], start, size, (2, 3), [int(one) for one in samples])
        assert torch.allclose(found[row, 0], torch.tensor(expected), atol=1e-5)


def test_gradients_of_regions_pass_to_the_image():
    image = torch.randn(1, 2, 4, 5, dtype=torch.float64, requires_grad=True)
    region = torch.tensor([[0.0, 0.3, 0.7, 3.0, 3.5]], dtype=torch.float64)
    assert torch.autograd.gradcheck(lambda x: vision.roi_align(x, region, 1.0, 2, 2, 2, True), image)


def test_no_regions_give_nothing():
    assert vision.roi_align(torch.ones(1, 2, 4, 4), torch.ones(0, 5), 1.0, 2, 3, 2, True).shape == (
        0,
        2,
        2,
        3,
    )


def test_others_refuse():
    with pytest.raises(NotImplementedError, match="torchvision::qnms is compiled for torch"):
        vision.qnms(torch.ones(1, 4), torch.ones(1), 0.5)


def test_libraries_of_operators_are_loaded_or_refused():
    torch.ops.load_library("/somewhere/torchvision/_C.so")
    torch.ops.load_library("/somewhere/torchvision/_C_stable.so")
    with pytest.raises(OSError, match="Could not load this library: "):
        torch.ops.load_library("/somewhere/else/_C.so")


def test_what_results_look_like_can_be_said():
    library = torch.library.Library("torchvision", "IMPL", "Meta")
    library.impl(vision.roi_align.default, lambda *arguments: None)
    assert (
        vision.roi_align(torch.ones(1, 1, 4, 4), torch.tensor([[0.0, 0, 0, 2, 2]]), 1.0, 1, 1, 2, True).item()
        == 1.0
    )


def regions():
    x = torch.arange(2 * 8 * 5 * 6, dtype=torch.float64).view(2, 8, 5, 6).sin().requires_grad_()
    return x, torch.tensor(
        [[0, 0.3, 1.2, 5.5, 4.1], [1, 2, 2, 2, 2], [1, -1, 0, 8, 4.4]], dtype=torch.float64
    )


def test_the_greatest_of_bins_and_where_they_are():
    x, rois = regions()
    found, where = vision.roi_pool(x, rois, 0.8, 2, 2)
    assert found.shape == where.shape == (3, 8, 2, 2) and where.dtype == torch.int32
    assert torch.equal(found[0, 0, 0, 0], x[0, 0, 1:3, 0:3].max())
    assert (
        where[0, 0, 0, 0] == 6 + x[0, 0, 1, 0:3].argmax()
        or x[0, 0].flatten()[where[0, 0, 0, 0]] == found[0, 0, 0, 0]
    )
    (gradient,) = torch.autograd.grad(found.sum(), x)
    again = vision._roi_pool_backward(torch.ones_like(found), rois, where, 0.8, 2, 2, 2, 8, 5, 6)
    assert torch.equal(gradient, again)


@pytest.mark.parametrize("name, more", [("ps_roi_align", (2,)), ("ps_roi_pool", ())])
def test_each_bin_of_its_own_channel(name, more):
    x, rois = regions()
    found, channels = getattr(vision, name)(x, rois, 0.8, 2, 2, *more)
    assert found.shape == (3, 2, 2, 2)
    assert channels[0].tolist() == [[[0, 1], [2, 3]], [[4, 5], [6, 7]]]
    scale = torch.zeros(1, 8, 1, 1, dtype=torch.float64)
    scale[0, 6] = 1
    only, _ = getattr(vision, name)(x * scale, rois, 0.8, 2, 2, *more)
    assert torch.equal(only[:, 1, 1, 0], found[:, 1, 1, 0]) and int((only != 0).sum()) <= 3
    (gradient,) = torch.autograd.grad(found.cos().sum(), x)
    back = getattr(vision, f"_{name}_backward")
    again = back(-found.detach().sin(), rois, channels, 0.8, 2, 2, *more, 2, 8, 5, 6)
    torch.testing.assert_close(gradient, again)


def test_shifted_points_of_a_convolution():
    x, _ = regions()
    weight = torch.arange(4 * 4 * 3 * 2, dtype=torch.float64).view(4, 4, 3, 2).cos()
    none = torch.zeros(2, 2 * 2 * 6, 3, 4, dtype=torch.float64)
    bias = torch.arange(4, dtype=torch.float64)
    rest = (2, 2, 1, 1, 1, 1, 2, 2, False)
    plain = torch.nn.functional.conv2d(x, weight, bias, stride=2, padding=1, groups=2)
    found = vision.deform_conv2d(x, weight, none, none, bias, *rest)
    torch.testing.assert_close(found, plain)
    offset = (torch.arange(none.numel(), dtype=torch.float64).view_as(none) * 0.7).sin() + 0.3
    mask = torch.full((2, 12, 3, 4), 0.5, dtype=torch.float64)
    arguments = [tensor.detach().requires_grad_() for tensor in (x, weight, offset, mask, bias)]
    found = vision.deform_conv2d(*arguments, *rest[:-1], True)
    gradients = torch.autograd.grad(found.sum(), arguments)
    again = vision._deform_conv2d_backward(torch.ones_like(found), *arguments, *rest[:-1], True)
    for one, other in zip(gradients, again, strict=True):
        torch.testing.assert_close(one, other)
    assert torch.autograd.gradcheck(
        lambda *given: vision.deform_conv2d(*given, *rest[:-1], True), arguments, fast_mode=True
    )

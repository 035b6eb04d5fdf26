"""How results lie in memory: from the strides of what they were made of, down to dimensions of size one."""

import pytest
import rushlight as torch

F = torch.nn.functional

# name: (shape, strides) of operands whose strides say more than their order does.
ODD = {
    "a row cut from a matrix": ((1, 2), (4, 1)),
    "a row with equal strides": ((1, 3), (1, 1)),
    "a column": ((3, 1), (1, 3)),
    "a size of one in the middle": ((2, 1, 3), (3, 1, 1)),
    "turned without gaps": ((3, 1, 2), (1, 50, 3)),
    "an image of one row": ((1, 3, 1, 2), (6, 1, 1, 3)),
    "repeated": ((2, 1, 3), (0, 3, 1)),
    "gaps": ((3, 2), (1, 9)),
}


def laid_out(shape, strides):
    return (torch.arange(200.0) * 0.37 % 1.7 + 0.2).as_strided(shape, strides)


def of_one(operation):
    """The strides of the results of each of the operands above."""
    return [operation(laid_out(*form)).stride() for form in ODD.values()]


# Of one operand: what is row-major loses odd strides, what has no gaps keeps them.
ALONE = [(2, 1), (3, 1), (1, 1), (3, 3, 1), (1, 50, 3), (6, 1, 6, 3), (3, 3, 1), (1, 3)]
# Beside a number: all dimensions are sorted by their strides, then by their sizes.
BESIDE = [(2, 1), (1, 1), (1, 3), (3, 1, 1), (1, 6, 3), (6, 1, 1, 3), (3, 3, 1), (1, 3)]
# A copy: what has no gaps keeps its strides, whatever they are.
COPIED = [(4, 1), (1, 1), (1, 3), (3, 1, 1), (1, 50, 3), (6, 1, 1, 3), (3, 3, 1), (1, 3)]
IN_ORDER = [(2, 1), (3, 1), (1, 1), (3, 3, 1), (2, 2, 1), (6, 2, 2, 1), (3, 3, 1), (2, 1)]


@pytest.mark.parametrize(
    "operation",
    [
        torch.relu,
        torch.exp,
        torch.neg,
        torch.isnan,
        torch.logical_not,
        F.gelu,
        lambda x: x**2,
        lambda x: x**3.5,
        lambda x: x.clamp(0, 1),
        lambda x: x.clamp(0),
        lambda x: x + x,
        lambda x: x == x,
        lambda x: x.addcmul(x, x),
        lambda x: x.lerp(x, 0.5),
        lambda x: x.clamp(x, x),
        lambda x: torch.complex(x, x),
    ],
)
def test_results_of_operands_that_lie_alike_follow_them_where_they_have_an_order(operation):
    assert of_one(operation) == ALONE


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x + 1,
        lambda x: 1 - x,
        lambda x: x * 2,
        lambda x: x > 1,
        lambda x: x % 2,
        lambda x: x.int() + 1,
        lambda x: x + torch.tensor(1.0),
        lambda x: torch.where(x > 1, x, 0.0),
    ],
)
def test_beside_a_number_dimensions_are_sorted_by_their_strides(operation):
    assert of_one(operation) == BESIDE


@pytest.mark.parametrize(
    "operation",
    [
        torch.clone,
        torch.Tensor.double,
        torch.Tensor.bool,
        torch.Tensor.half,
        lambda x: x.half().float(),
        torch.zeros_like,
        torch.empty_like,
        torch.rand_like,
        torch.nan_to_num,
        torch.deg2rad,
        F.hardtanh,
        lambda x: x.flip(0),
        lambda x: x.sort(-1)[0],
        lambda x: x.sort(0)[1],
        lambda x: x.index_fill(0, torch.tensor([0]), 1.0),
        lambda x: x.index_put((torch.tensor([0]),), torch.tensor(1.0)),
        lambda x: F.pad(x, (0, 0)),
        lambda x: F.huber_loss(x, x, reduction="none"),
    ],
)
def test_copies_keep_the_strides_of_what_has_no_gaps(operation):
    assert of_one(operation) == COPIED


@pytest.mark.parametrize(
    "operation",
    [
        lambda x: x.clone(memory_format=torch.contiguous_format),
        lambda x: torch.zeros_like(x, memory_format=torch.contiguous_format),
        lambda x: 2**x,
        F.logsigmoid,
        lambda x: x.masked_fill(x > 1, 0.0),
        lambda x: torch.bernoulli(x.clamp(0, 1)),
        lambda x: torch.normal(x, 1.0),
        lambda x: x.cumsum(0),
        lambda x: x.softmax(-1),
        lambda x: x.gather(0, torch.zeros(x.shape, dtype=torch.int64)),
        lambda x: x.index_add(0, torch.tensor([0]), x[:1]),
        lambda x: x.scatter(0, torch.zeros(x.shape, dtype=torch.int64), 1.0),
        torch.detach_copy,
        torch.tril,
    ],
)
def test_some_results_lie_in_order_whatever_the_operand_does(operation):
    assert of_one(operation) == IN_ORDER


def test_of_operands_that_lie_otherwise_the_first_that_tells_two_dimensions_apart_decides():
    a, b = laid_out((2, 1, 3), (1, 2, 2)), laid_out((2, 1, 3), (3, 3, 1))
    assert (a + b).stride() == (1, 2, 2)
    assert (b + a).stride() == (3, 6, 1)
    assert torch.rsub(a, b).stride() == (b - a).stride()
    assert torch.where(b > 0, a, a).stride() == (3, 6, 1)


@pytest.mark.parametrize("dtype", [torch.float32, torch.int64, torch.bool])
@pytest.mark.parametrize("compare", [torch.gt, torch.ge, torch.lt, torch.le, torch.eq, torch.ne])
def test_in_comparisons_too_the_first_operand_decides(compare, dtype):
    rows, columns = torch.arange(6).view(2, 3).to(dtype), torch.arange(6).flip(0).view(3, 2).to(dtype).t()
    assert compare(rows, columns).stride() == (3, 1)
    assert compare(columns, rows).stride() == (1, 2)
    assert compare(columns, rows).tolist() == compare(columns.contiguous(), rows).tolist()


def test_an_operand_that_is_broadcast_says_nothing_of_the_dimensions_that_it_repeats():
    column, row = laid_out((3, 1), (1, 3)), laid_out((2,), (1,))
    assert (column + row).stride() == (2, 1)
    assert (laid_out((3, 2), (1, 3)) + row).stride() == (1, 3)
    assert (row + laid_out((1, 3, 2), (1, 1, 3))).stride() == (1, 1, 3)


def test_without_elements_sizes_of_zero_count_in_the_strides_of_sorted_dimensions_only():
    x = torch.empty(2, 3, 0).transpose(1, 2)
    assert x.stride() == (3, 1, 1)
    assert x.relu().stride() == (3, 3, 1)
    assert (x + 1).stride() == (0, 1, 0)
    assert torch.ones(2, 4)[:, 4:].clone().stride() == (4, 1)


def test_channels_come_last_if_dimensions_of_size_one_do_not_speak_against_it():
    x = laid_out((2, 1, 4, 5), (20, 7, 5, 1))
    assert x.is_contiguous(memory_format=torch.channels_last)
    assert x.contiguous(memory_format=torch.channels_last) is x
    assert x.clone(memory_format=torch.channels_last).stride() == (20, 1, 5, 1)
    assert torch.zeros_like(x, memory_format=torch.channels_last).stride() == (20, 1, 5, 1)
    with pytest.raises(RuntimeError, match="required rank 4 tensor"):
        torch.zeros_like(torch.ones(2, 3), memory_format=torch.channels_last)


IMAGES = {
    "cat": (lambda x: torch.cat([x, x]), (60, 1, 15, 3)),
    "cat of channels": (lambda x: torch.cat([x, x], 1), (120, 1, 30, 6)),
    "stack": (lambda x: torch.stack([x, x], 1), (120, 3, 1, 30, 6)),
    "pad": (lambda x: F.pad(x, (1, 1)), (84, 1, 21, 3)),
    "reflect": (lambda x: F.pad(x, (1, 1, 1, 1), "reflect"), (126, 1, 21, 3)),
    "convolution": (lambda x: F.conv2d(x, torch.ones(2, 3, 3, 3), torch.ones(2)), (12, 1, 6, 2)),
    "max_pool": (lambda x: F.max_pool2d(x, 2), (12, 1, 6, 3)),
    "avg_pool": (lambda x: F.avg_pool2d(x, 2), (12, 1, 6, 3)),
    "interpolate": (lambda x: F.interpolate(x, scale_factor=2), (240, 1, 30, 3)),
    "batch_norm": (lambda x: F.batch_norm(x, None, None, training=True), (60, 1, 15, 3)),
    "group_norm": (lambda x: F.group_norm(x, 1), (60, 1, 15, 3)),
    "layer_norm": (lambda x: F.layer_norm(x, (5,)), (60, 20, 5, 1)),
    "double precision": (lambda x: F.conv2d(x.double(), torch.ones(2, 3, 3, 3).double()), (12, 1, 6, 2)),
}


@pytest.mark.parametrize(("operation", "strides"), IMAGES.values(), ids=IMAGES)
def test_images_with_their_channels_last_stay_so(operation, strides):
    x = torch.ones(2, 3, 4, 5).contiguous(memory_format=torch.channels_last)
    assert operation(x).stride() == strides


def test_what_indices_name_lies_as_the_indices_and_the_other_dimensions_do():
    x = torch.ones(2, 3, 4).transpose(1, 2)
    assert x[torch.zeros(2, dtype=torch.int64)].stride() == (12, 1, 4)
    assert torch.ones(2, 3)[torch.zeros(3, 2, dtype=torch.int64).t()].stride() == (3, 6, 1)
    assert torch.ones(2, 3, 4)[torch.zeros(2, dtype=torch.int64)].stride() == (12, 4, 1)


def test_fourier_transforms_have_the_dimensions_last_that_they_transform():
    x = torch.ones(2, 3, 4)
    assert torch.fft.fft(x).stride() == (12, 4, 1)
    assert torch.fft.fft(x, dim=0).stride() == (1, 8, 2)
    assert torch.fft.rfft(x.transpose(0, 1).contiguous().transpose(0, 1)).stride() == (3, 6, 1)
    assert torch.fft.irfft(x, dim=0).stride() == (1, 8, 2)
    assert torch.fft.fftn(torch.ones(3, 2).t()).stride() == (1, 2)

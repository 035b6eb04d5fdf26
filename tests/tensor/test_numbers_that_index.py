"""Whatever Python indexes with is a size: integers of numpy, tensors of one element, objects with `__index__`."""

import numpy
import pytest
import rushlight as torch

F = torch.nn.functional


class Three:
    def __index__(self):
        return 3


@pytest.mark.parametrize(
    "size", [3, numpy.int64(3), numpy.array(3), Three()], ids=lambda size: type(size).__name__
)
def test_a_size_makes_room(size):
    assert torch.Tensor(size).shape == (3,)
    assert torch.Tensor(2, size).shape == (2, 3)
    assert torch.Tensor(torch.tensor(2), size).shape == (2, 3)


def test_what_is_no_size_is_no_size():
    for other in (True, numpy.float32(3), numpy.bool_(True), 3.5):
        with pytest.raises(TypeError, match=r"new\(\): data must be a sequence \(got "):
            torch.Tensor(other)
    message = (
        r"new\(\): argument 'size' failed to unpack the object at pos 3 with error "
        '"type must be tuple of ints,but got str"'
    )
    with pytest.raises(TypeError, match=message):
        torch.Tensor(2, 3, "a")


@pytest.mark.parametrize("n", [torch.tensor(3), torch.tensor([3]), torch.tensor([[3]], dtype=torch.int32)])
def test_an_integer_in_a_tensor_is_one_in_a_list(n):
    image = torch.ones(1, 1, 4, 4)
    shapes = [
        (torch.zeros([n, n]), (3, 3)),
        (torch.zeros(n, n), (3, 3)),
        (torch.randn(n), (3,)),
        (torch.full((n,), 1.0), (3,)),
        (torch.ones(9).view(n, n), (3, 3)),
        (torch.ones(9).reshape([n, n]), (3, 3)),
        (image.expand(n, 1, 4, 4), (3, 1, 4, 4)),
        (image.repeat(n, 1, 1, 1), (3, 1, 4, 4)),
        (image.permute(n, 0, 1, 2), (4, 1, 1, 4)),
        (image.sum(dim=(n,)), (1, 1, 4)),
        (image.flip((n,)), (1, 1, 4, 4)),
        (torch.roll(image, n, n), (1, 1, 4, 4)),
        (torch.ones(6).split([n, n])[0], (3,)),
        (F.interpolate(image, size=[n, n]), (1, 1, 3, 3)),
        (F.adaptive_avg_pool2d(image, (n, n)), (1, 1, 3, 3)),
        (F.avg_pool2d(image, n), (1, 1, 1, 1)),
        (F.max_pool2d(image, (n, n)), (1, 1, 1, 1)),
        (F.pad(image, [n, n]), (1, 1, 4, 10)),
        (F.unfold(image, (n, n)), (1, 9, 4)),
        (F.conv2d(image, torch.ones(1, 1, 1, 1), stride=(n, n)), (1, 1, 2, 2)),
        (torch.randint(0, 5, (n,)), (3,)),
    ]
    assert [tensor.shape for tensor, _ in shapes] == [expected for _, expected in shapes]


@pytest.mark.parametrize("n", [torch.tensor(2), torch.tensor([2], dtype=torch.uint8), torch.tensor([[2]])])
def test_an_integer_in_a_tensor_is_one_where_sizes_may_be_unknown(n):
    x, channels = torch.arange(12.0).reshape(3, 4), torch.ones(1, 4, 2, 2)
    pairs = [
        (torch.eye(n), torch.eye(2)),
        (torch.eye(3, m=n), torch.eye(3, 2)),
        (x.topk(n).values, x.topk(2).values),
        (torch.kthvalue(x, k=n).values, x.kthvalue(2).values),
        (x.tril(n), x.tril(2)),
        (torch.triu(x, diagonal=n), x.triu(2)),
        (x.narrow(1, 1, n), x.narrow(1, 1, 2)),
        (torch.select(x, 1, n), x[:, 2]),
        (torch.cat(x.split(n)), x),
        (torch.cat(torch.split(x, n)), x),
        (torch.bincount(torch.tensor([0]), minlength=n), torch.tensor([1, 0])),
        (torch.as_strided(x, (1,), (1,), n), torch.tensor([2.0])),
        (torch.select_scatter(x, x[:, 0], 1, n)[:, 2], x[:, 0]),
        (F.embedding(torch.tensor([1]), x, padding_idx=n), x[1:2]),
        (torch.channel_shuffle(channels, n), channels),
        (F.conv2d(channels, torch.ones(4, 2, 1, 1), groups=n), 2 * channels),
    ]
    assert all(torch.equal(found, expected) for found, expected in pairs)
    assert torch.randperm(n).shape == torch.randint(n, (2,)).shape == torch.multinomial(x[0], n).shape == (2,)


def test_a_dimension_is_no_tensor_of_one():
    one = torch.tensor([1])
    with pytest.raises(TypeError, match=r"argument 'dim' \(position 2\) must be int, not Tensor"):
        torch.select(torch.ones(2, 2), one, 0)
    with pytest.raises(
        TypeError, match=r"diag\(\): argument 'diagonal' \(position 2\) must be int, not Tensor"
    ):
        torch.diag(torch.ones(2), one)
    with pytest.raises(TypeError, match=r"eye\(\): argument 'n' \(position 1\) must be int, not Tensor"):
        torch.eye(torch.tensor([2.0]))


def test_other_tensors_in_a_list_are_refused():
    message = (
        r"zeros\(\): argument 'size' failed to unpack the object at pos 2 with error "
        '"type must be tuple of ints,but got Tensor"'
    )
    for other in (torch.tensor(3.0), torch.tensor([3, 4])):
        with pytest.raises(TypeError, match=message):
            torch.zeros([2, other])
        with pytest.raises(
            TypeError, match="must be tuple of ints, but found element of type Tensor at pos 0"
        ):
            torch.zeros([other, 2])


def test_a_tensor_of_many_is_no_number_in_a_list():
    with pytest.raises(ValueError, match="only one element tensors can be converted to Python scalars"):
        torch.tensor([torch.ones(2)])


def test_membership_compares_the_element_first():
    assert 1.0 in torch.ones(2)
    assert torch.ones(2) in torch.ones(3, 2)
    with pytest.raises(RuntimeError, match=r"size of tensor a \(3\) must match the size of tensor b \(2\)"):
        torch.ones(3) in torch.ones(2)  # noqa: B015

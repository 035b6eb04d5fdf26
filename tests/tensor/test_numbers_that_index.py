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

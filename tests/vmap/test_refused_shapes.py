"""What does not fit the shape of a sample is told with the samples in front, as one operation on all of them."""

import pytest
import rushlight as torch
from rushlight.func import grad, jvp, vmap
from support import raises

REFUSED = {
    "view": (lambda x: x.view(5), RuntimeError, "shape '[4, 5]' is invalid for input of size 24"),
    "view with a size left open": (
        lambda x: x.view(-1, 4),
        RuntimeError,
        "shape '[4, -1, 4]' is invalid for input of size 24",
    ),
    "view with a negative size": (
        lambda x: x.view(-2, 3),
        RuntimeError,
        "invalid shape dimension -2 at index 1 of shape [4, -2, 3]",
    ),
    "flatten": (
        lambda x: x.flatten(0, 1).view(4),
        RuntimeError,
        "shape '[4, 4]' is invalid for input of size 24",
    ),
    "expand": (
        lambda x: x.expand(7, 5, 3),
        RuntimeError,
        "The expanded size of the tensor (5) must match the existing size (2) at non-singleton dimension 2.  "
        "Target sizes: [4, 7, 5, 3].  Tensor sizes: [4, 1, 2, 3]",
    ),
    "expand to fewer dimensions": (
        lambda x: x.expand(3),
        RuntimeError,
        "expand: the number of sizes provided (1) must be greater or equal to the number of dimensions in the "
        "tensor (2)",
    ),
    "select": (
        lambda x: x.select(0, 7),
        IndexError,
        "select(): index 7 out of range for tensor of size [4, 2, 3] at dimension 1",
    ),
    "permute": (
        lambda x: x.permute(0),
        RuntimeError,
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
        "ordering of dimensions i.e. input.dim() = 3 is not equal to len(dims) = 2",
    ),
    "permute of dimensions that there are not": (
        lambda x: x.permute(0, 1, 2),
        IndexError,
        "Dimension out of range (expected to be in range of [-2, 1], but got 2)",
    ),
    "unfold": (
        lambda x: x.unfold(0, 3, 1),
        RuntimeError,
        "maximum size for tensor at dimension 1 is 2 but size is 3",
    ),
    "split": (
        lambda x: x.split([1, 1], 1)[0],
        RuntimeError,
        "split_with_sizes expects split_sizes to sum exactly to 3 (input tensor's size at dimension 2), but got "
        "split_sizes=[1, 1]",
    ),
    "cat": (
        lambda x: torch.cat([x, torch.ones(2, 4)]),
        RuntimeError,
        "Sizes of tensors must match except in dimension 1. Expected size 3 but got size 4 for tensor number 1",
    ),
    "cat of other ranks": (
        lambda x: torch.cat([x, x[0]]),
        RuntimeError,
        "Tensors must have same number of dimensions: got 3 and 2",
    ),
    "stack": (
        lambda x: torch.stack([x, x.t()]),
        RuntimeError,
        "stack expects each tensor to be equal size, but got [4, 2, 3] at entry 0 and [4, 3, 2] at entry 1",
    ),
    "gather": (
        lambda x: x.gather(0, torch.zeros(2, 4, dtype=torch.int64)),
        RuntimeError,
        "Size does not match at dimension 2 expected index [4, 2, 4] to be no larger than self [4, 2, 3] apart "
        "from dimension 1",
    ),
    "in place": (
        lambda x: x[0].clone().add_(x),
        RuntimeError,
        "output with shape [4, 1, 3] doesn't match the broadcast shape [4, 2, 3]",
    ),
    "layer_norm": (
        lambda x: torch.nn.functional.layer_norm(x, (4,)),
        RuntimeError,
        "Given normalized_shape=[4], expected input with shape [*, 4], but got input of size[4, 2, 3]",
    ),
}


@pytest.mark.parametrize(("function", "kind", "text"), REFUSED.values(), ids=REFUSED.keys())
@pytest.mark.parametrize("dim", [0, 1])
def test_sizes_are_told_with_the_samples_in_front(function, kind, text, dim):
    samples = torch.randn(4, 2, 3).movedim(0, dim).contiguous()
    with raises(kind, text):
        vmap(function, in_dims=dim)(samples)


def test_mappings_within_mappings_tell_all_their_samples():
    samples = torch.randn(5, 4, 2, 3)
    with raises(RuntimeError, "shape '[4, 5, 7]' is invalid for input of size 120"):
        vmap(vmap(lambda x: x.view(7)), in_dims=1)(samples)
    with raises(IndexError, "select(): index 2 out of range for tensor of size [5, 4, 2, 3] at dimension 2"):
        vmap(vmap(lambda x: x.select(0, 2)))(samples)


def test_what_all_samples_share_is_told_as_it_is():
    with raises(RuntimeError, "shape '[5]' is invalid for input of size 6"):
        vmap(lambda x: torch.ones(2, 3).view(5) + x)(torch.ones(4))


def test_derivatives_within_a_mapping_tell_the_same():
    samples, text = torch.randn(4, 2, 3), "shape '[4, 5]' is invalid for input of size 24"
    with raises(RuntimeError, text):
        vmap(grad(lambda x: x.view(5).sum()))(samples)
    with raises(RuntimeError, text):
        vmap(lambda x: jvp(lambda x: x.view(5), (x,), (x,)))(samples)


STRIDED = [
    ((2, 3), (1,), None, "size and stride must have the same length! Got size [2, 3] and stride [1]"),
    (
        (11,),
        (1,),
        None,
        "in range [0, 11], but `tensor` can only access some memory in range [0, 10]. This is",
    ),
    (
        (2,),
        (1,),
        9,
        "in range [9, 11], but `tensor` can only access some memory in range [0, 10]. This is not",
    ),
    (
        (2,),
        (1,),
        -1,
        "in range [-1, 1], but `tensor` can only access some memory in range [0, 10]. This is not",
    ),
    (
        (2,),
        (1,),
        30,
        "in range [30, 32], but `tensor` can only access some memory in range [0, 10]. This is not",
    ),
    (
        (2,),
        (20,),
        None,
        "in range [0, 21], but `tensor` can only access some memory in range [0, 10]. This is",
    ),
    (
        (2,),
        (-1,),
        None,
        "as_strided: Negative strides are not supported at the moment, got strides: [10, -1]",
    ),
]


@pytest.mark.parametrize(("size", "stride", "offset", "text"), STRIDED)
def test_a_window_shows_nothing_of_other_samples(size, stride, offset, text):
    with pytest.raises(RuntimeError) as caught:
        vmap(lambda x: x.as_strided(size, stride, offset))(torch.arange(30.0).view(3, 10))
    assert text in str(caught.value)


def test_a_window_on_a_part_of_a_sample_stays_within_the_part():
    samples = torch.arange(30.0).view(3, 10)
    found = vmap(lambda x: x[2:].as_strided((3,), (2,)))(samples)
    assert torch.equal(found, samples[:, 2:8:2])
    with raises(
        RuntimeError, "result = tensor.as_strided([3], [1], 0) can access memory outside of `tensor`."
    ):
        vmap(lambda x: x[2:].as_strided((3,), (1,), 0))(samples)


def test_the_data_of_a_tensor_that_a_derivative_follows_is_that_of_each_sample():
    samples = torch.arange(6.0).view(3, 2)
    found = vmap(lambda x: jvp(lambda x: (x.data**2).sum(), (x,), (x,))[0])(samples)
    assert torch.equal(found, (samples**2).sum(1))

"""`set_`: a tensor that shows other memory from then on."""

import numpy as np
import pytest
import rushlight as torch
from support import raises


def test_the_tensor_shows_what_the_other_shows():
    x, source = torch.ones(2), torch.arange(6.0)[2:4]
    assert x.set_(source) is x
    assert (x.tolist(), x.storage_offset(), x._is_view()) == ([2.0, 3.0], 2, False)
    x.mul_(2)
    assert source.tolist() == [4.0, 6.0]


def test_each_counts_its_own_writes():
    x, source = torch.ones(2), torch.zeros(2)
    x.set_(source)
    assert (x._version, source._version) == (1, 0)
    x.mul_(2)
    assert (x._version, source._version) == (2, 0)


def test_the_strides_are_those_of_the_other():
    assert torch.empty(0).set_(torch.ones(2, 3).t()).stride() == (1, 3)
    assert torch.empty(0).set_(torch.arange(6.0), 1, (2,), (2,)).tolist() == [1.0, 3.0]
    assert torch.ones(1).set_(torch.arange(6.0), 1, (2, 2)).tolist() == [[1.0, 2.0], [3.0, 4.0]]


def test_without_another_there_is_nothing_left():
    assert torch.ones(2).set_().shape == (0,)


def test_a_view_leaves_its_base():
    base = torch.ones(4)
    view = base[:2]
    view.set_(torch.zeros(2)).add_(5)
    assert (view.tolist(), base.tolist(), view._is_view()) == ([5.0, 5.0], [1.0] * 4, True)


def test_backward_notices_that_what_it_kept_is_gone():
    x = torch.ones(2, requires_grad=True)
    y = x * x
    with torch.no_grad():
        x.set_(torch.zeros(2))
    text = (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        "[torch.FloatTensor [2]] is at version 1; expected version 0 instead."
    )
    with raises(RuntimeError, text):
        y.sum().backward()


@pytest.mark.own
def test_the_last_write_is_told_after_the_memory_was_replaced():
    x = torch.ones(2, requires_grad=True) * 1
    y = x * x
    x.add_(1)  # the write
    x.data = torch.zeros(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation") as caught:
        y.sum().backward()
    assert "# the write" in str(caught.value) + "".join(getattr(caught.value, "__notes__", []))


@pytest.mark.parametrize("swapped", [False, True])
def test_there_is_no_derivative(swapped):
    x = torch.ones(2, requires_grad=True) * 1
    y = torch.zeros(3).set_(x) if swapped else x.set_(torch.zeros(3))
    assert repr(y).endswith("grad_fn=<NotImplemented>)")
    with raises(RuntimeError, "derivative for set_ is not implemented"):
        y.sum().backward()


@pytest.mark.parametrize(
    ("dtype", "name"), [("int64", "long int"), ("float64", "double"), ("complex64", "c10::complex<float>")]
)
def test_the_element_type_stays(dtype, name):
    with raises(RuntimeError, f"Could not set tensor of type {name} to a tensor of type float"):
        torch.ones(2).set_(torch.ones(2, dtype=getattr(torch, dtype)))


def test_leaves_and_inference_tensors_cannot_be_set():
    with raises(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."):
        torch.ones(2, requires_grad=True).set_(torch.ones(2))
    with torch.inference_mode():
        frozen = torch.ones(2)
    with raises(RuntimeError, "Inplace update to inference tensor outside InferenceMode is not allowed."):
        frozen.set_(torch.ones(2))


@pytest.mark.parametrize("write", ["mul_", "sub_", "copy_"])
def test_overlapping_memory_is_told_of_before_shapes_that_do_not_fit(write):
    x = torch.ones(6)
    with raises(RuntimeError, "unsupported operation: some elements of the input tensor and the written-to"):
        getattr(x[:4], write)(x[1:].view(5))


@pytest.mark.parametrize("stride", [(1,), (3,)])
def test_memory_grows_to_hold_the_window_that_a_tensor_is_set_to(stride):
    source = torch.tensor([5.0, 6.0])
    x = torch.ones(2).set_(source.untyped_storage(), 1, (4,), stride)
    needed = 4 * (2 + 3 * stride[0])
    assert (tuple(x.shape), x.stride(), x.storage_offset()) == ((4,), stride, 1)
    assert source.untyped_storage().nbytes() == needed and x.data_ptr() == source.data_ptr() + 4
    assert x[0] == 6 and source.tolist() == [5, 6]


def test_memory_that_somebody_else_has_lent_does_not_grow():
    lent = torch.from_numpy(np.ones(2, "float32"))
    with raises(RuntimeError, "Trying to resize storage that is not resizable"):
        torch.ones(2).set_(lent, 1, (4,), (3,))

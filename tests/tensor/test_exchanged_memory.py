"""Tensors whose memory other libraries see, and the other way round."""

from __future__ import annotations

import numpy as np
import pytest
import rushlight as torch


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64", "bfloat16"])
def test_a_tensor_is_taken_as_it_is(dtype):
    x = torch.ones(2, 3, dtype=getattr(torch, dtype)).T
    y = torch.from_dlpack(x)
    assert (y.dtype, y.stride(), y.data_ptr()) == (x.dtype, x.stride(), x.data_ptr())
    y[0] = 0
    assert x.sum() == 4


def test_numpy_takes_a_tensor():
    x = torch.zeros(3)
    np.from_dlpack(x)  # Older versions of it make what they took read-only.
    assert tuple(map(int, x.__dlpack_device__())) == (1, 0)
    taken = torch.from_dlpack(x.__dlpack__())
    taken[1] = 5
    assert x.tolist() == [0, 5, 0]


def test_a_copy_is_made_if_wanted():
    x = torch.zeros(3)
    assert torch.from_dlpack(x, copy=True).data_ptr() != x.data_ptr()
    assert torch.from_dlpack(x, copy=False, device="cpu").data_ptr() == x.data_ptr()
    assert torch.from_dlpack(x.__dlpack__(copy=True)).data_ptr() != x.data_ptr()


def test_what_others_could_not_understand_is_refused():
    with pytest.raises(
        BufferError, match=r"^Can't export tensors that require gradient, use tensor.detach()"
    ):
        torch.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(
        BufferError, match=r"^Can't export tensors that require gradient, use tensor.detach()"
    ):
        np.from_dlpack(torch.ones(2, requires_grad=True))
    with pytest.raises(BufferError, match=r"^Can't export tensors with the conjugate bit set$"):
        torch.ones(2, dtype=torch.complex64).conj().__dlpack__()
    with pytest.raises(AssertionError, match=r"^stream should be None on cpu.$"):
        torch.ones(2).__dlpack__(stream=1)


def test_a_capsule_is_taken_once():
    capsule = torch.to_dlpack(torch.ones(2))
    torch.from_dlpack(capsule)
    for invalid in (capsule, 3):
        with pytest.raises(
            RuntimeError, match=r"^from_dlpack received an invalid capsule. Note that DLTensor"
        ):
            torch.from_dlpack(invalid)

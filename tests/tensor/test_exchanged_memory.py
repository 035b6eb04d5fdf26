"""Tensors whose memory other libraries see, and the other way round."""

from __future__ import annotations

import ctypes

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


class Asked:
    """An array of another library, which knows some of what it may be asked for."""

    def __init__(self, tensor, *known):
        self.tensor, self.known, self.asked = tensor, known, None

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **asked):
        if set(asked) - set(self.known):
            raise TypeError("an argument that is not known")
        self.asked = sorted(asked)
        return self.tensor.__dlpack__()


def test_others_are_asked_for_what_they_know():
    x = torch.arange(3)
    for known, copy, asked in (
        ((), True, []),
        (("copy",), True, ["copy"]),
        (("max_version",), None, ["max_version"]),
        (("copy", "max_version"), False, ["copy", "max_version"]),
    ):
        other = Asked(x, *known)
        found = torch.from_dlpack(other, copy=copy)
        assert other.asked == asked and found.tolist() == [0, 1, 2]
        # Who knows of copies makes them.
        assert (found.data_ptr() == x.data_ptr()) == (not copy or "copy" in known)
    other = Asked(x, "copy", "dl_device", "max_version")
    torch.from_dlpack(other, device="cpu", copy=True)
    assert other.asked == ["copy", "dl_device", "max_version"]


def test_numpy_gets_memory_that_it_may_write_to():
    x = torch.zeros(3)
    array = np.from_dlpack(x)
    assert not hasattr(np, "__array_namespace_info__") or array.flags.writeable
    with pytest.raises(AssertionError, match=r"^device and copy kwargs not supported when ext_tensor is"):
        torch.from_dlpack(x.__dlpack__(), copy=True)


@pytest.mark.parametrize("name", ["uint8", "uint16", "uint32", "uint64", "int8", "int64", "float16", "bool"])
def test_types_go_both_ways(name):
    array = np.array([0, 1, 1], dtype=name)
    x = torch.from_dlpack(array)
    assert x.dtype == getattr(torch, name) and x.data_ptr() == array.ctypes.data
    assert np.from_dlpack(x).dtype == array.dtype


class Described(ctypes.Structure):
    """The record of a capsule, as the standard has it, of a tensor of one dimension."""

    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device", ctypes.c_int32 * 2),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("offset", ctypes.c_uint64),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
    )


def described(shape=(2,), strides=(1,), **changed):
    memory = (ctypes.c_float * 4)(1, 2, 3, 4)
    numbers = [(ctypes.c_int64 * len(row))(*row) for row in (shape, strides)]
    record = Described(ctypes.addressof(memory), (1, 0), len(shape), 2, 32, 1, *numbers, 0, None, None)
    for name, value in changed.items():
        setattr(record, name, value)
    make = ctypes.pythonapi.PyCapsule_New
    make.restype, make.argtypes = ctypes.py_object, (ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
    return make(ctypes.addressof(record), b"dltensor", None), (record, memory, numbers)


@pytest.mark.own  # such capsules end the process there
@pytest.mark.parametrize(
    "changed",
    [
        {"shape": (-1,)},
        {"strides": (-1,)},
        {"shape": (1 << 62, 1 << 62), "strides": (1, 1)},
        {"shape": (2,), "strides": (1 << 62,)},
        {"ndim": -1},
        {"ndim": 1 << 30},
        {"data": None},
        {"lanes": 4},
        {"code": 77},
        {"bits": 7},
        {"device": (2, 0)},
        {"offset": 1},
    ],
    ids=repr,
)
def test_capsules_that_cannot_be_true_are_refused(changed):
    capsule, alive = described(**changed)
    with pytest.raises((BufferError, RuntimeError)):
        torch.from_dlpack(capsule)
    del alive


@pytest.mark.own  # as above
def test_a_capsule_that_somebody_made_by_hand_is_read():
    capsule, alive = described(offset=4)
    assert torch.from_dlpack(capsule).tolist() == [2.0, 3.0]
    empty, also_alive = described(shape=(0,), data=None)
    assert torch.from_dlpack(empty).tolist() == []
    del alive, also_alive


def test_asarray_shares_what_is_lent():
    data = bytearray(8)
    x = torch.asarray(data, dtype=torch.int32)
    x[0] = 1
    assert x.shape == (2,) and data[0] == 1
    assert torch.asarray(memoryview(data), dtype=torch.int16).tolist() == [1, 0, 0, 0]
    assert torch.asarray(data).dtype == torch.float32
    assert torch.asarray(data, dtype=torch.int64, copy=True).data_ptr() != x.data_ptr()
    y = torch.zeros(2)
    assert torch.asarray(y.__dlpack__()).data_ptr() == y.data_ptr()
    assert torch.asarray([1, 2]).tolist() == [1, 2]


def test_buffers_hold_numbers_of_every_type():
    for dtype in (torch.float8_e5m2, torch.complex32, torch.uint64, torch.bfloat16):
        assert torch.frombuffer(bytearray(16), dtype=dtype).numel() == 16 // dtype.itemsize

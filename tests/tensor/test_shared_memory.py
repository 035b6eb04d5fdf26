"""Tensors on the memory of other objects, and memory that processes share."""

import array
import os
import warnings

import pytest
import rushlight as torch
from support import raises


def test_a_tensor_lies_on_the_memory_of_a_buffer():
    data = bytearray(range(8))
    x = torch.frombuffer(data, dtype=torch.int16)
    assert x.tolist() == [0x0100, 0x0302, 0x0504, 0x0706]
    x[0] = 7
    assert data[0] == 7 and data[1] == 0
    assert torch.frombuffer(array.array("d", [1.5, 2.5]), dtype=torch.float64).tolist() == [1.5, 2.5]
    assert torch.frombuffer(data, dtype=torch.uint8, count=2, offset=3).tolist() == [3, 4]
    assert torch.frombuffer(bytearray(b"\0\x3f"), dtype=torch.bfloat16).tolist() == [0.5]
    assert torch.frombuffer(data, dtype=torch.complex64).shape == (1,)
    assert torch.frombuffer(bytearray(4), dtype=torch.float32, requires_grad=True).requires_grad


@pytest.mark.parametrize(
    "size, options, text",
    [
        (5, {}, "buffer length (5 bytes) after offset (0 bytes) must be a multiple of element size (4)"),
        (
            8,
            {"offset": 6},
            "buffer length (2 bytes) after offset (6 bytes) must be a multiple of element size (4)",
        ),
        (0, {}, "both buffer length (0) and count (-1) must not be 0"),
        (4, {"count": 0}, "both buffer length (4) and count (0) must not be 0"),
        (
            4,
            {"offset": 4},
            "offset (4 bytes) must be non-negative and no greater than buffer length (4 bytes) minus 1",
        ),
        (
            4,
            {"offset": -1},
            "offset (-1 bytes) must be non-negative and no greater than buffer length (4 bytes) minus 1",
        ),
        (
            8,
            {"count": 2, "offset": 4},
            "requested buffer length (2 * 4 bytes) after offset (4 bytes) must not be greater than actual buffer length (8 bytes)",
        ),
    ],
)
def test_a_tensor_has_to_fit_the_buffer(size, options, text):
    with raises(ValueError, text):
        torch.frombuffer(bytearray(size), dtype=torch.int32, **options)


def test_only_buffers_have_memory():
    for wrong in (3, [1]):
        with raises(ValueError, "object does not implement Python buffer protocol."):
            torch.frombuffer(wrong, dtype=torch.uint8)
    with raises(RuntimeError, "could not retrieve buffer from object"):
        torch.frombuffer(memoryview(bytearray(8))[::2], dtype=torch.uint8)
    with raises(TypeError, "frombuffer(): argument 'dtype' must be torch.dtype, not str"):
        torch.frombuffer(bytearray(4), dtype="x")
    with raises(RuntimeError, "Only Tensors of floating point and complex dtype can require gradients"):
        torch.frombuffer(bytearray(4), dtype=torch.uint8, requires_grad=True)


def test_memory_that_cannot_be_written_to_is_shown_all_the_same():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert torch.frombuffer(b"abc", dtype=torch.uint8).tolist() == [97, 98, 99]


def test_shared_memory_holds_what_the_tensor_held():
    x = torch.arange(6.0).reshape(2, 3).t()
    assert not x.is_shared()
    assert x.share_memory_() is x and x.is_shared() and x.share_memory_() is x
    assert x.tolist() == [[0, 3], [1, 4], [2, 5]] and x.stride() == (1, 3)
    assert x[1:].is_shared() and x.untyped_storage().is_shared() and not x.clone().is_shared()
    assert torch.zeros(0).share_memory_().tolist() == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no processes that share")
def test_a_forked_process_writes_to_shared_memory():
    x, own = torch.zeros(3).share_memory_(), torch.zeros(3)
    child = os.fork()
    if not child:
        x[1] = 5.0
        own[1] = 5.0
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert x.tolist() == [0.0, 5.0, 0.0] and own.tolist() == [0.0, 0.0, 0.0]

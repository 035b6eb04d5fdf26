"""The memory of a tensor as an object: who shares it, and what is in it."""

import gc
from copy import copy

import numpy as np
import pytest
import rushlight as torch
from support import raises


def test_tensors_that_share_memory_have_one_storage():
    x = torch.arange(6.0).view(2, 3)
    storage = x.untyped_storage()
    assert storage is x[1].untyped_storage() and storage is x.detach().untyped_storage()
    assert storage.data_ptr() == x.data_ptr() == x[1].untyped_storage().data_ptr()
    assert storage._cdata == x[1].untyped_storage()._cdata
    assert x.clone().untyped_storage().data_ptr() != storage.data_ptr()


def test_a_storage_is_bytes():
    x = torch.tensor([1.0, 2.0])
    storage = x.untyped_storage()
    assert storage.nbytes() == storage.size() == len(storage) == 8
    assert storage.element_size() == 1 and storage.tolist() == [0, 0, 128, 63, 0, 0, 0, 64]
    assert storage[3] == 63 and not storage.is_cuda and storage.device == torch.device("cpu")
    copy = storage.clone()
    storage.fill_(0)
    assert x.tolist() == [0.0, 0.0] and copy[3] == 63
    lines = repr(torch.zeros(1, dtype=torch.uint8).untyped_storage()).splitlines()
    assert lines == [" 0", "[torch.storage.UntypedStorage(device=cpu) of size 1]"]


def test_a_storage_keeps_its_memory():
    storage = torch.full((3,), 7, dtype=torch.uint8).untyped_storage()
    gc.collect()
    assert storage.tolist() == [7, 7, 7]


def test_an_empty_tensor_has_an_empty_storage():
    storage = torch.empty(0).untyped_storage()
    assert storage.nbytes() == 0 and storage.data_ptr() == 0


def test_a_typed_storage_is_elements_and_deprecated():
    x = torch.arange(6.0).view(2, 3)
    with pytest.warns(UserWarning, match="TypedStorage is deprecated"):
        storage = x[1].storage()
    assert storage.tolist() == [0.0, 1.0, 2.0, 3.0, 4.0, 5.0] and len(storage) == 6
    assert storage.dtype is torch.float32 and storage.data_ptr() == x.data_ptr()
    assert x._typed_storage()._cdata == x.untyped_storage()._cdata


def test_a_storage_is_no_tensor():
    x = torch.ones(2)
    assert torch.is_storage(x.untyped_storage()) and torch.is_storage(x._typed_storage())
    assert not torch.is_storage(x) and isinstance(x.untyped_storage(), torch.UntypedStorage)


def test_memory_that_numpy_owns_is_not_made_larger():
    lent = torch.from_numpy(np.zeros((2, 3), dtype=np.float32))
    with pytest.raises(RuntimeError, match=r"^Trying to resize storage that is not resizable$"):
        lent.resize_(7)
    assert lent.resize_(3, 2).shape == (3, 2)
    nothing = torch.from_numpy(np.zeros(0, dtype=np.float32))
    with pytest.raises(RuntimeError, match=r"^Trying to resize storage that is not resizable$"):
        nothing.resize_(1)
    parts = [torch.ones(2, 3), torch.ones(4, 3)]
    with (
        pytest.warns(UserWarning, match="An output with one or more elements was resized"),
        pytest.raises(RuntimeError, match=r"^Trying to resize storage that is not resizable$"),
    ):
        torch.cat(parts, out=lent)
    with pytest.warns(UserWarning, match="An output with one or more elements was resized"):
        assert torch.cat(parts, out=torch.zeros(2, 3)).shape == (6, 3)


@pytest.mark.parametrize(
    ("arguments", "shown"),
    [
        ((), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]),
        ((1, (2,), (2,)), [1.0, 3.0]),
        ((1, (2, 2)), [[1.0, 2.0], [3.0, 4.0]]),
    ],
)
def test_a_tensor_can_be_set_to_show_memory(arguments, shown):
    source, x = torch.arange(6.0), torch.ones(2)
    x.set_(source.untyped_storage(), *arguments)
    assert x.tolist() == shown and x._version == 1
    x.zero_()
    assert source.sum() < 15 and x.untyped_storage() is source.untyped_storage()


def test_bytes_are_shown_in_the_type_of_the_tensor():
    memory = torch.arange(7, dtype=torch.uint8).untyped_storage()
    assert torch.ones(2, dtype=torch.int16).set_(memory).shape == (3,)
    assert torch.ones(2, dtype=torch.int16).set_(source=memory, storage_offset=1, size=(2,)).tolist() == [
        770,
        1284,
    ]
    assert torch.ones(2).set_(torch.arange(4.0)._typed_storage(), 1, (2,)).tolist() == [1.0, 2.0]


def test_what_a_tensor_cannot_be_set_to_is_told():
    memory = torch.arange(6.0).untyped_storage()
    with raises(
        TypeError,
        "set_() received an invalid combination of arguments - got (int), but expected one of:\n * ()",
    ):
        torch.ones(2).set_(5)
    with raises(RuntimeError, "Tensor: invalid storage offset -1"):
        torch.ones(2).set_(memory, -1, (2,))
    with raises(RuntimeError, ""):
        torch.ones(2).set_(torch.arange(6)._typed_storage())
    with raises(RuntimeError, "a leaf Variable that requires grad is being used in an in-place operation."):
        torch.ones(2, requires_grad=True).set_(memory)


def test_a_storage_is_made_of_bytes_and_cut():
    storage = torch.UntypedStorage([1, 2, 300])
    assert storage.tolist() == [1, 2, 44] and storage[-1] == 44
    part = storage[1:]
    part[0] = 9
    assert storage.tolist() == [1, 9, 44] and storage.resizable() and not part.resizable()
    assert storage.untyped() is storage and storage.to(device="cpu") is storage and len(storage.new()) == 0
    assert not storage.is_pinned() and not storage.is_sparse and storage.float().tolist() == [1.0, 9.0, 44.0]
    assert torch.zeros(0, dtype=torch.uint8).set_(storage).untyped_storage() is storage


def test_bytes_are_copied_and_turned_around():
    storage = torch.UntypedStorage(4)
    assert storage.copy_(torch.tensor([1, 2], dtype=torch.int16).untyped_storage()) is storage
    assert storage.tolist() == [1, 0, 2, 0]
    storage.byteswap(torch.int16)
    assert storage.tolist() == [0, 1, 0, 2]
    assert torch.UntypedStorage.from_buffer(b"abcd", "big", dtype=torch.int32).tolist() == [100, 99, 98, 97]
    assert torch.UntypedStorage.from_buffer(b"abcd", "little", 1, 2, torch.int16).tolist() == [99, 100]


def test_a_storage_has_as_many_bytes_as_are_asked_for():
    storage = torch.UntypedStorage([1, 2, 3])
    storage.resize_(5)
    assert storage.size() == 5 and storage.tolist()[:3] == [1, 2, 3]
    storage.resize_(2)
    assert storage.tolist() == [1, 2] and torch.zeros(0, dtype=torch.uint8).set_(storage).shape == (2,)
    x = torch.ones(4)
    memory = x.untyped_storage()
    memory.resize_(0)
    assert memory.nbytes() == memory.data_ptr() == x.untyped_storage().size() == 0 and x.shape == (4,)
    memory.resize_(16)
    memory.copy_(torch.full((4,), 2.0).untyped_storage())
    assert x.tolist() == [2.0] * 4


WRONG = {
    "a part with steps": (lambda s: s[::2], RuntimeError, "Trying to slice with a step of 2"),
    "beyond the end": (lambda s: s[5], IndexError, "index 5 out of range for storage of size 3"),
    "a name": (lambda s: s["a"], TypeError, "can't index a torch.UntypedStorage with str"),
    "no storage": (
        lambda s: s.copy_([1]),
        TypeError,
        "copy_(): argument 'src' (position 1) must be torch.Stor",
    ),
    "another size": (
        lambda s: s.copy_(s[:1]),
        RuntimeError,
        "size does not match, self was 3 bytes but src was 1",
    ),
    "no whole element": (
        lambda s: s.byteswap(torch.int16),
        RuntimeError,
        "the length of data is not a multiple",
    ),
    "no size": (lambda s: s.resize_("a"), RuntimeError, "resize_ expects an int, but got str"),
    "less than none": (lambda s: s.resize_(-1), RuntimeError, "[enforce fail at alloc_cpu.cpp:98]"),
    "a part's size": (
        lambda s: s[1:].resize_(1),
        RuntimeError,
        "Trying to resize storage that is not resizable",
    ),
    "no numbers": (
        lambda s: type(s)([1.5]),
        RuntimeError,
        "torch.UntypedStorage(): tried to construct a storage",
    ),
    "no order": (
        lambda s: s.from_buffer(b"ab", "no", dtype=torch.int16),
        ValueError,
        "invalid byte_order 'no'",
    ),
}


@pytest.mark.parametrize(("call", "kind", "text"), WRONG.values(), ids=WRONG)
def test_what_a_storage_cannot_do_is_said(call, kind, text):
    with raises(kind, text):
        call(torch.UntypedStorage([1, 2, 3]))


def test_a_storage_may_lie_in_a_file(tmp_path):
    path = str(tmp_path / "bytes")
    shared = torch.UntypedStorage.from_file(path, True, 4)
    shared.fill_(7)
    private = torch.UntypedStorage.from_file(path, False, 4)
    private[0] = 1
    assert torch.UntypedStorage.from_file(path, False, 4).tolist() == [7] * 4 and private[0] == 1
    assert not shared.resizable()


def test_a_file_has_to_be_as_long_as_is_asked_for(tmp_path):
    path = str(tmp_path / "four")
    (tmp_path / "four").write_bytes(b"1234")
    for made in (torch.UntypedStorage.from_file, lambda *a: torch.from_file(*a, dtype=torch.uint8)):
        with raises(RuntimeError, f"file <{path}> size <4> is smaller than the required mapping size <40>"):
            made(path, False, 40)
        with raises(
            RuntimeError, "unable to open file </nowhere> in read-only mode: No such file or directory (2)"
        ):
            made("/nowhere", False, 4)
        with raises(RuntimeError, f"unable to mmap -1 bytes from file <{path}>: Cannot allocate memory (12)"):
            made(path, False, -1)
        assert made(path, False, 0).tolist() == []


def test_a_copy_of_a_storage_has_memory_of_its_own():
    for memory in (torch.tensor([1, 2]).untyped_storage(), torch.tensor([1.0, 2.0])._typed_storage()):
        before = memory.tolist()
        copied = copy(memory)
        copied[0] = 7
        assert type(copied) is type(memory) and memory.tolist() == before and copied[0] == 7

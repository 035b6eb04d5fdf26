"""Storages of elements that are made by hand, and the warning that they are deprecated."""

import re
import warnings

import pytest
import rushlight as torch
from rushlight import storage

pytestmark = pytest.mark.filterwarnings("ignore:TypedStorage is deprecated")


def test_they_are_made_of_a_size_a_sequence_or_bytes():
    memory = torch.UntypedStorage(8)
    assert torch.FloatStorage(3).size() == 3 and torch.TypedStorage().size() == 0
    assert torch.FloatStorage([1, 2]).tolist() == [1.0, 2.0]
    assert torch.TypedStorage([1.0, 2.0], dtype=torch.int32).tolist() == [1, 2]
    assert torch.IntStorage(wrap_storage=memory).size() == 2
    assert torch.FloatStorage(wrap_storage=memory).untyped() is memory
    assert (
        repr(torch.FloatStorage())
        == " \n[torch.storage.TypedStorage(dtype=torch.float32, device=cpu) of size 0]"
    )


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda memory: torch.FloatStorage(1, 2), "Too many positional arguments"),
        (
            lambda memory: torch.FloatStorage(3, dtype=torch.int32),
            "Keyword argument 'dtype' cannot be specified",
        ),
        (
            lambda memory: torch.TypedStorage(3, wrap_storage=memory, dtype=torch.int8),
            "No positional arguments",
        ),
        (lambda memory: torch.TypedStorage(wrap_storage=memory), "Argument 'dtype' must be specified"),
        (lambda memory: torch.FloatStorage(wrap_storage=3), "Argument 'wrap_storage' must be UntypedStorage"),
        (lambda memory: torch.FloatStorage(2.5), "Argument type not recognized: <class 'float'>"),
        (lambda memory: torch.TypedStorage(dtype=3), "expected torch.dtype, but got <class 'int'>"),
    ],
)
def test_what_they_cannot_be_made_of(make, text):
    with pytest.raises((RuntimeError, TypeError), match=re.escape(text)):
        make(torch.UntypedStorage(8))


@pytest.mark.filterwarnings("default")
def test_how_often_they_warn_can_be_said():
    storage._reset_warn_typed_storage_removal()
    storage._set_always_warn_typed_storage_removal(True)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            torch.FloatStorage(1)
            torch.FloatStorage(1)
        assert len(told) == 2 and "TypedStorage is deprecated" in str(told[0].message)
    finally:
        storage._set_always_warn_typed_storage_removal(False)
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        torch.FloatStorage(1)
    assert not told


def test_storages_lie_in_files(tmp_path):
    path = str(tmp_path / "elements")
    storage = torch.FloatStorage.from_file(path, True, 4)
    storage.fill_(2)
    assert storage.size() == 4
    assert (tmp_path / "elements").stat().st_size == 16
    own = torch.FloatStorage.from_file(path, False, 3)
    own.fill_(3)
    assert torch.FloatStorage.from_file(path, True, 4).tolist() == [2.0] * 4


def test_sizes_of_storages_are_whole_numbers_of_any_kind():
    numpy = pytest.importorskip("numpy")
    assert torch.FloatStorage(numpy.int8(3)).size() == 3
    with pytest.raises(TypeError, match="Argument type not recognized"):
        torch.FloatStorage(torch.tensor(3))


@pytest.mark.parametrize("answer", ["a", None, 1j])
def test_what_a_function_makes_of_elements_is_a_number(answer):
    kind = type(answer).__name__
    with pytest.raises(TypeError, match=f"^must be real number, not {kind}$"):
        torch.ones(1).apply_(lambda x: answer)
    with pytest.raises(TypeError, match=f"^'{kind}' object cannot be interpreted as an integer$"):
        torch.ones(1, dtype=torch.int64).apply_(lambda x: answer)


def test_numbers_that_a_function_makes_become_elements():
    assert torch.ones(1, dtype=torch.int64).apply_(lambda x: 1.5).item() == 1
    assert torch.ones(1, dtype=torch.complex64).apply_(lambda x: 1j).item() == 1j
    assert torch.ones(1, dtype=torch.bool).apply_(lambda x: 1j).item() is True


def test_they_are_made_of_the_memory_of_an_object():
    assert torch.ByteStorage.from_buffer(bytearray([1, 2, 3])).tolist() == [1, 2, 3]
    assert torch.ShortStorage._from_buffer(bytes([0, 1, 0, 2]), "big").tolist() == [1, 2]
    assert torch.FloatStorage._dtype is torch.float32
    with pytest.raises(RuntimeError, match=r"function missing required argument 'byte_order' \(pos 2\)"):
        torch.FloatStorage.from_buffer(bytes(4))
    with pytest.raises(RuntimeError, match="from_buffer: 'dtype' can only be specified in UntypedStorage"):
        torch.ByteStorage.from_buffer(bytes(4), dtype=torch.int8)
    with pytest.raises(RuntimeError, match="from_buffer: 'device' can only be specified in UntypedStorage"):
        torch.ByteStorage.from_buffer(bytes(4), device="cpu")
